#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""kill.py TRAILCAM BUSY DIR ROUNDS [WORD]: SIGKILL of trailcam's processes at random moments, of commands with WORD only. The target must live, run, and
have its own code, and the kernel must not complain of probes that it could not take out."""
import ctypes
import glob
import os
import random
import signal
import struct
import subprocess
import sys
import time

trailcam, busy, folder, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
THREADS = 2
STEP = ['--source', 'step', '--max-stall', '60s']
# What ends in `--` starts the target, the others attach to it.
COMMANDS = [
    ['attach', '--source', 'none', '-t', 'rarely', '--when', 'arg0 == 3'],
    ['attach', '--source', 'none', '-t', 'rarely', '--multi-snapshot', '--freeze'],
    ['attach', '--source', 'none', '--attach-via', 'perf_uprobe', '-t', 'rarely', '--when', 'arg0 == 3'],
    ['attach', *STEP, '--step-from', 'rarely', '--when', 'arg0 == 3'],
    ['attach', *STEP],
    ['attach', *STEP, '--step-from', 'rarely', '-t', 'malloc', '--multi-snapshot'],
    ['attach', '--source', 'none', '--memtrace=4k'],
    ['memtrace', 'record'],
    ['run', '--source', 'step', '--'],
    ['run', '--source', 'translate', '--'],
    ['run', '--source', 'translate', '-t', 'rarely', '--when', 'arg0 == 3', '--'],
    ['run', '--source', 'step', '--follow-forks', '--step-from', 'rarely', '--'],
    ['run', '--source', 'none', '-t', 'rarely', '--when', 'arg0 == 3', '--'],
    ['memtrace', 'record', '--'],
]
# "all" are those that `killall trailcam` finds, "keeper" is who holds the probes.
# One is only asked to end, perhaps before it records.
VICTIMS = ['worker', 'front', 'both', 'tree', 'interrupted worker', 'keeper', 'all', 'interrupted all', 'terminated front']
PR_SET_CHILD_SUBREAPER = 36


def children(pid):
    try:
        return [int(word) for word in open(f'/proc/{pid}/task/{pid}/children').read().split()]
    except OSError:
        return []


def is_busy(pid):
    try:
        return os.readlink(f'/proc/{pid}/exe') == busy
    except OSError:
        return False


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def counters(path):
    return struct.unpack(f'{THREADS}Q', open(path, 'rb').read(8 * THREADS))


def is_counting(path):
    return os.path.exists(path) and os.path.getsize(path) >= 8 * THREADS and min(counters(path)) > 0


def until(condition, seconds=200):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def is_free(pid):
    for path in glob.glob(f'/proc/{pid}/task/*/status'):
        try:
            status = open(path).read()
        except OSError:
            continue
        if status.split('State:\t')[1][0] in 'tT' or 'TracerPid:\t0\n' not in status:
            return False
    return True


def changed_code(pid):
    """Where code differs from its file: (path, offset)."""
    changed = set()
    for line in open(f'/proc/{pid}/maps'):
        word = line.split()
        if len(word) < 6 or 'x' not in word[1] or not word[5].startswith('/') or word[5] == '/memfd:trailcam':
            continue
        begin, end = (int(x, 16) for x in word[0].split('-'))
        offset = int(word[2], 16)
        with open(f'/proc/{pid}/mem', 'rb') as memory, open(word[5], 'rb') as file:
            memory.seek(begin)
            file.seek(offset)
            code = file.read(end - begin)
            found = memory.read(end - begin)[:len(code)]
            if code != found:
                changed |= {(word[5], offset + i) for i in range(len(code)) if code[i] != found[i]}
    return changed


def text_is_own(pid):
    """But for the probes of others, which are in our own libraries as well."""
    try:
        return changed_code(pid) <= changed_code('self')
    except OSError:
        return False


def start_target(counts):
    target = subprocess.Popen([busy, counts, str(THREADS)])
    until(lambda: is_counting(counts))
    return target.pid


def adopted_target(why, passed_on):
    """What the command had started has become a child of ours. None: it had not begun to run, or has died of the signal that was passed on to it."""
    def ends(pid):
        """Or is the one that is sought."""
        try:
            status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return True
        if status[0] and os.WIFSIGNALED(status[1]) and os.WTERMSIG(status[1]) not in (signal.SIGKILL, passed_on):
            why.append(f'died of signal {os.WTERMSIG(status[1])}')
        return status[0] != 0 or is_busy(pid)

    for pid in children(os.getpid()):
        if not until(lambda pid=pid: ends(pid)):
            why.append(f'process {pid} stays')
    return next((pid for pid in children(os.getpid()) if is_busy(pid)), None)


def name_of(pid):
    try:
        return open(f'/proc/{pid}/comm').read().strip()
    except OSError:
        return None


def holds(pid):
    """Has set its probes, and closed all else."""
    try:
        return name_of(pid) == 'trailcam-probes' and not os.path.lexists(f'/proc/{pid}/fd/0')
    except OSError:
        return False


def victims_of(victim, ours):
    below = children(ours)
    everywhere = sorted([ours, *below, *(p for c in below for p in children(c)), *children(os.getpid())])
    if victim == 'keeper':
        return [pid for pid in everywhere if holds(pid)]
    if victim.endswith('all'):
        return [pid for pid in everywhere if name_of(pid) == 'trailcam']
    if victim == 'terminated front':
        return []
    return {'worker': below or [ours], 'interrupted worker': below or [ours], 'front': [ours], 'both': [ours] + below,
            'tree': [ours] + below + [p for c in below for p in children(c) if not is_busy(p)]}[victim]


def strike(victim, ours):
    victims = victims_of(victim, ours)
    if 'interrupted' in victim:
        for pid in victims_of('worker', ours):
            kill(pid, signal.SIGINT)
        time.sleep(random.uniform(0, 0.02))
        victims = victims_of(victim, ours)
    for pid in victims:
        kill(pid)
    if victim == 'keeper':
        for pid in victims_of('worker', ours):
            kill(pid, signal.SIGTERM)
    if victim == 'terminated front':
        kill(ours, signal.SIGTERM)


def complaints():
    """Of the kernel, since the last call: of the probes that it has failed to take out on behalf of our processes."""
    lines = []
    try:
        while True:
            lines.append(os.read(kernel_log, 8192).decode(errors='replace'))
    except BlockingIOError:
        return [line.split(';')[-1].strip() for line in lines if 'leaking uprobe' in line and ' trailcam' in line]
    except OSError:
        return []


def one(number, command, victim):
    why = []
    counts = f'{folder}/counts{number}'
    launches = command[-1] == '--'
    # A program that was started gets the signal, too.
    passed_on = {'interrupted worker': signal.SIGINT, 'interrupted all': signal.SIGINT, 'keeper': signal.SIGTERM, 'terminated front': signal.SIGTERM}.get(victim) if launches else None
    target = None if launches else start_target(counts)
    ours = subprocess.Popen([trailcam, *(word for word in command if word != '--'), '-o', f'{folder}/out.{"ctf" if command[0] == "memtrace" else "fxt"}'] +
                            (['--', busy, counts, str(THREADS)] if launches else ['-p', str(target)]),
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 0.8 if not launches else 2))
    too_late = ours.poll() is not None
    strike(victim, ours.pid)
    ours.wait()
    if launches:
        target = adopted_target(why, passed_on)
    if target:
        why += look_at(target, counts, passed_on)
    if os.path.exists(counts):
        os.unlink(counts)
    reap()
    why += complaints()
    return why, too_late


def reap():
    """Guards, whose parent we are."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def look_at(target, counts, passed_on):
    why = []
    if not until(lambda: is_free(target)):
        why.append('stopped or traced')
    until(lambda: is_counting(counts))
    before = counters(counts) if os.path.exists(counts) else ()
    pid, status = os.waitpid(target, os.WNOHANG)
    if pid:
        return why + ([] if passed_on and os.WTERMSIG(status) == passed_on else [f'died: {status}'])
    if not before or not until(lambda: all(a > b for a, b in zip(counters(counts), before))):
        why.append('does not run')
    elif not until(lambda: text_is_own(target)):
        why.append(f'probes left: {sorted(changed_code(target) - changed_code("self"))[:4]}')
    kill(target)
    os.waitpid(target, 0)
    return why


kernel_log = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
os.lseek(kernel_log, 0, os.SEEK_END)
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
chosen = [command for command in COMMANDS if len(sys.argv) < 6 or sys.argv[5] in ' '.join(command)]
failures = late = 0
for number in range(rounds):
    command, victim = chosen[number % len(chosen)], VICTIMS[(number + number // len(chosen)) % len(VICTIMS)]
    why, too_late = one(number, command, victim)
    late += too_late
    if why:
        failures += 1
        print(f'round {number}: {" ".join(command)}, {victim} killed: {", ".join(why)}', flush=True)
print(f'{failures} of {rounds} rounds did harm; in {late} the command had ended by itself')
sys.exit(failures > 0 or late > rounds / 2)
