#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A program that runs natively up to a start point and is translated from there on. Single-stepping from the
# same place says what must be recorded.
. tests/e2e/lib.sh
if bpf_missing; then
	skip 'start points' "$bpf_reason"
	finish
	exit
fi

# from SOURCE ARGUMENT...: what is recorded from the start point on; addresses are the same each time.
from() {
	source=$1
	shift
	rm -rf "$tmp/$source"
	setarch -R timeout 500 "$trailcam" run -q --source "$source" --keep-recording "$tmp/$source" -o "$tmp/$source.fxt" "$@" \
		>"$tmp/$source.out" 2>"$tmp/$source.err" </dev/null
	status=$?
	"$trailcam" dump --branches --json "$tmp/$source" | sed 's/"time_ns":[0-9]*,*//; s/"p*tid":[0-9]*,*//g' >"$tmp/$source.branches"
	return $status
}

# same BRANCHES ARGUMENT...: the same branches as with step, at least so many; the same output and status.
same() {
	least=$1
	shift
	from step "$@"
	want=$?
	from translate "$@"
	[ $? -eq $want ] && diff "$tmp/step.out" "$tmp/translate.out" && [ "$(wc -l <"$tmp/translate.branches")" -ge "$least" ] &&
		cmp "$tmp/step.branches" "$tmp/translate.branches"
}
check 'every branch from the start point on' same 3000 --step-from main -- "$programs/wordcount"
check 'from the middle' same 500 --step-from table_grow -- "$programs/wordcount"
check 'exceptions of frames that began before' same 300 --step-from shop::checked_price -- "$programs/throws"
check 'coroutines' same 500 --step-from consumer -- "$programs/coroutines"
# The stepped thread executes the probed instruction before it stops, which the last line says.
up_to_a_hit() {
	same 100 --step-from table_find --skip 3 -t table_grow -- "$programs/wordcount"
	[ "$(wc -l <"$tmp/step.branches")" -eq "$(wc -l <"$tmp/translate.branches")" ] &&
		sed '$d' "$tmp/step.branches" >"$tmp/step.cut" && sed '$d' "$tmp/translate.branches" | cmp - "$tmp/step.cut"
}
check 'up to a hit' up_to_a_hit

# For each snapshot, the first call of next_word after another word that begins with t counts.
hits_of() {
	from "$1" --step-from hash_word --when '*(char *)arg0 == 116' -t next_word --print 'str(arg0)' --multi-snapshot --max-hits 4 -- "$programs/wordcount"
	"$trailcam" dump --hits "$tmp/$1" | grep 'value\|#'
}
armed() {
	hits_of step >"$tmp/step.hits"
	hits_of translate >"$tmp/translate.hits"
	[ "$(grep -c '#0.*next_word' "$tmp/translate.hits")" -eq 4 ] && diff "$tmp/step.hits" "$tmp/translate.hits"
}
check 'armed again for each snapshot' armed

# At the start point's own function, each second call is a hit.
same_place() {
	from translate --step-from next_word -t next_word --multi-snapshot --max-hits 4 -- "$programs/wordcount" &&
		[ "$("$trailcam" dump --hits "$tmp/translate" | grep -c '^hit')" -eq 4 ]
}
check 'a hit at the start point itself' same_place

unreached() {
	status_is 0 "$trailcam" run --source translate --step-from marker -o "$tmp/none.fxt" -- "$programs/exits" nothing >/dev/null 2>"$tmp/err" &&
		says "$tmp/err" 'the start point marker was never reached: nothing was traced'
}
check 'a start point that is never reached is said' unreached

chosen() {
	"$trailcam" run --step-from main -o "$tmp/chosen.fxt" -- "$programs/exits" nothing >/dev/null 2>"$tmp/err" &&
		says "$tmp/err" 'the program is translated from the start point on (--source translate)'
}
grep -qs . /sys/bus/event_source/devices/intel_pt/type || check 'run chooses it where there is no Intel PT' chosen

signals() {
	"$programs/exits" wait >"$tmp/wait.out" &
	target=$!
	wait_for "$tmp/wait.out" ready || return 1
	"$trailcam" attach -v --source translate -p $target --step-from libc.so.6:printf -o "$tmp/wait.fxt" --on-exit 6 2>"$tmp/err" &
	tracer=$!
	wait_for "$tmp/err" 'debug: attached' || return 1
	kill -TERM $target
	wait $target
	[ $? -eq 6 ] && wait $tracer && says "$tmp/wait.out" 'signal 15' && "$trailcam" dump --slices "$tmp/wait.fxt" | grep -q 'printf'
}
check 'attached: a signal before the start point' signals
finish
