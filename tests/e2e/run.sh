#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# trailcam run is transparent: input, output, exit status and signals are the program's own; nothing is left
# behind.
. tests/e2e/lib.sh
exits=$programs/exits-static

quiet_run() {
	"$trailcam" run --source step -o "$tmp/t.fxt.gz" "$@" 2>"$tmp/err"
}

check 'false exits 1' status_is 1 quiet_run -- busybox false
check 'true exits 0' status_is 0 quiet_run -- busybox true
check 'the trace is there' test -s "$tmp/t.fxt.gz"
check 'one line says where it is' says "$tmp/err" "wrote $tmp/t.fxt.gz: "
check 'without a trigger the end is said' says "$tmp/err" 'the program ended (exit status 0)'

passes_through() {
	printf 'one\ntwo\n' >"$tmp/in"
	status_is 42 quiet_run -- "$exits" cat <"$tmp/in" >"$tmp/out" || return 1
	cmp "$tmp/in" "$tmp/out" && says "$tmp/err" 'to stderr'
}
check 'stdin, stdout, stderr and exit status pass through' passes_through

check 'killed by SIGKILL: so are we' status_is 137 quiet_run -- "$exits" kill
check 'killed by SIGSEGV: so are we' status_is 139 quiet_run -- "$exits" segv

same_output() {
	"$programs/torture" >"$tmp/free"
	free=$?
	quiet_run -- "$programs/torture" >"$tmp/stepped"
	[ $? -eq $free ] && diff "$tmp/free" "$tmp/stepped"
}
check 'a program with signals, faults, forks and threads behaves the same' same_output

# --- signals to us

interrupt() {
	signal=$1
	quiet_run -- "$exits" wait >"$tmp/out" &
	pid=$!
	wait_for "$tmp/out" ready || return 1
	pkill -"$signal" -P $pid -x trailcam || kill -"$signal" $pid
	wait $pid
	got=$?
	[ $got -eq 6 ] || {
		echo "exit status $got, not that of the program"
		cat "$tmp/err"
		return 1
	}
	says "$tmp/err" 'interrupted' && says "$tmp/out" "signal" && test -s "$tmp/t.fxt.gz"
}
check 'SIGTERM: snapshot, passed on, exit status of the program' interrupt TERM

# From a terminal Ctrl-C goes to the whole group: the program gets it once.
ctrl_c() {
	setsid env --default-signal=INT "$trailcam" run --source step -o "$tmp/c.fxt.gz" -- "$exits" wait \
		>"$tmp/c.out" 2>"$tmp/c.err" &
	pid=$!
	wait_for "$tmp/c.out" ready || return 1
	env kill -s INT -- -$pid
	wait $pid
	got=$?
	[ $got -eq 6 ] && says "$tmp/c.err" 'interrupted' && says "$tmp/c.out" 'signal 2' || {
		echo "exit status $got"
		return 1
	}
}
check 'SIGINT to the group: snapshot, the program ends as it likes' ctrl_c

# Its threads die of the signal while they are let go; each must be taken in, or the program never ends.
threads_end() {
	for round in 1 2 3 4 5 6; do
		rm -f "$tmp/busy"
		"$trailcam" run --source step --step-from work -o "$tmp/b.tsv" -- \
			"$programs/busy" "$tmp/busy" 4 2>"$tmp/err" &
		pid=$!
		wait_until test -s "$tmp/busy" || return 1
		sleep 0.$((2 + round))
		kill -s TERM $pid
		wait $pid
		[ $? -eq 143 ] && says "$tmp/err" "wrote $tmp/b.tsv" || return 1
	done
}
check 'SIGTERM while four threads are stepped: all of them end' threads_end

# --- kill -9 of the tracer: the program goes on, unstepped, and ends as if nothing had been

killed() {
	for round in 1 2 3 4 5; do
		"$trailcam" run --source step -o "$tmp/k.fxt.gz" "$@" -- "$exits" spin 1000000 >"$tmp/k.out" 2>"$tmp/k.err" &
		pid=$!
		wait_for "$tmp/k.out" ready || return 1
		sleep 0.0$round
		kill -9 $pid
		wait_for "$tmp/k.out" sum || return 1
		says "$tmp/k.out" 'sum 499999500000' && [ ! -e "$tmp/k.fxt.gz" ] && ! ls "$tmp"/.*k.fxt* 2>/dev/null || return 1
	done
}
check 'kill -9 of trailcam: the program runs on to its end' killed

# --- with a trigger

if bpf_missing; then
	skip 'runs with a trigger' "$bpf_reason"
	finish
fi

hit_run() {
	status_is 5 quiet_run -t marker --keep-recording "$tmp/rec" -- "$exits" mark >"$tmp/out" &&
		says "$tmp/out" 'after the mark' && says "$tmp/err" 'hit marker'
}
check 'a hit ends the recording, not the program' hit_run

hit_has() {
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	says "$tmp/hits" '  trigger marker' && says "$tmp/hits" '  rdi 0x3039' && says "$tmp/hits" '  comm exits' &&
		grep -q '#0 0x[0-9a-f]* marker+0x0' "$tmp/hits" && grep -q '#1 0x[0-9a-f]* main+0x' "$tmp/hits"
}
check 'the hit has its registers and its stack' hit_has

# field NAME: a line of the hit
field() {
	awk -v name="$1" '$1 == name { print $2; exit }' "$tmp/hits"
}

hit_is_placed() {
	"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices"
	awk -F '\t' -v t="$(field time_ns)" -v tid="$(field tid)" \
		'$4 == "marker" && $6 == tid && $1 <= t && t <= $2 { found = 1 } END { exit !found }' "$tmp/slices"
}
check "the hit's time lies in the probed call" hit_is_placed

last_is_probe() {
	"$trailcam" dump --instructions "$tmp/rec" | awk -v tid="$(field tid)" '$1 == tid { last = $2 } END { print "0x" last }' >"$tmp/last"
	says "$tmp/last" "$(field rip)"
}
check 'the probed instruction is the last one of its thread' last_is_probe

thread_hit() {
	"$trailcam" run --source step -t thread_main --keep-recording "$tmp/threads" -o "$tmp/t.fxt.gz" -- "$programs/torture" \
		probed >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && says "$tmp/out" 'threads 33' || return 1
	"$trailcam" dump --hits "$tmp/threads" >"$tmp/hits"
	[ "$(field tid)" != "$(field pid)" ] || return 1
	"$trailcam" dump --instructions "$tmp/threads" | awk -v tid="$(field tid)" '$1 == tid { last = $2 } END { print "0x" last }' \
		>"$tmp/last"
	says "$tmp/last" "$(field rip)"
}
check 'a hit in another thread: its last instruction is the probed one' thread_hit

library_hit() {
	status_is 5 quiet_run -t libc.so.6:puts --keep-recording "$tmp/lib" -- "$programs/exits" mark >/dev/null || return 1
	"$trailcam" dump --hits "$tmp/lib" >"$tmp/hits"
	grep -q '#0 0x[0-9a-f]* .*puts+0x0' "$tmp/hits" && grep -q '#1 0x[0-9a-f]* main+0x' "$tmp/hits"
}
check 'a function in a library' library_hit

bare_library_hit() {
	status_is 5 quiet_run -t puts -- "$programs/exits" mark >/dev/null && says "$tmp/err" 'hit puts'
}
check 'a bare name is found in the libraries' bare_library_hit

perf_link() {
	status_is 5 quiet_run --attach-via perf_uprobe -t marker -- "$exits" mark >/dev/null && says "$tmp/err" 'hit marker'
}
check 'attached through the perf PMU' perf_link

no_hit_said() {
	status_is 0 quiet_run -t marker -- "$exits" nothing && says "$tmp/err" 'no hit, the program ended (exit status 0)'
}
check 'without a hit the end is shown, and that is said' no_hit_said

outlived() {
	"$trailcam" run --follow-forks --source none -t "$exits:marker" -o "$tmp/t.tsv" -- sh -c "(sleep 0.5; $exits mark) & exit 3" \
		>"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && says "$tmp/err" 'hit'
}
check '--follow-forks: a child outlives the program, whose exit status is ours' outlived

# A hit in a child that is not followed is none, and the way to it is said; not where
# there is no child.
hints() {
	for source in none samples translate step; do
		"$trailcam" run --source "$source" -t "$exits:marker" -o "$tmp/t.tsv" -- sh -c "$exits mark; exit 3" 2>"$tmp/hint"
		[ $? -eq 3 ] && grep -q '^trailcam: the program started other processes, which only --follow-forks' "$tmp/hint" || return 1
		"$trailcam" run --source "$source" -t "$exits:marker" -o "$tmp/t.tsv" -- sh -c 'exit 3' 2>"$tmp/hint"
		[ $? -eq 3 ] && grep -q 'no hit' "$tmp/hint" && ! grep -q 'follow-forks' "$tmp/hint" || return 1
	done
}
check 'no hit: processes that were not followed are pointed out' hints

step_from() {
	status_is 5 quiet_run --step-from main -t marker --keep-recording "$tmp/from" -- "$exits" mark >/dev/null || return 1
	"$trailcam" dump --slices "$tmp/from" >"$tmp/slices"
	! grep -q '_start$\|_dl_start' "$tmp/slices" && grep -q '	marker	' "$tmp/slices" && says "$tmp/err" 'hit marker'
}
check '--step-from: full speed up to there' step_from

unreached() {
	status_is 0 quiet_run --step-from marker -- "$exits" nothing && says "$tmp/err" 'was never reached'
}
check '--step-from a place that is never reached is said' unreached

killed_with_probe() {
	killed -t marker
}
check 'kill -9 with a probe in place: the program runs on to its end' killed_with_probe

least_privilege() {
	mkdir -p "$tmp/open" && chmod 777 "$tmp" "$tmp/open"
	cp "$trailcam" "$tmp/open/" && cp "$exits" "$tmp/open/exits"
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon \
		--bounding-set=-all,+bpf,+perfmon "$tmp/open/trailcam" run -t marker -o "$tmp/open/p.fxt.gz" -- "$tmp/open/exits" mark \
		>/dev/null 2>"$tmp/open/err"
	[ $? -eq 5 ] && says "$tmp/open/err" 'hit marker' || {
		cat "$tmp/open/err"
		return 1
	}
}
check 'a plain user with CAP_BPF and CAP_PERFMON' least_privilege

no_privilege() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all \
		"$tmp/open/trailcam" run -t marker -o "$tmp/open/q.fxt.gz" -- "$tmp/open/exits" mark >"$tmp/open/out" 2>"$tmp/open/err"
	[ $? -eq 125 ] && says "$tmp/open/err" 'CAP_BPF' && says "$tmp/open/err" 'setcap' && [ ! -s "$tmp/open/out" ] || {
		cat "$tmp/open/err"
		return 1
	}
}
check 'without them: what is missing and how to grant it, and the program does not run' no_privilege

untriggered_needs_nothing() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all \
		"$tmp/open/trailcam" run -o "$tmp/open/r.fxt.gz" -- "$tmp/open/exits" cat </dev/null >/dev/null 2>"$tmp/open/err"
	[ $? -eq 42 ] && test -s "$tmp/open/r.fxt.gz" || {
		cat "$tmp/open/err"
		return 1
	}
}
check 'without a trigger no privilege is needed' untriggered_needs_nothing

many_children() {
	(ulimit -n 24 && "$trailcam" run --source step --follow-forks --snapshot-size 4k -o "$tmp/many.fxt" -- \
		sh -c 'i=0; while [ $i -lt 20 ]; do (:); i=$((i + 1)); done') 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
	says "$tmp/err" 'in 21 threads'
}
check 'more children than files that may be open' many_children
finish
