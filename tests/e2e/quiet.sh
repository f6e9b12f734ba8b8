#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# How much is said, and to whom: progress on a terminal, -q, and JSON for scripts.
. tests/e2e/lib.sh
exits=$programs/exits

# at_terminal COMMAND: what it says where stderr is a terminal, with a line for each time that the line was
# written.
at_terminal() {
	script -qec "$1" /dev/null </dev/null | tr '\r' '\n' >"$tmp/terminal"
}

waits="$trailcam run --source none -o $tmp/t.tsv --on-exit 9 -- sleep 3"
tells_progress() {
	at_terminal "$waits" && grep -q ' s; hit not reached' "$tmp/terminal" && says "$tmp/terminal" 'no hit: nothing is written'
}
is_cleared() {
	[ "$(grep -c 'trailcam: no hit' "$tmp/terminal")" -eq 1 ] && grep -q "^$(printf '\033')\[Ktrailcam: no hit\|^trailcam: no hit" "$tmp/terminal"
}
quiet_at_terminal() {
	at_terminal "$trailcam run -q --source none --on-exit 0 -o $tmp/t.tsv -- sleep 2" && [ ! -s "$tmp/terminal" ]
}
if command -v script >/dev/null; then
	check 'progress at a terminal' tells_progress
	check 'it is taken away' is_cleared
	check '-q: nothing at all' quiet_at_terminal
	steps_long() {
		script -qec "echo \$\$ >$tmp/pid; exec $trailcam run --source step -o $tmp/t.tsv -- sh -c 'while :; do :; done'" /dev/null </dev/null >"$tmp/terminal" &
		wait_until grep -q ' instructions, [0-9]* s' "$tmp/terminal"
		counted=$?
		kill -TERM "$(cat "$tmp/pid")" && wait $!
		return $counted
	}
	check 'instructions are counted while stepping' steps_long
else
	skip 'progress at a terminal' 'script is not installed'
fi
silent_in_a_pipe() {
	$waits 2>"$tmp/err" && [ "$(cat "$tmp/err")" = 'trailcam: no hit: nothing is written' ]
}
check 'in a pipe there is no progress' silent_in_a_pipe
quiet() {
	status_is 5 "$trailcam" run -q --source none --on-exit 5 -o "$tmp/t.tsv" -- "$exits" mark >/dev/null 2>"$tmp/err" && [ ! -s "$tmp/err" ] && [ -e "$tmp/t.tsv" ] &&
		status_is 125 "$trailcam" run -q -o "$tmp/none/t.tsv" -- true 2>"$tmp/err" && says "$tmp/err" 'cannot write'
}
check '-q: failures are said' quiet
says_version() {
	"$trailcam" version >"$tmp/version" && "$trailcam" --version | cmp - "$tmp/version" && grep -q '^trailcam [0-9]' "$tmp/version"
}
check 'version' says_version

# --- JSON
has() {
	python3 -c 'import json, sys; v = json.load(open(sys.argv[1])); assert eval(sys.argv[2]), v' "$tmp/json" "$1"
}
result() {
	"$trailcam" run --json "$tmp/json" "$@" -o "$tmp/t.tsv" -o "$tmp/t.fxt" --keep-recording "$tmp/rec" -- $program >/dev/null 2>&1
}
program_ended() {
	program=$programs/calls
	result --source step
	has 'v["end"] == "exited" and v["hits"] == 0 and len(v["files"]) == 2 and v["recording"].endswith("/rec") and v["source"] == "step"'
}
check 'run --json: the program ended' program_ended
to_standard_output() {
	"$trailcam" run --json - --source none --on-exit 0 -o "$tmp/t.tsv" -- true 2>/dev/null >"$tmp/json" && has 'v["end"] == "hit"'
}
check 'run --json: to standard output' to_standard_output
if ! bpf_missing; then
	was_hit() {
		program="$exits mark"
		result --source none -t marker
		has 'v["end"] == "hit" and v["trigger"] == "marker" and v["hits"] == 1'
	}
	check 'run --json: a hit' was_hit
fi

# --- probes
listed() {
	"$trailcam" probes --json "$exits" >"$tmp/json" && "$trailcam" probes "$exits" >"$tmp/text" &&
		has "len(v) == $(wc -l <"$tmp/text") and any(p['name'] == 'marker' and p['source'].endswith('exits.c') and p['line'] > 1 for p in v)"
}
check 'probes --json' listed
nothing_listed() {
	status_is 1 "$trailcam" probes --json "$exits" no_such_place >"$tmp/json" 2>"$tmp/err" && has 'v == []' && says "$tmp/err" 'matches'
}
check 'probes --json: nothing' nothing_listed
sleep 100 &
target=$!
wait_until_runs $target sleep
of_a_process() {
	"$trailcam" probes -p $target | grep -q 'main' && "$trailcam" probes -p $target 'mallo[c]' >"$tmp/text" && grep -q 'libc.so.6:malloc' "$tmp/text" &&
		"$trailcam" probes -p $target --json 'mallo[c]' >"$tmp/json" && has 'any(p["name"] == "libc.so.6:malloc" for p in v)' &&
		status_is 1 "$trailcam" probes -p $target no_such_place 2>"$tmp/err" && says "$tmp/err" "nothing in process $target"
}
check 'probes -p PID' of_a_process
kill $target
usage() {
	status_is 2 "$trailcam" probes 2>"$tmp/err" && says "$tmp/err" 'no file given' && status_is 2 "$trailcam" probes -p x 2>"$tmp/err" &&
		status_is 2 "$trailcam" probes a b c 2>"$tmp/err"
}
check 'probes: wrong usage' usage
exit "$([ "$failures" -eq 0 ] && echo 0 || echo 1)"
