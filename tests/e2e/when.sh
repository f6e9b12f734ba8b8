#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# When a firing is a hit: conditions, durations, counts, signals, exit statuses; one snapshot or several.
. tests/e2e/lib.sh
cp "$programs/rules-static" "$tmp/rules" && rules=$tmp/rules

# run_rules STATUS OPTION...: runs the program, which calls work(0) ... work(7), with arguments $args; keeps
# the recording in $tmp/rec.
args=
from='--source step'
run_rules() {
	wanted=$1
	shift
	rm -rf "$tmp/rec" "$tmp/t.fxt.gz"
	# shellcheck disable=SC2086
	"$trailcam" run $from --keep-recording "$tmp/rec" -o "$tmp/t.fxt.gz" "$@" -- "$rules" $args >"$tmp/out" 2>"$tmp/err" </dev/null
	got=$?
	[ $got -eq "$wanted" ] || {
		echo "exit status $got, not $wanted"
		cat "$tmp/err"
		return 1
	}
}

# hit_args VALUE...: the hits are calls with these first arguments (hexadecimal).
hit_args() {
	"$trailcam" dump --hits "$tmp/rec" | awk '$1 == "arg0" { print $2 }' >"$tmp/args"
	printf '0x%s\n' "$@" | diff - "$tmp/args"
}

# --- crashes: no privilege is needed

on_signal() {
	args='crash' && run_rules 139 --on-signal SIGSEGV
	says "$tmp/err" 'hit SIGSEGV' || return 1
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	grep -q '#0 0x[0-9a-f]* crash+0x' "$tmp/hits" && grep -q '#1 0x[0-9a-f]* main+0x' "$tmp/hits" &&
		grep -q '^  rdi 0x0$' "$tmp/hits" || return 1
	"$trailcam" dump --slices "$tmp/rec" | tail -1 | cut -f 4 >"$tmp/last"
	says "$tmp/last" crash
}
check '--on-signal: what led up to the crash, ending in it' on_signal

other_signal() {
	args='crash' && run_rules 139 --on-signal SIGBUS,15
	says "$tmp/err" 'no hit: nothing is written' && [ ! -e "$tmp/t.fxt.gz" ] && [ ! -e "$tmp/rec" ]
}
check '--on-signal: another signal writes nothing' other_signal

on_exit() {
	args='exit 5' && run_rules 5 --on-exit 3,nonzero && says "$tmp/err" 'hit exit 5' && test -s "$tmp/t.fxt.gz"
}
check '--on-exit: the status was asked for' on_exit

# The hit comes after the end: what the process was in is known from its calls.
has_ended() {
	"$trailcam" report "$tmp/rec" >"$tmp/report" && says "$tmp/report" 'had ended: there are no registers' &&
		grep -q '#0  *-  *_exit$' "$tmp/report" && ! says "$tmp/report" 'rip '
}
check '--on-exit: no registers, and the calls that led to the end' has_ended

other_exit() {
	echo before >"$tmp/kept.fxt.gz"
	"$trailcam" run --on-exit nonzero -o "$tmp/kept.fxt.gz" -- true 2>"$tmp/err" &&
		says "$tmp/err" 'nothing is written' && says "$tmp/kept.fxt.gz" before
}
check '--on-exit: another status leaves the last trace as it is' other_exit

refused() {
	"$trailcam" run "$@" -- true >/dev/null 2>"$tmp/err"
	[ $? -eq 125 ]
}

refusals() {
	refused -t main --when 'arg0 > 1 && argv = 3' && grep -q '^  arg0 > 1 && argv = 3$' "$tmp/err" &&
		grep -q '^                   ^$' "$tmp/err" && says "$tmp/err" "write '=='" || return 1
	refused --when 'arg0 > 1' && says "$tmp/err" 'name one with -t' || return 1
	refused --max-hits 2 && says "$tmp/err" '--freeze and --spin need a trigger' || return 1
	refused -t main --max-hits 0 && says "$tmp/err" '--max-hits: 0' || return 1
	refused -t main --slower-than 5 && says "$tmp/err" 'such as 5ms' || return 1
	refused --on-signal SIGFOO && says "$tmp/err" "no signal 'SIGFOO'" || return 1
	refused --on-signal KILL && says "$tmp/err" 'cannot wait for SIGKILL' || return 1
	refused --on-exit 256 && says "$tmp/err" 'not an exit status'
}
check 'what makes no sense is refused, with the place in a condition' refusals

args=
if bpf_missing; then
	skip 'rules of triggers' "$bpf_reason"
finish
fi

# The program's start is of no interest here.
from='--source step --step-from main'

when() {
	run_rules 0 -t work --when 'arg0 == 6' && hit_args 6
}
check '--when: arguments' when

when_text() {
	run_rules 0 -t work --when 'str(arg1) == "th*" && comm == "rules"' && hit_args 3
}
check '--when: text in memory that is not there yet' when_text

when_return() {
	run_rules 0 -t work --when 'ret == -1 && arg0 > 4' && hit_args 5 || return 1
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	grep -q '^  rax 0xffffffffffffffff$' "$tmp/hits" && grep -q '#0 0x[0-9a-f]* main+0x' "$tmp/hits" || return 1
	# The call has ended.
	"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices"
	[ "$(cut -f 4 "$tmp/slices" | grep -cx work)" -eq 6 ] && ! grep -q '\[gap' "$tmp/slices"
}
check '--when: the return value, with the arguments it was called with' when_return

# The call that returned is over, and its caller is not; so it is in a trace that is read again.
return_is_over() {
	for trace in "$tmp/rec" "$tmp/t.fxt.gz"; do
		"$trailcam" report "$trace" >"$tmp/report" || return 1
		grep -qE '^ +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s\+ +main$' "$tmp/report" &&
			[ "$(grep -E '[mu]?s\+? +work$' "$tmp/report" | tail -1 | grep -c 's+ ')" = 0 ] || return 1
	done
}
from='--source step'
run_rules 0 -t work --when 'ret == -1 && arg0 > 4' >/dev/null
from=
check 'a hit at a return: the call is over' return_is_over

unreadable() {
	run_rules 0 -t work --when '*(int *)arg0 == 1' && says "$tmp/err" 'could not be evaluated' &&
		says "$tmp/err" 'no hit, the program ended'
}
check '--when: memory that is not there is said' unreadable

slower() {
	run_rules 0 -t work --slower-than 50ms && hit_args 5 || return 1
	"$trailcam" dump --hits "$tmp/rec" | awk '$1 == "elapsed_ns" { exit $2 < 50000000 }'
}
check '--slower-than: the call that took long' slower

skip_some() {
	run_rules 0 -t work --skip 3 && hit_args 3
}
check '--skip' skip_some

max_hits() {
	run_rules 0 -t work --max-hits 3 && hit_args 0 1 2 && says "$tmp/err" '3 hits, the last of work'
}
check '--max-hits: the last one ends the recording, all are marked' max_hits

every() {
	run_rules 0 -t work --every 100s --max-hits 3 && hit_args 0 && says "$tmp/err" '7 hits of work were left out' &&
		says "$tmp/err" 'only 1 hits'
}
check '--every: others are left out and counted' every

own_rules() {
	run_rules 0 --max-hits 2 -t work --when 'arg0 == 1' -t recurse --when 'arg0 == 2' &&
		"$trailcam" dump --hits "$tmp/rec" | grep '^  trigger' >"$tmp/names" && hit_args 1 2 &&
		printf '  trigger work\n  trigger recurse\n' | diff - "$tmp/names"
}
check 'a rule is for the trigger before it' own_rules

recursion() {
	run_rules 0 -t recurse --when 'ret == arg0 && ret == 5' && hit_args 5
}
check 'recursive calls are told apart' recursion

# Snapshots share nothing: the work() of each hit is in one of its own.
from='--source step'
multi() {
	run_rules 0 -t work --multi-snapshot --max-hits 5 && hit_args 0 1 2 3 4 && says "$tmp/err" '5 snapshots' || return 1
	"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices"
	[ "$(grep -c 'gap: next snapshot' "$tmp/slices")" -eq 4 ]
}
check '--multi-snapshot: one for each hit, up to the limit' multi

# The last of them is the program's end; together they hold every instruction but those between two.
multi_all() {
	run_rules 0 -t work --multi-snapshot --step-log "$tmp/log" && says "$tmp/err" '9 snapshots' && says "$tmp/out" 'sum 13' || return 1
	"$trailcam" dump --instructions "$tmp/rec" | grep -v gap >"$tmp/insns"
	cut -d' ' -f1,2 "$tmp/log" | diff - "$tmp/insns" >"$tmp/diff"
	[ ! -s "$tmp/diff" ] || {
		head "$tmp/diff"
		return 1
	}
}
check '--multi-snapshot: no instruction is lost' multi_all

# parts FIRST LAST: a file for each snapshot. Those from FIRST to LAST have one hit each, calls with these first
# arguments, within their slices; together they have the calls of all.
parts() {
	rm -f "$tmp"/part-*
	"$trailcam" decode --split -o "$tmp/part.fxt" "$tmp/rec" 2>"$tmp/err" && "$trailcam" dump --slices "$tmp/rec" | grep -c '	work	' >"$tmp/all" || return 1
	for part in "$tmp"/part-*.fxt; do
		"$trailcam" dump --hits "$part" >"$tmp/hits" && "$trailcam" dump --slices "$part" >"$tmp/slices" || return 1
		grep '	work	' "$tmp/slices" >>"$tmp/part-calls"
		awk 'NR == FNR { if (FNR > 1 && $3 >= 0) { if (n++ == 0) first = $1; if ($2 > last) last = $2 } next }
			$1 == "time_ns" && ($2 < first || $2 > last) { print "not within " first " to " last ": " $0 }
			$1 == "arg0" { print $2 }' "$tmp/slices" "$tmp/hits" >>"$tmp/part-args"
	done
	seq -f '0x%g' "$1" "$2" | diff - "$tmp/part-args" && wc -l <"$tmp/part-calls" | diff - "$tmp/all"
}

multi_split() {
	parts 0 7 && [ -s "$tmp/part-9.fxt" ] && [ ! -e "$tmp/part-10.fxt" ] && says "$tmp/err" 'part-1.fxt to ' || return 1
	status_is 2 "$trailcam" decode --split -o - "$tmp/rec" 2>"$tmp/err" >"$tmp/out" && says "$tmp/err" 'name them with -o FILE'
}
check '--split: a file for each snapshot, and the program'"'"'s end' multi_split

multi_split_translated() {
	from_before=$from from='--source translate'
	run_rules 0 -t work --multi-snapshot --max-hits 5
	ended=$?
	from=$from_before
	[ $ended -eq 0 ] && parts 0 4
}
check '--split: of a translated program' multi_split_translated

multi_room() {
	run_rules 0 -t work --multi-snapshot --max-size 64 && says "$tmp/err" '1 snapshots have reached --max-size'
}
check '--multi-snapshot: ends where the room for it ends' multi_room

multi_threads() {
	"$trailcam" run --source step -t thread_main --multi-snapshot --keep-recording "$tmp/threads" -o "$tmp/t.fxt.gz" -- \
		"$programs/torture" probed >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && says "$tmp/out" 'threads 33' && says "$tmp/err" '4 snapshots' || {
		cat "$tmp/err"
		return 1
	}
}
check '--multi-snapshot: with threads and signals' multi_threads
# --- without a branch trace: hits only, at full speed

# stopped_by TEXT OPTION...: the hit is noted, the program runs on to its end.
stopped_by() {
	text=$1
	shift
	from='' && run_rules 0 -v --source none -t work --when 'arg0 == 5' "$@" && hit_args 5 && says "$tmp/out" 'sum 13' &&
		grep -q "stopped by $text.*, [0-9]* ns after it" "$tmp/err" || return 1
	"$trailcam" dump --hits "$tmp/rec" | grep -q '^  trace_stopped_after_ns [0-9]'
}
check '--source none: woken by the hit' stopped_by 'a reader that was woken'
check '--source none: --spin' stopped_by 'a spinning reader' --spin
check '--source none: --freeze' stopped_by 'SIGSTOP from BPF' --freeze
check '--source none: --freeze and --spin' stopped_by 'SIGSTOP from BPF' --freeze --spin

none_multi() {
	from='' && run_rules 0 --source none --freeze --multi-snapshot -t work && hit_args 0 1 2 3 4 5 6 7 && says "$tmp/out" 'sum 13'
}
check '--source none: every hit freezes, and the program goes on' none_multi

none_max() {
	from='' && run_rules 0 --source none --max-hits 3 -t work && hit_args 0 1 2
}
check '--source none: no hit behind the last that was asked for' none_max

none_signal() {
	args=usr1 && run_rules 138 --source none --on-signal SIGUSR1 && args= && says "$tmp/err" 'hit SIGUSR1'
}
check '--source none: signals' none_signal
finish
