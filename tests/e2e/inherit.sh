#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a program inherits (signals, limits, descriptors, priority, environment ...) is the same whether
# trailcam starts it or not.
. tests/e2e/lib.sh
python=$(python3 -c 'import sys; print(sys.executable)')

cat >"$tmp/start.py" <<'END'
import os, resource, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGWINCH})
for number in signal.SIGCHLD, signal.SIGALRM, signal.SIGHUP, signal.SIGRTMIN, signal.SIGUSR1:
    signal.signal(number, signal.SIG_IGN)
for number in signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT:
    signal.signal(number, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 4096))
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 400))
os.set_inheritable(os.dup2(os.open('/dev/zero', os.O_RDONLY), 7), True)
os.nice(3)
os.umask(0o27)
open('/proc/self/oom_score_adj', 'w').write('77')
os.execvp(sys.argv[1], sys.argv[1:])
END

# start COMMAND...: from a parent that has changed what can be changed.
start() {
	env -i PATH="$PATH" LANG=C SOME=thing "$python" "$tmp/start.py" "$@" </dev/null
}

native() {
	start "$programs/inherited" one 'two words' >"$tmp/native" && says "$tmp/native" 'signal 17 is ignored' &&
		says "$tmp/native" 'signal 12 is blocked' && says "$tmp/native" 'descriptor 7: /dev/zero'
}
check 'started by others: what it inherits' native

# same COMMAND...: that starts the program
same() {
	start "$trailcam" "$@" -- "$programs/inherited" one 'two words' >"$tmp/ours" 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
	grep -v "^descriptor 1:\|^descriptor 2:\|^group " "$tmp/native" >"$tmp/native.same"
	grep -v "^descriptor 1:\|^descriptor 2:\|^group " "$tmp/ours" | diff "$tmp/native.same" -
}
check 'run, stepped' same run --source step --step-from main -o "$tmp/t.tsv"
if bpf_missing; then
	skip 'with probes' "$bpf_reason"
	finish
fi
check 'run --source none' same run --source none --on-signal USR2 -o "$tmp/t.tsv"
check 'run --source none, with a trigger' same run --source none -t main -o "$tmp/t.tsv"
check 'run --memtrace' same run --source none --memtrace=4k -o "$tmp/t.tsv"
check 'run -t, stepped' same run --source step --step-from main -t putchar --follow-forks -o "$tmp/t.tsv"
check 'memtrace record' same memtrace record -o "$tmp/t.ctf"

# The program's own is among what it inherits.
gives_way() {
	"$trailcam" run --source none --on-signal USR2 -o "$tmp/t.tsv" -- sh -c 'cat /proc/$PPID/oom_score_adj' >"$tmp/ours" &&
		[ "$(cat "$tmp/ours")" = 1000 ]
}
check 'where memory runs out, the kernel takes trailcam first' gives_way

# waits COMMAND...: a program that pauses until its child has ended
waits() {
	timeout 600 "$trailcam" "$@" -- "$python" -c '
import signal, subprocess
seen = []
signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
subprocess.Popen(["true"])
while not seen:
    signal.pause()
print("child seen")' >"$tmp/out" 2>"$tmp/err" && says "$tmp/out" 'child seen'
}
check 'SIGCHLD reaches the program' waits run --source none --on-signal USR2 -o "$tmp/t.tsv"
check 'and under memtrace record' waits memtrace record -o "$tmp/t.ctf"
finish
