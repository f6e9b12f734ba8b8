#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What programs seldom do: each says the same, and ends as without us, whatever traces it.
. tests/e2e/lib.sh
odd=$programs/odd-static
check "the program is there" test -x "$odd"

# same WHAT OPTION...
same() {
	what=$1
	shift
	timeout 600 "$odd" "$what" >"$tmp/free"
	free=$?
	timeout 600 "$trailcam" run -o "$tmp/t.tsv" "$@" -- "$odd" "$what" >"$tmp/traced" 2>"$tmp/err"
	status=$?
	[ $status -eq $free ] && diff "$tmp/free" "$tmp/traced" || {
		echo "exit status $status, not $free"
		cat "$tmp/err"
		return 1
	}
}

for what in flags trapflag ignored blocked suspended clock exec; do
	check "$what: stepped" same $what --source step
done
for what in flags traceme attach; do
	check "$what: stepped, with its children" same $what --source step --follow-forks
done
check 'a child that the program traces is let go, which is told' says "$tmp/err" 'is traced by the program itself'

# Its loop, begun anew whenever the timer ticks, is not stepped; the calls of it are complete.
clock_is_left_out() {
	same clock --source step --step-log "$tmp/clock.log" --keep-recording "$tmp/clock" || return 1
	"$trailcam" dump --instructions "$tmp/clock" | cut -d' ' -f1,2 >"$tmp/clock.insn"
	cut -d' ' -f1,2 "$tmp/clock.log" | diff - "$tmp/clock.insn" | head -5 | grep . && return 1
	[ "$(cut -f4 "$tmp/t.tsv" | grep -c '^\[untraced')" -ge 601 ] && ! grep -F '[gap' "$tmp/t.tsv" &&
		[ "$(cut -f4 "$tmp/t.tsv" | grep -c '^odd_clock$')" -eq 1 ]
}
check 'the clock is read without being stepped' clock_is_left_out

# let_go: at any moment, from a program that loads flags.
let_go() {
	"$odd" loop >"$tmp/free" &
	wait $!
	for _ in 1 2 3; do
		: >"$tmp/loop"
		"$odd" loop >"$tmp/loop" &
		target=$!
		wait_for "$tmp/loop" ready || return 1
		# What a script starts in the background ignores SIGINT otherwise.
		env --default-signal=INT timeout -s INT 1 "$trailcam" attach --source step -o "$tmp/t.tsv" -p $target 2>"$tmp/err"
		wait $target || return 1
		says "$tmp/loop" 'end' && diff "$tmp/free" "$tmp/loop" || return 1
	done
}
check 'a program that loads flags and ignores SIGTRAP is let go at any moment' let_go

odd=$programs/odd
if bpf_missing; then
	skip 'a probe where another thread executes a program' "$bpf_reason"
else
	for link in uprobe_multi perf_uprobe; do
		check "exec: a probe that $link has put into the new program hits" same exec --source none -t write --attach-via $link
		check 'it has' says "$tmp/err" 'hit write'
		check 'traceme: at full speed, with its children' same traceme --source none --follow-forks -t getsid --attach-via $link
	done
fi
finish
