#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --help of each command, the manual beside it, and the exit statuses that both document.
. tests/e2e/lib.sh
commands=$("$trailcam" __complete 1 trailcam '' | cut -f1)
sed 's/\\-/-/g; s/\\f[BIR]//g; s/^\.[A-Z]* //; s/"//g' docs/trailcam.1 >"$tmp/manual"

lists_commands() {
	status_is 0 "$trailcam" --help >"$tmp/out" || return 1
	for command in $commands; do says "$tmp/out" "  $command " || return 1; done
}
check 'trailcam --help has all commands' lists_commands

# $1 is a command, or two words: "memtrace dump"
begins_with_examples() {
	# shellcheck disable=SC2086
	status_is 0 "$trailcam" $1 --help >"$tmp/out" && sed -n '2,4p' "$tmp/out" | grep -q "^  trailcam $1" && grep -qi 'exit status' "$tmp/out"
}

is_in_manual() {
	says "$tmp/manual" "trailcam $1" >/dev/null || {
		echo "the manual does not have $1"
		return 1
	}
	# shellcheck disable=SC2086
	for option in $("$trailcam" __complete "$(($(echo "$1" | wc -w) + 1))" trailcam $1 -- | cut -f1 | grep -vE '^--(help|usage)$'); do
		says "$tmp/manual" "$option" >/dev/null || {
			echo "the manual does not have $option"
			return 1
		}
	done
}

{
	echo "$commands"
	"$trailcam" __complete 2 trailcam memtrace '' | cut -f1 | sed 's/^/memtrace /'
} >"$tmp/commands"
while read -r command; do
	check "$command --help begins with examples, and ends with the exit status" begins_with_examples "$command"
	check "$command and its options are in the manual" is_in_manual "$command"
done <"$tmp/commands"

# --- exit statuses; bad_input.sh and run.sh have more of those of run
o=$tmp/x.fxt
exits_with() {
	wanted=$1
	shift
	status_is "$wanted" "$trailcam" "$@" >"$tmp/out" 2>&1 </dev/null || {
		cat "$tmp/out"
		return 1
	}
}
check 'run: the program'\''s own' exits_with 1 run --source none --on-signal USR2 -o "$o" -- false
check 'run: trailcam failed' exits_with 125 run --source step -o "$tmp/none/x.fxt" -- true
check 'run: wrong usage' exits_with 125 run
check 'run: cannot be executed' exits_with 126 run -o "$o" -- "$tmp"
check 'run: not found' exits_with 127 run -o "$o" -- "$tmp/none"
killed_with_it() {
	sh -c '"$0" run --source none --on-signal USR2 -o "$1" -- sh -c "kill -TERM \$\$"' "$trailcam" "$o" 2>/dev/null
	[ $? -eq 143 ]
}
check 'run: the program'\''s signal' killed_with_it
check 'attach: failed' exits_with 1 attach -p 4194305 -o "$o"
check 'attach: wrong usage' exits_with 2 attach
check 'probes: listed' exits_with 0 probes "$programs/wordcount" main
check 'probes: nothing matches' exits_with 1 probes "$programs/wordcount" no_such_function
check 'probes: wrong usage' exits_with 2 probes
check 'doctor: wrong usage' exits_with 2 doctor now
check 'decode: not a recording' exits_with 1 decode "$tmp" -o "$o"
check 'decode: wrong usage' exits_with 2 decode -o "$o"
check 'dump: not a recording' exits_with 1 dump --slices "$tmp"
check 'dump: wrong usage' exits_with 2 dump
check 'memtrace: not a trace' exits_with 1 memtrace stats "$programs/wordcount"
check 'memtrace: no command' exits_with 2 memtrace
check 'memtrace: no such command' exits_with 2 memtrace frobnicate
check 'memtrace: wrong usage' exits_with 2 memtrace stats
check 'no command' exits_with 2
check 'no such command' exits_with 2 frobnicate
# --- the manual as it is read
renders() {
	groff -man -Tutf8 -ww docs/trailcam.1 >"$tmp/rendered" 2>"$tmp/warnings" && [ ! -s "$tmp/warnings" ] || {
		cat "$tmp/warnings"
		return 1
	}
	! grep -nE '(^|[ .,(])\.[BIR]{1,2} ' "$tmp/rendered"
}
# In one section no option is described twice (that of memtrace has several commands).
describes_once() {
	awk '/^\.SH/ { section = $0 } /^\.TP/ { tag = 1; next } tag && section !~ /EXAMPLES|memtrace/ && /\\-\\-/ {
		option = $0; sub(/.*\\-\\-/, "", option); sub(/[^a-z\\-].*/, "", option)
		if (seen[section, option]++) { print section ": " option; bad = 1 }
	} { tag = 0 } END { exit bad }' docs/trailcam.1
}
if command -v groff >/dev/null; then
	check 'the manual has no macro in its text, and no warning' renders
else
	skip 'the manual as it is read' 'groff is not installed'
fi
check 'the manual describes each option once' describes_once
one_figure() {
	! grep -nE 'some (ten|fifty) thousand times|factor of some ten thousand' README.md docs/*.md docs/trailcam.1
}
check 'how slow stepping is: one figure' one_figure
finish
