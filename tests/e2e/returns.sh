#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Triggers that judge calls by their end: the program must not notice, and each call must be seen from its
# beginning to its end, however it ends.
. tests/e2e/lib.sh
ends=$programs/ends
if bpf_missing; then
	skip 'calls judged by their end' "$bpf_reason"
	finish
fi
"$ends" >"$tmp/native"

# run_ends OPTION...: the program prints what it prints without probes, and ends with its status; keeps the
# recording in $tmp/rec.
run_ends() {
	rm -rf "$tmp/rec"
	status_is 7 "$trailcam" run --source none --keep-recording "$tmp/rec" -o "$tmp/t.fxt.gz" "$@" -- "$ends" >"$tmp/out" 2>"$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	diff "$tmp/native" "$tmp/out" || return 1
	[ ! -e "$tmp/rec" ] || "$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
}

# hits_are FIELD VALUE...: that field of each hit.
hits_are() {
	wanted_field=$1
	shift
	awk -v field="$wanted_field" '$1 == field { printf "%s%s", sep, $2; sep = " " } END { print "" }' "$tmp/hits" >"$tmp/got"
	echo "$*" | diff - "$tmp/got"
}

exceptions() {
	run_ends -t throws --slower-than 1s && says "$tmp/err" 'no hit' && ! grep -q warning "$tmp/err" || return 1
	run_ends -t throws --when 'ret > 100' && says "$tmp/err" 'no hit' || return 1
	run_ends -t throws --when 'ret > 0' --max-hits 6 && hits_are arg0 0x1 0x2 0x4 0x5 0x7 0x8 && hits_are rax 0x2 0x3 0x5 0x6 0x8 0x9
}
check 'an exception passes through the function' exceptions

exceptions_stepped() {
	rm -rf "$tmp/rec"
	status_is 7 "$trailcam" run --source step --step-from throws --max-hits 2 -t throws --when 'ret > 2' --keep-recording "$tmp/rec" -o "$tmp/t.fxt.gz" -- \
		"$ends" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	diff "$tmp/native" "$tmp/out" && "$trailcam" dump --hits "$tmp/rec" >"$tmp/hits" && hits_are rax 0x3 0x5
}
check '... single-stepped, too' exceptions_stepped

long_jumps() {
	run_ends -t jumps --when 'ret < 100' --max-hits 5 && hits_are arg0 0x0 0x2 0x4 0x6 0x8 && hits_are rax 0x0 0x2 0x4 0x6 0x8
}
check 'longjmp leaves the function' long_jumps

recursion() {
	run_ends -t recurse --when 'ret == arg0 && elapsed > 0' --max-hits 21 && says "$tmp/err" '21 hits' || return 1
	[ "$(awk '$1 == "arg0"' "$tmp/hits" | sort -u | wc -l)" -eq 21 ]
}
check 'recursion, with the stack pointer moved by the function' recursion

# at_caller: the hit stands where the call returned to, and the caller is what has the registers.
at_caller() {
	grep -q "^  #0 0x[0-9a-f]* $1" "$tmp/hits" && awk '
		$1 == "rip" { rip = $2 }
		$1 == "return_address" { at = $2 }
		END { exit rip != at }' "$tmp/hits" && awk '$1 == "elapsed_ns" { exit $2 < 30000000 }' "$tmp/hits"
}

tail_calls() {
	run_ends -t tail --slower-than 25ms --max-hits 2 && hits_are arg0 0x1e 0x1e && hits_are rax 0x20 0x20 && at_caller '.*\(main\|try_tails\)' || return 1
	run_ends -t tail_if --when '(int)ret == -1' --max-hits 2 && hits_are arg0 0xffffffff 0x0 || return 1
	run_ends -t tail_if --when 'ret == arg0 + 1 && arg0 > 0' --max-hits 2 && hits_are arg0 0x1 0x2
}
check 'a call lasts until the function that it jumps to returns' tail_calls

thunks() {
	run_ends -t thunk --slower-than 25ms && hits_are arg0 0x1e && hits_are rax 0x20 && at_caller '.*\(main\|try_tails\)'
}
check 'a function that only jumps' thunks

several_tails() {
	run_ends -t 'tail*' --slower-than 25ms --max-hits 2 && hits_are arg0 0x1e 0x1e
}
check 'functions of a pattern that jump to each other' several_tails

pointers() {
	run_ends -t tail_by_pointer --when 'elapsed >= 0' --max-hits 4 && says "$tmp/err" 'tail_by_pointer (to where a pointer says)' &&
		hits_are arg0 0x0 0x0 0x0 0x0 || return 1
	run_ends -t tail_by_pointer --when 'ret == 1' && says "$tmp/err" '4 calls of tail_by_pointer ended in a tail call'
}
check 'a jump by a pointer ends the call, and is said to' pointers

loops() {
	run_ends -t loops --slower-than 29ms && hits_are arg0 0x1e && awk '$1 == "elapsed_ns" { exit $2 < 29000000 }' "$tmp/hits"
}
check 'a function that goes back to its beginning is called once' loops

alternate_stacks() {
	run_ends -t in_handler --when 'ret == 11' --max-hits 10 && hits_are arg0 0xa 0xa 0xa 0xa 0xa 0xa 0xa 0xa 0xa 0xa || return 1
	run_ends -t interrupted --when 'ret == 11 && arg0 == 10' --max-hits 5 && says "$tmp/err" '5 hits'
}
check 'signal handlers on a stack of their own' alternate_stacks

threads() {
	run_ends -t threaded --slower-than 150ms && hits_are arg0 0x2 || return 1
	run_ends -t threaded --when 'ret == arg0' --max-hits 12 && says "$tmp/err" '12 hits'
}
check 'threads, one of which ends within the call' threads

refused() {
	"$trailcam" run --source none -o "$tmp/no.fxt" "$@" -- "$ends" >/dev/null 2>"$tmp/err"
	[ $? -eq 125 ]
}

never() {
	refused -t never --slower-than 1ms && says "$tmp/err" 'has no return instruction: name its caller'
}
check 'a function that never returns is refused' never

# --- between two places

two_places() {
	run_ends --from query_start --to query_done --slower-than 35ms && hits_are arg0 0xc && hits_are rdi 0x66 && hits_are trigger query_start..query_done &&
		awk '$1 == "elapsed_ns" { exit $2 < 35000000 }' "$tmp/hits" || return 1
	# A second place without the first is none, each thread has its own, and the arguments are those of
	# the first place.
	run_ends --to query_done --from query_start --max-hits 10 && says "$tmp/err" '10 hits' || return 1
	run_ends --from query_start --to query_done --when 'elapsed > 1us && arg0 == 13' && hits_are arg0 0xd && hits_are rdi 0x67
}
check '--from and --to: the way between two places' two_places

places_refused() {
	refused --from query_start && says "$tmp/err" 'belong together: give both' || return 1
	refused --from query_start --from query_done && says "$tmp/err" 'give each once' || return 1
	refused --from query_start --to query_done --when 'ret == 1' && says "$tmp/err" '--from and --to are not a call' || return 1
	refused --from query_start --to query_gone && says "$tmp/err" "no function 'query_gone'"
}
check '--from and --to: what makes no sense is refused' places_refused

# --- somebody else's return probes, which Linux turns against whoever has a breakpoint at the same place

# watch_returns FILE SYMBOL return|session PID: until unwatch.
watch_returns() {
	rm -f "$tmp/watch.in"
	mkfifo "$tmp/watch.in"
	"$programs/foreign_probe" "$@" <>"$tmp/watch.in" >"$tmp/watch.out" 2>&1 &
	watcher=$!
	wait_for "$tmp/watch.out" ready
}

unwatch() {
	{ kill $watcher && wait $watcher; } 2>/dev/null
	true
}

# for_another KIND: in a copy of the program, which nobody else runs.
for_another() {
	watch_returns "$tmp/ends" throws "$1" $$ || return 1
	ends=$tmp/ends
	second=$(objdump -d --no-show-raw-insn --disassemble=throws "$ends" |
		awk '/>:$/ { first = $1 } /^ +[0-9a-f]+:\t/ && ++n == 2 { sub(":", "", $1); print first, $1 }')
	second=$((0x${second#* } - 0x${second% *}))
	refused -t throws
	status=$?
	cp "$tmp/err" "$tmp/refused"
	refused -t throws --attach-via perf_uprobe
	perf_status=$?
	run_ends -t "throws+$second" --max-hits 1 && run_ends -t recurse --max-hits 1
	free_status=$?
	unwatch
	says "$tmp/refused" "of process $watcher watches returns of throws" && says "$tmp/refused" "for process $$: " || return 1
	[ "$status $perf_status $free_status" = '0 0 0' ] && run_ends -t throws --max-hits 1
}

# for_itself KIND [PID]: its returns are watched already, so a probe changes nothing.
for_itself() {
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	"$tmp/server" <>"$tmp/in" >"$tmp/server.out" 2>&1 &
	target=$!
	wait_for "$tmp/server.out" ready && watch_returns "$tmp/server" handle "$1" "${2:-$target}" || return 1
	"$trailcam" attach -v --source none -t handle -o "$tmp/s.fxt.gz" -p $target 2>"$tmp/err" &
	tracer=$!
	wait_for "$tmp/err" 'debug: attached' && echo work >"$tmp/in" && wait $tracer
	status=$?
	echo quit >"$tmp/in"
	wait $target
	unwatch
	[ $status -eq 0 ] && says "$tmp/err" '1 hit'
}

cp "$programs/ends" "$programs/server" "$tmp"
if "$programs/foreign_probe" "$tmp/ends" throws session $$ </dev/null >"$tmp/try" 2>&1; then
	check 'beside a return link for another process a probe is refused' for_another return
	check '... and beside a session' for_another session
	check '... not beside one for the same process' for_itself session
	check '... nor beside one for all processes' for_itself return 0
else
	skip 'return links of others' "$(cat "$tmp/try")"
fi

go_program() {
	command -v go >/dev/null && cp tests/programs/src/deep.go "$tmp" &&
		(cd "$tmp" && GOCACHE=$tmp/cache GOFLAGS=-mod=mod go build -o deep deep.go) && "$tmp/deep" >"$tmp/native"
}

go_calls() {
	"$trailcam" run --source none --keep-recording "$tmp/go" -o "$tmp/t.fxt.gz" "$@" -- "$tmp/deep" >"$tmp/out" 2>"$tmp/err" &&
		diff "$tmp/native" "$tmp/out" && "$trailcam" dump --hits "$tmp/go" >"$tmp/hits"
}

goroutines() {
	go_calls -t main.outer --slower-than 25ms && hits_are arg0 0x104 || return 1
	rm -rf "$tmp/go"
	# Each goroutine's stack has moved; none of the calls is lost.
	go_calls -t main.outer --when 'ret > 0 || arg0 == 0' --max-hits 20 && says "$tmp/err" '20 hits' && ! grep -q 'began before' "$tmp/err"
}
go_places() {
	rm -rf "$tmp/go"
	go_calls --from main.outer --to main.deep --when 'arg0 == 260' --slower-than 25ms && hits_are arg0 0x104
}
if go_program; then
	check 'Go: --from and --to follow the goroutine' go_places
	rm -rf "$tmp/go"
	check 'Go: goroutines whose stacks move' goroutines
else
	skip 'Go: goroutines whose stacks move' 'go is not installed'
fi
finish
