#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What slows a target is said beforehand, bounded, and ends by itself.
. tests/e2e/lib.sh
ours=
trap 'kill_ours $ours; wait 2>/dev/null; rm -rf "$tmp"' EXIT

# start: a program of four threads that never stop working; $target
start() {
	rm -f "$tmp/busy"
	"$programs/busy" "$tmp/busy" 4 &
	target=$!
	ours="$ours $target"
	wait_until test -s "$tmp/busy"
}

attach() {
	timeout 600 "$trailcam" attach -v -p "$target" -o "$tmp/t.tsv" "$@" 2>"$tmp/err"
}

# have_worked BEFORE: all threads, since their counters were these.
have_worked() {
	od -An -v -t u8 -w8 -N 32 "$tmp/busy" | paste - - - - | awk -v before="$(echo "$1" | paste - - - -)" \
		'{ split(before, b); exit !($1 > b[1] && $2 > b[2] && $3 > b[3] && $4 > b[4]) }'
}

# Nothing of us is left, and all threads work.
runs_on() {
	untraced "$target" || return 1
	before=$(od -An -v -t u8 -w8 -N 32 "$tmp/busy")
	wait_until have_worked "$before"
}

start
no_pt=yes
grep -qs . /sys/bus/event_source/devices/intel_pt/type && no_pt=

nothing_but_time() {
	status_is 0 attach --duration 300ms && says "$tmp/err" 'stacks are sampled (--source samples)' && runs_on
}
asks_for_step() {
	status_is 1 attach --step-from work && says "$tmp/err" '--step-from belongs to --source translate or step; the source here is samples' && runs_on
}
if [ -n "$no_pt" ] && ! bpf_missing; then
	check 'attach samples without a trigger, too' nothing_but_time
	check 'attach does not step because an option belongs to it' asks_for_step
else
	skip 'attach without Intel PT' 'here is one'
fi

# A busy machine may take that long to stop the threads.
budget() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		status_is 0 attach --source step && runs_on || return 1
		grep -q 'too short a time to stop' "$tmp/err" || break
	done
	says "$tmp/err" 'warning: single-stepping: the target executes one instruction at a time' && says "$tmp/err" 'for about 200 ms (--max-stall)' &&
		says "$tmp/err" 'ms (--max-stall: 200 ms): the trace ends here' && says "$tmp/t.tsv" work
}
check 'attach --source step: it is said, and ends by itself' budget

time_is_up() {
	status_is 0 attach --source step --max-stall none --duration 0.3s && says "$tmp/err" 'the time is up (--duration): the trace ends here' &&
		runs_on && says "$tmp/t.tsv" work
}
check '--duration, stepped' time_is_up

sleeps() {
	sleep 100 &
	target=$!
	ours="$ours $target"
	wait_until_runs $target sleep && status_is 0 attach --source step --max-stall 100ms --duration 1s && says "$tmp/err" 'the time is up' &&
		kill $target
}
check 'what sleeps is not held' sleeps

# To stop so many threads takes longer, and that is counted.
many_threads() {
	rm -f "$tmp/in" && mkfifo "$tmp/in" || return 1
	"$programs/crowd" all 1000 <"$tmp/in" >"$tmp/out" &
	target=$!
	ours="$ours $target"
	exec 9>"$tmp/in" && wait_for "$tmp/out" ready && wait_until asleep $target || return 1
	status_is 0 attach --source step --max-stall 1ms && grep -q 'too short a time to stop 1001 threads and to let them go: nothing was traced' "$tmp/err" &&
		held=$(sed -n 's/.*was held for \([0-9.]*\) ms.*/\1/p' "$tmp/err") && awk -v held="$held" 'BEGIN { exit !(held > 0) }' &&
		untraced "$target" || return 1
	status_is 0 attach --source step --max-stall none --duration 1s && says "$tmp/err" 'the time is up' &&
		untraced "$target" || return 1
	exec 9>&- && wait $target && says "$tmp/out" '1000 did their part'
}
check 'many threads: the time to stop them and let them go counts' many_threads
start

if bpf_missing; then
	skip 'with triggers' "$bpf_reason"
	finish
fi

sampled() {
	status_is 0 attach -t rarely && says "$tmp/err" 'no Intel PT here: stacks are sampled (--source samples)' &&
		says "$tmp/err" 'hit rarely' && runs_on
}
run_requests() {
	status_is 0 "$trailcam" run -t handle_request "$@" -o "$tmp/t.tsv" -- "$programs/requests" <"$tmp/requests" >"$tmp/out" 2>"$tmp/err"
}
run_translates() {
	run_requests && says "$tmp/err" 'no Intel PT here: the program is translated (--source translate)' &&
		run_requests --every 1ms && says "$tmp/err" 'stacks are sampled (--source samples); --source none records hits only, --source translate every call, of a program some 1.2 to 8 times slower, --source step every call, but the program' &&
		grep -q '	handle_request	' "$tmp/t.tsv" &&
		run_requests --follow-forks && says "$tmp/err" 'stacks are sampled (--source samples)' &&
		run_requests --memtrace && says "$tmp/err" 'stacks are sampled (--source samples)'
}
run_steps_if_asked() {
	run_requests --step-from main --step-overflow 1000 && says "$tmp/err" 'warning: single-stepping: the program executes one instruction at a time'
}
seq 10 >"$tmp/requests"
if [ -n "$no_pt" ]; then
	check 'attach chooses samples, and says so' sampled
	check 'run translates, and says so; it samples where time is judged, children are followed or allocators watched' run_translates
	check 'run steps where an option asks for it' run_steps_if_asked
fi

refused() {
	status_is 125 "$trailcam" run --source step -o "$tmp/t.tsv" -t handle_request "$@" -- "$programs/requests" <"$tmp/requests" 2>"$tmp/err" &&
		says "$tmp/err" "$1 measures time, and single-stepped code is always slow"
}
check '--slower-than is refused with step' refused --slower-than 1ms
check '--every is refused with step' refused --every 1ms

none_ends() {
	status_is 0 attach --source none -t rarely --when 'arg0 == 3' --duration 0.3s && says "$tmp/err" 'the time is up (--duration), no hit' && runs_on
}
check '--duration, hits only' none_ends

# caught AT_LEAST FUNCTION: so many hits. A snapshot may hold more than one: another thread has one before it is
# stopped.
caught() {
	hits=$(sed -n "s/^trailcam: \([0-9]*\) hits, the last of $2\$/\1/p" "$tmp/err")
	[ "${hits:-0}" -ge "$1" ] || { cat "$tmp/err"; return 1; }
}

# Each of the snapshots begins with a call of rarely() that the condition holds for, and ends with work();
# what comes before is not stepped and no hit.
from_start() {
	status_is 0 attach --source step --step-from rarely --when 'arg0 % 512 == 0' -t work --multi-snapshot --max-hits 3 --max-stall 60s \
		--keep-recording "$tmp/rec" && caught 3 work && says "$tmp/err" '3 snapshots' && runs_on || return 1
	"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices" && [ "$(grep -c 'rarely' "$tmp/slices")" -ge 3 ] &&
		stepped=$(sed -n 's/.* \([0-9]*\) instructions stepped/\1/p' "$tmp/err") && [ "$stepped" -lt 100000 ]
}
check '--step-from with a condition, armed again for each snapshot' from_start

# Threads are in the middle of steps when they are let run to the next start point.
again_and_again() {
	status_is 0 attach --source step --step-from rarely -t malloc --multi-snapshot --max-hits 30 --max-stall 60s &&
		caught 30 malloc && says "$tmp/err" '30 snapshots' && runs_on
}
check 'from start point to start point, with hits in all threads' again_and_again

before_start() {
	status_is 0 attach --source step --step-from rarely -t work --max-stall 60s --keep-recording "$tmp/rec" && says "$tmp/err" 'hit work' && runs_on &&
		"$trailcam" dump --slices "$tmp/rec" | grep -q rarely
}
check 'a trigger before the start point does not count' before_start

# The start point is reached in one thread.
others_go_on() {
	"$trailcam" attach -p "$target" --source step --step-from rarely --max-stall none --step-log "$tmp/log" -o "$tmp/t.tsv" 2>"$tmp/err" &
	tracer=$!
	wait_until test -s "$tmp/log" && before=$(od -An -v -t u8 -w8 -N 32 "$tmp/busy") && wait_until have_worked "$before"
	worked=$?
	kill -TERM $tracer
	wait $tracer
	[ $worked = 0 ] && runs_on
}
check 'from a start point on all threads are stepped' others_go_on

affinity() {
	"$trailcam" attach -v -p "$target" --source step --step-from nobody -t work -o "$tmp/t.tsv" 2>"$tmp/err" && return 1
	"$trailcam" attach -v -p "$target" --source step --step-from rarely --when 'arg0 == 3' -t work -o "$tmp/t.tsv" --duration 100s 2>"$tmp/err" &
	tracer=$!
	wait_for "$tmp/err" 'debug: attached' || return 1
	allowed=$(grep -h Cpus_allowed_list "/proc/$target"/task/*/status | sort -u)
	kill -TERM $tracer
	wait $tracer
	[ "$allowed" = "$(grep -h Cpus_allowed_list /proc/$$/status)" ] && says "$tmp/err" 'the start point rarely was never reached' && runs_on
}
check 'before a start point the threads may run on all processors' affinity
finish
