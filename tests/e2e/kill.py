#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""kill.py TRAILCAM BUSY DIR ROUNDS: SIGKILL of trailcam's processes at random moments. The target must live, run, and have its own code."""
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
COMMANDS = [
    ['attach', '--source', 'none', '-t', 'rarely', '--when', 'arg0 == 3'],
    ['attach', '--source', 'none', '-t', 'rarely', '--multi-snapshot', '--freeze'],
    ['attach', '--source', 'step', '--step-from', 'rarely', '--when', 'arg0 == 3'],
    ['attach', '--source', 'none', '--memtrace=4k'],
    ['memtrace', 'record'],
]
VICTIMS = ['worker', 'front', 'both', 'tree']


def children(pid):
    try:
        return [int(word) for word in open(f'/proc/{pid}/task/{pid}/children').read().split()]
    except OSError:
        return []


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def counters(path):
    return struct.unpack(f'{THREADS}Q', open(path, 'rb').read(8 * THREADS))


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def is_free(pid):
    for path in glob.glob(f'/proc/{pid}/task/*/status'):
        status = open(path).read()
        if status.split('State:\t')[1][0] in 'tT' or 'TracerPid:\t0\n' not in status:
            return False
    return True


def text_is_own(pid, path):
    """Of the program itself: libraries may have probes of somebody else's."""
    for line in open(f'/proc/{pid}/maps'):
        word = line.split()
        if len(word) < 6 or 'x' not in word[1] or word[5] != path:
            continue
        begin, end = (int(x, 16) for x in word[0].split('-'))
        with open(f'/proc/{pid}/mem', 'rb') as memory, open(path, 'rb') as file:
            memory.seek(begin)
            file.seek(int(word[2], 16))
            code = file.read(end - begin)
            return memory.read(end - begin)[:len(code)] == code
    return False


def one(number, command, victim):
    counts = f'{folder}/counts{number}'
    target = subprocess.Popen([busy, counts, str(THREADS)])
    until(lambda: os.path.exists(counts) and os.path.getsize(counts) >= 8 * THREADS and min(counters(counts)) > 0)
    ours = subprocess.Popen([trailcam] + command + ['-o', f'{folder}/out', '-p', str(target.pid)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 0.8))
    below = children(ours.pid)
    for pid in {'worker': below or [ours.pid], 'front': [ours.pid], 'both': [ours.pid] + below,
                'tree': [ours.pid] + below + [p for c in below for p in children(c)]}[victim]:
        kill(pid)
    ours.wait()
    why = []
    if not until(lambda: is_free(target.pid)):
        why.append('stopped or traced')
    before = counters(counts)
    if target.poll() is not None:
        why.append(f'died: {target.returncode}')
    elif not until(lambda: all(a > b for a, b in zip(counters(counts), before))):
        why.append('does not run')
    elif not until(lambda: text_is_own(target.pid, busy)):
        why.append('probes left')
    target.kill()
    target.wait()
    os.unlink(counts)
    return why


failures = 0
for number in range(rounds):
    command, victim = COMMANDS[number % len(COMMANDS)], VICTIMS[number // len(COMMANDS) % len(VICTIMS)]
    why = one(number, command, victim)
    if why:
        failures += 1
        print(f'round {number}: {" ".join(command)}, {victim} killed: {", ".join(why)}')
print(f'{failures} of {rounds} rounds did harm')
sys.exit(failures > 0)
