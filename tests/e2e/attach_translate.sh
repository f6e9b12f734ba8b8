#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# trailcam attach --source translate: what runs already is translated from where it is, and runs natively
# afterwards, with nothing of ours in it.
. tests/e2e/lib.sh
ours=
trap 'kill_ours $ours; wait 2>/dev/null; rm -rf "$tmp"' EXIT

# On a busy machine a program need not come far in a short time.
durations='300ms 3s 30s'

# translates PID ARG...: the recording is $tmp/rec
translates() {
	pid=$1
	shift
	rm -rf "$tmp/rec"
	timeout 500 "$trailcam" attach --source translate -p "$pid" -o "$tmp/t.fxt" --keep-recording "$tmp/rec" "$@" 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
}

# is_free PID: untraced, alive, and its memory is as it was.
is_free() {
	untraced "$1" && ! grep '^State:	Z' "/proc/$1/status" &&
		! grep -E 'memfd:trailcam|rwx|bin/trailcam|build.*/trailcam' "/proc/$1/maps"
}

# calls_of FUNCTION: in the recording
calls_of() {
	python3 -c '
import json, sys
print(sum(f["calls"] for f in json.load(open(sys.argv[1]))["functions_by_total"] if f["name"] == sys.argv[2]))' "$tmp/report.json" "$1"
}

"$programs/busy" "$tmp/counters" 4 &
busy=$!
ours=$busy
wait_until test -s "$tmp/counters"

# Each turn of a thread calls malloc, work, sprintf and free once: all threads but the first are in the middle of one.
every_call() {
	for duration in $durations; do
		translates $busy --duration $duration && is_free $busy || return 1
		"$trailcam" report --json --top 1000 "$tmp/rec" >"$tmp/report.json" || return 1
		work=$(calls_of work) text=$(calls_of sprintf)
		[ "$work" -le 100 ] || break
	done
	echo "work $work, sprintf $text"
	grep '"gaps": [1-9]' "$tmp/report.json" && return 1
	[ "$work" -gt 100 ] && [ $((work - text)) -le 8 ] && [ $((text - work)) -le 8 ]
}
check 'every call of four threads, without a gap' every_call

same_twice() {
	"$trailcam" decode -o "$tmp/again.fxt" "$tmp/rec" 2>"$tmp/err" && cmp "$tmp/t.fxt" "$tmp/again.fxt" &&
		"$BUILD/tests/oracle/decoders" "$tmp/rec"
}
check 'the recording says the same, by both decoders' same_twice

counters() {
	od -An -tu8 -N40 "$tmp/counters"
}
differs() {
	[ "$(counters)" != "$1" ]
}
goes_on() {
	wait_until differs "$(counters)"
}
again() {
	for _ in 1 2 3 4 5; do
		translates $busy --duration 20ms && is_free $busy && goes_on || return 1
	done
}
check 'again and again' again

# As soon as all threads have noticed that they are alone, the next one removes what is there.
recorded() {
	translates $busy "$@" --duration 300ms && ! grep -q 'earlier trailcam' "$tmp/err"
}
killed_before() {
	"$trailcam" attach -q --source translate -p $busy --duration 60s -o "$tmp/killed.fxt" 2>/dev/null &
	front=$!
	wait_until grep -q memfd:trailcam /proc/$busy/maps && sleep 0.3
	# shellcheck disable=SC2046
	kill -9 $front $(pgrep -P $front)
	wait $front
	wait_until recorded && is_free $busy && goes_on && "$trailcam" report "$tmp/rec" | grep -q turn
} 2>/dev/null
check 'after one that was killed' killed_before

# As soon as its memory is there, without rights at first, while more is done in the thread that has made it.
cat >"$tmp/kills.py" <<'END'
import os, subprocess, sys, time
pid, sign, turns, pace, command = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5:]
for turn in range(turns):
    front = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    worker = ""
    while not worker:
        worker = open(f"/proc/{front.pid}/task/{front.pid}/children").read().strip()
    end = time.time() + 10
    while front.poll() is None and time.time() < end and sign not in open(f"/proc/{pid}/maps", "rb").read():
        pass
    time.sleep(max(0, turn - 4) * pace)
    for victim in (int(worker), front.pid):
        try:
            os.kill(victim, 9)
        except ProcessLookupError:
            pass
    front.wait()
    # Until the threads have left what it has made.
    for _ in range(100):
        if b"memfd:trailcam" not in open(f"/proc/{pid}/maps", "rb").read():
            break
        subprocess.run(command[:-1] + ["20ms"], stderr=subprocess.DEVNULL)
    else:
        sys.exit(f"turn {turn}: it stays")
END
# killed_early SIGN ARG...: as soon as the memory map has the sign
killed_early() {
	sign=$1
	shift
	python3 "$tmp/kills.py" $busy "$sign" 12 0.0001 "$trailcam" attach -q --source translate -p $busy "$@" -o "$tmp/killed.fxt" --duration 60s && goes_on &&
		wait_until recorded "$@" && ! grep 'runs natively' "$tmp/err" && is_free $busy && goes_on
}
check 'after some that were killed at once' killed_early memfd:trailcam
if [ -z "$(bpf_missing && echo missing)" ]; then
	check 'and with probes' killed_early 5500ff000000- -t rarely --skip 1000000
fi

# A signal may be on its way to its handler then.
cat >"$tmp/ticks.c" <<'END'
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static volatile unsigned int ticks;
static void on_tick(int signal)
{
	ticks += signal;
}
int main(void)
{
	struct itimerval often = {{0, 200}, {0, 200}};

	signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &often, 0);
	for (;;)
		getppid();
}
END
killed_at_signals() {
	gcc -O1 -o "$tmp/ticks" "$tmp/ticks.c" || return 1
	"$tmp/ticks" &
	ticks=$!
	ours="$ours $ticks"
	python3 "$tmp/kills.py" $ticks memfd:trailcam 40 0.001 "$trailcam" attach -q --source translate -p $ticks -o "$tmp/killed.fxt" --duration 60s &&
		is_free $ticks && kill $ticks
}
check 'after some that were killed while signals came' killed_at_signals

# A thread that wakes while it is recorded leaves by itself after the kill. Then it sleeps, while another one comes and is killed.
line_passes() {
	echo "$1" >&5
	wait_for "$tmp/copy" "$1" && wait_until asleep $sleeper
}
# killed_after COMMAND...: trailcam, once it has taken the thread over and the command has succeeded
killed_after() {
	"$trailcam" attach -q --source translate -p $sleeper --duration 60s -o "$tmp/killed.fxt" 2>/dev/null &
	front=$!
	wait_until grep -q memfd:trailcam /proc/$sleeper/maps && sleep 0.3 && "$@" || return 1
	# shellcheck disable=SC2046
	kill -9 $front $(pgrep -P $front)
	! wait $front
}
killed_asleep() {
	mkfifo "$tmp/lines"
	cat "$tmp/lines" >"$tmp/copy" &
	sleeper=$!
	ours="$ours $sleeper"
	exec 5>"$tmp/lines"
	wait_until_runs $sleeper cat && wait_until asleep $sleeper && killed_after line_passes first && line_passes second &&
		killed_after true && translates $sleeper --duration 20ms && ! grep 'runs natively' "$tmp/err" && is_free $sleeper
	passed=$?
	exec 5>&-
	return $passed
} 2>/dev/null
check 'after two that were killed, one while all slept' killed_asleep

# What a session that stepped it has left in the padding of its vDSO is no obstacle.
after_step() {
	"$trailcam" attach -q --source step -p $busy --max-stall none --duration 50ms -o "$tmp/step.tsv" 2>"$tmp/err" && recorded &&
		! grep 'runs natively' "$tmp/err" && is_free $busy && goes_on
}
check 'after one that stepped it' after_step

# It fills its ring again and again in the time that a copy of it takes.
cat >"$tmp/loop.c" <<'END'
int main(void)
{
	for (volatile unsigned i = 0;; i++)
		if (i % 3 == 0)
			i++;
}
END
gcc -O1 -o "$tmp/loop" "$tmp/loop.c" || exit 1
short_loop() {
	"$tmp/loop" &
	loop=$!
	ours="$ours $loop"
	for _ in 1 2 3; do
		for duration in 100ms 3s 30s; do
			translates $loop --duration $duration && is_free $loop || return 1
			branches=$("$trailcam" dump --branches "$tmp/rec" | head -n 10000 | wc -l)
			echo "$branches branches"
			[ "$branches" -ne 10000 ] || break
		done
		[ "$branches" -eq 10000 ] || return 1
	done
	kill $loop
}
check 'the newest part of what a short loop does' short_loop

up_to_hit() {
	translates $busy -t rarely --skip 40 && says "$tmp/err" 'hit rarely' && is_free $busy && goes_on &&
		"$trailcam" dump --hits "$tmp/rec" | grep -q rarely &&
		"$trailcam" report "$tmp/rec" | grep -q 'turn'
}
if [ -z "$(bpf_missing && echo missing)" ]; then
	check 'a trigger: the calls up to the hit' up_to_hit
	check 'and again' up_to_hit
	# It is called all the time: no hit counts before all threads are recorded, and what led up to it is there.
	hit_at_once() {
		translates $busy -t work || return 1
		"$trailcam" report --calls=1 "$tmp/rec" | grep -A20 'the last .* before it' >"$tmp/text"
		grep -q '+ .* work' "$tmp/text" && [ "$(grep -c . "$tmp/text")" -gt 2 ]
	}
	check 'a trigger that is hit at once' hit_at_once
	# Killed between two of its steps, a trailcam leaves the nops of its probes, and no more.
	cat >"$tmp/left.c" <<-'END'
		#include <fcntl.h>
		#include <sys/mman.h>
		#include "translate/layout.h"
		__attribute__((noinline)) void turns(void) { __asm__ volatile(""); }
		int main(int argc, char **argv)
		{
			if (mmap((void *)NOPS_AT, NOP_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(argv[1], O_RDONLY), 0) != (void *)NOPS_AT)
				return 77;
			for (;;)
				turns();
		}
	END
	nops_left() {
		gcc -O1 -Iuser -o "$tmp/left" "$tmp/left.c" || return 1
		"$tmp/left" "$trailcam" &
		left=$!
		ours="$ours $left"
		wait_until grep -q "^5500ff000000.*trailcam" /proc/$left/maps && translates $left -t turns && says "$tmp/err" 'hit turns' &&
			! grep 'runs natively' "$tmp/err" && is_free $left && kill $left
	}
	check 'after one that left the nops of its probes' nops_left
fi
kill $busy

# Its threads sleep in all sorts of system calls, and count those that were interrupted.
play() {
	for line in work thread fork vfork exec work dlopen alarm thread mask work quit; do
		echo $line
		sleep 0.05
	done
}
same_output() {
	play | "$programs/server" >"$tmp/native" 2>&1
	mkfifo "$tmp/in"
	"$programs/server" <"$tmp/in" >"$tmp/out" 2>&1 &
	server=$!
	exec 5>"$tmp/in"
	wait_for "$tmp/out" ready
	: >"$tmp/err"
	timeout 500 "$trailcam" attach -v --source translate -p $server --duration "$1" -o "$tmp/t.fxt" 2>"$tmp/err" &
	tracer=$!
	ours="$ours $server $tracer"
	wait_for "$tmp/err" 'attached' || return 1
	play >&5
	exec 5>&-
	rm "$tmp/in"
	wait $tracer || return 1
	wait $server
	diff "$tmp/native" "$tmp/out"
}
check 'signals, timers, threads, forks, dlopen, exec: the same output' same_output 30s
check 'let go in the middle of it: the same output' same_output 300ms

# All of its threads sleep in calls of the runtime when the one that started it is killed. They sleep on, out of it.
left_asleep() {
	mkfifo "$tmp/in"
	"$trailcam" run -q --source translate -o "$tmp/killed.fxt" -- "$programs/server" <"$tmp/in" >"$tmp/out" 2>&1 &
	front=$!
	exec 5>"$tmp/in"
	wait_for "$tmp/out" ready
	worker=$(pgrep -P $front)
	server=$(pgrep -P "$worker" server)
	ours="$ours $server"
	wait_until asleep "$server" || return 1
	kill -9 "$worker" $front
	translates "$server" --duration 20ms && ! grep 'runs natively' "$tmp/err" && is_free "$server" || return 1
	play >&5
	exec 5>&-
	wait_for "$tmp/out" interrupted && diff "$tmp/native" "$tmp/out"
} 2>/dev/null
check 'left asleep by one that was killed: the same output' left_asleep

# In a storm of signals some wait for their thread when it is let go.
# nothing_is_lost PROGRAM CNT
nothing_is_lost() {
	"$programs/$1" "$2" >"$tmp/$1" &
	storm=$!
	ours="$ours $storm"
	wait_for "$tmp/$1" ready
	timeout 500 "$trailcam" attach -q --source translate -p $storm --duration 10ms -o "$tmp/t.fxt" || return 1
	for _ in 1 2 3 4 5; do
		# It may end meanwhile.
		timeout 500 "$trailcam" attach -q --source translate -p $storm --duration 10ms -o "$tmp/t.fxt" 2>"$tmp/err"
		! grep 'that of an earlier trailcam' "$tmp/err" && ! grep -s memfd:trailcam "/proc/$storm/maps" || return 1
	done
	wait $storm && says "$tmp/$1" right
}
check 'signals that queue: none is lost when it is let go' nothing_is_lost queued 30000
check 'signals of threads: none is lost when it is let go' nothing_is_lost ordered 20000
check 'restartable sequences: none goes on where it was interrupted' nothing_is_lost sequences 100

# starts_work NAME COMMAND...: $worker, a program that is "ready" and works until its input ends.
starts_work() {
	name=$1
	shift
	mkfifo "$tmp/$name.in"
	"$@" <"$tmp/$name.in" >"$tmp/$name.out" 2>&1 &
	worker=$!
	ours="$ours $worker"
	exec 6>"$tmp/$name.in"
	wait_for "$tmp/$name.out" ready
}

# ends_work: what it got was right.
ends_work() {
	exec 6>&-
	rm "$tmp/$name.in"
	wait $worker && grep -x right "$tmp/$name.out" || {
		head -20 "$tmp/$name.out"
		return 1
	}
}

# What the kernel kills a program for, if the runtime does it.
cat >"$tmp/guarded.c" <<'END'
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { USER_DISPATCH = 59 };
static volatile char blocks;
static void install(struct sock_filter *filter, unsigned short cnt)
{
	struct sock_fprog program = {cnt, filter};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
static void filter(unsigned int denied, unsigned int action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	install(filter, 4);
}
static void filter_shared(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	install(filter, 6);
}
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(int argc, char **argv)
{
	int rounds = 0, right = 1;
	char c;
	fcntl(0, F_SETFL, O_NONBLOCK);
	if (!strcmp(argv[1], "kills"))
		filter(SYS_madvise, SECCOMP_RET_KILL_PROCESS);
	if (!strcmp(argv[1], "unshared"))
		filter_shared();
	if (!strcmp(argv[1], "errno"))
		filter(SYS_mount, SECCOMP_RET_ERRNO | EPERM);
	if (!strcmp(argv[1], "locks") && mlockall(MCL_CURRENT | MCL_FUTURE))
		return 77;
	if (!strcmp(argv[1], "tsc") && prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 77;
	if (argc > 2)
		execv(argv[2], argv + 2);
	if (!strcmp(argv[1], "strict"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (!strcmp(argv[1], "dispatch") && prctl(USER_DISPATCH, 1, 0, 0, &blocks))
		return 77;
	write(1, "ready\n", 6);
	do {
		blocks = 1;
		right &= fib(15) == 610;
		blocks = 0;
	} while (read(0, &c, 1) < 0);
	write(1, right ? "right\n" : "wrong\n", 6);
	return syscall(SYS_exit, 0);
}
END
gcc -O1 -w -D_GNU_SOURCE -o "$tmp/guarded" "$tmp/guarded.c" || exit 1
# guarded MODE TEXT ARG...: it is not touched, which is said.
guarded() {
	starts_work "$1" "$tmp/guarded" "$1" || return 1
	text=$2
	shift 2
	for _ in 1 2 3; do
		for duration in $durations; do
			translates $worker "$@" --duration $duration && is_free $worker || return 1
			! grep -qF "$text" "$tmp/err" || break
		done
		says "$tmp/err" "$text" || return 1
	done
	ends_work
}
restricts='it restricts its system calls'
check 'a filter that kills for what would be called' guarded kills "$restricts"
check 'a program that may only read and write' guarded strict "$restricts"
# The kernel tells of that since Linux 6.4.
if [ "$(printf '6.4\n%s\n' "$(uname -r)" | sort -V | head -1)" = 6.4 ]; then
	check 'a program that gets its system calls itself' guarded dispatch "$restricts"
else
	skip 'a program that gets its system calls itself' 'the kernel does not tell of that'
fi
check 'a program that may not read the time' guarded tsc 'it may not read the time stamp counter'
records_fib() {
	for duration in $durations; do
		translates $worker --duration $duration && is_free $worker || return 1
		"$trailcam" report "$tmp/rec" | grep -q fib && return 0
	done
	return 1
}
filtered() {
	starts_work errno "$tmp/guarded" errno && records_fib && ! grep "$restricts" "$tmp/err" && ends_work
}
check 'a filter that kills for nothing' filtered
# Nothing stays of what was mapped before.
if [ -z "$(bpf_missing && echo missing)" ]; then
	check 'a filter that refuses shared memory' guarded unshared 'it cannot map the memory' -t main
fi
# started TEXT MODE...
started() {
	text=$1
	shift
	"$trailcam" run -q --source translate -o "$tmp/t.fxt" -- "$tmp/guarded" "$@" </dev/null >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/out" right && says "$tmp/err" "$text"
}
check 'a program that sets such a filter, and what it executes' started "$restricts" kills "$tmp/guarded" nothing
check 'a program that forbids itself to read the time' started 'it may not read the time stamp counter' tsc
# Gigabytes that nobody uses would be in memory.
locks_all() {
	starts_work locks "$tmp/guarded" locks && records_fib && ! grep 'runs natively' "$tmp/err" || return 1
	grep VmHWM "/proc/$worker/status"
	[ "$(awk '/VmHWM/ { print $2 }' "/proc/$worker/status")" -lt 200000 ] && ends_work
}
if [ "$(id -u)" = 0 ]; then
	check 'a program that locks all its memory' locks_all
fi

goroutines() {
	go build -o "$tmp/busygo" tests/programs/src/busy.go && starts_work go "$tmp/busygo" || return 1
	for _ in 1 2 3 4 5 6; do
		translates $worker "$@" && is_free $worker || return 1
	done
	ends_work
}
if command -v go >/dev/null; then
	export HOME="${HOME:-$tmp}"
	check 'a Go program, which preempts itself by signals' goroutines --duration 50ms
	if [ -z "$(bpf_missing && echo missing)" ]; then
		check 'a Go program, up to hits' goroutines -t main.turn -t runtime.mallocgc --skip 100
	fi
fi

# computes NAME COMMAND...: a program that makes code, which no thread leaves for good.
computes() {
	starts_work "$@" || return 1
	for _ in 1 2 3; do
		translates $worker --duration 100ms || return 1
		grep 'runs natively' "$tmp/err" && return 1
		grep -E 'memfd:trailcam' "/proc/$worker/maps" && return 1
	done
	ends_work
}
node_runs() {
	computes node node -e '
function sum(n) { let s = 0; for (let i = 1; i <= n; i++) s += i % 7; return s; }
const right = sum(100000);
let rounds = 0, wrong = 0, over = false;
(function turn() { for (let i = 0; i < 20; i++) { wrong += sum(100000) !== right; rounds++; } if (!over) setImmediate(turn); })();
console.log("ready");
process.stdin.on("end", () => { over = true; console.log(rounds > 0 && !wrong ? "right" : "wrong"); }).resume();'
}
if command -v node >/dev/null; then
	check 'node, which makes code' node_runs
fi

# A JVM reserves most of the addresses near its libraries, too.
java_runs() {
	javac -d "$tmp" tests/programs/src/Busy.java && computes java java -cp "$tmp" Busy
}
if command -v javac >/dev/null; then
	check 'a JVM' java_runs
fi
finish
