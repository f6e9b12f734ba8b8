#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A signal before the recording begins ends trailcam by that signal, with a sentence. Nothing is written, a program has
# not run, and a target goes on as before. A pipe that nobody reads holds trailcam up meanwhile (--step-log).
. tests/e2e/lib.sh
ours=
trap 'kill_ours $ours; wait 2>/dev/null; rm -rf "$tmp"' EXIT
mkfifo "$tmp/log"

has_worker() {
	grep -q . "/proc/$1/task/$1/children"
}

# ended_early SIGNAL NUMBER ARGUMENT...: trailcam, while it is held up.
ended_early() {
	sent=$1 number=$2
	shift 2
	env --default-signal=INT,QUIT "$trailcam" "$@" >"$tmp/out" 2>"$tmp/err" &
	front=$!
	ours="$ours $front"
	wait_until has_worker $front || return 1
	worker=$(cat /proc/$front/task/$front/children)
	kill -"$sent" $front
	wait $front
	[ $? -eq $((128 + number)) ] || return 1
	grep -v 'warning: single-stepping' "$tmp/err" >"$tmp/said"
	echo "trailcam: ended by SIG$sent before the recording began: nothing is written" | cmp - "$tmp/said" &&
		[ ! -e "$tmp/t.tsv" ] && [ ! -s "$tmp/out" ] && wait_until [ ! -e "/proc/${worker% }" ]
}

run_ends() {
	for signal in INT:2 TERM:15 HUP:1 QUIT:3; do
		ended_early ${signal%:*} ${signal#*:} run --source step --step-log "$tmp/log" -o "$tmp/t.tsv" -- touch "$tmp/touched" || return 1
	done
	[ ! -e "$tmp/touched" ]
}
check 'run: the program does not run' run_ends

has_worked() {
	[ "$(od -An -v -t u8 -N 8 "$tmp/busy")" != "$1" ]
}
attach_ends() {
	"$programs/busy" "$tmp/busy" 2 &
	target=$!
	ours="$ours $target"
	wait_until test -s "$tmp/busy" || return 1
	for signal in INT:2 TERM:15 HUP:1 QUIT:3; do
		ended_early ${signal%:*} ${signal#*:} attach --source step --step-log "$tmp/log" -o "$tmp/t.tsv" -p $target || return 1
	done
	untraced "$target" || return 1
	before=$(od -An -v -t u8 -N 8 "$tmp/busy")
	wait_until has_worked "$before"
}
check 'attach: the target goes on' attach_ends
finish
