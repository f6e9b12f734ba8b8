#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# view --tui, in a terminal of tmux's.
. tests/e2e/lib.sh
if ! command -v tmux >/dev/null; then
	skip 'view --tui' 'tmux is not installed'
	finish
fi
export LC_ALL=C.UTF-8
unset NO_COLOR
trap 'terminal kill-server 2>/dev/null; rm -rf "$tmp"' EXIT

terminal() {
	env -u TMUX tmux -S "$tmp/tmux.${opened:-0}" -f /dev/null "$@"
}

# open COLUMNS LINES COMMAND: in a new terminal, which stays.
open() {
	terminal kill-server 2>/dev/null
	opened=$((${opened:-0} + 1))
	terminal new-session -d -x "$1" -y "$2" "$3; echo \"exit status \$?\"; sleep 1000"
}

shown() {
	terminal capture-pane -p >"$tmp/shown"
}

shows() {
	shown && grep -qF -- "$1" "$tmp/shown"
}

# A screen may be seen while it is half drawn, and for how long is up to the machine: what is sought is waited for.
matches() {
	shown && grep -q -- "$1" "$tmp/shown"
}

keys() {
	terminal send-keys "$@"
}

# The rows of the tree as lines of "DEPTH NAME".
rows() {
	sed -n 's/^ *-\{0,1\}[0-9.]* [mun]\{0,1\}s[ ~] *[0-9.]* [mun]\{0,1\}s  //p' "$tmp/shown" | sed 's/  <== hit.*//' |
		awk '{ depth = match($0, /[^ ]/) - 1; is_folded = substr($0, depth + 1, 2) ~ /^[-+] /; sub(/^ *[-+]? +/, ""); print (is_folded ? depth : depth - 2) / 2, $0 }'
}

"$trailcam" run --source step --step-from main -t table_grow --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$programs/wordcount" >"$tmp/out" 2>&1

at_hit() {
	open 100 30 "$trailcam view --tui $tmp/rec" && wait_until shows '<== hit table_grow' || return 1
	# the calls before it, and what was passed to it
	wait_until shows 'hit 1 of 1: table_grow' && wait_until matches '^ *-[0-9.]* [mun]*s .* + next_word$' &&
		wait_until matches '^table_grow = table=0x'
}
check 'it opens at the hit' at_hit

# All rows, one below the other. A row for each object's function of a name, in the totals.
same_calls() {
	open 200 700 "$trailcam view --tui $tmp/rec" && wait_until shows 'hit table_grow' && keys g e && wait_until shows strcpy@plt || return 1
	"$trailcam" dump --slices "$tmp/rec" | awk -F'\t' '!/^#/ { print $3, $4 }' | sed 's/ \[inferred start time\]//' >"$tmp/truth"
	[ "$(wc -l <"$tmp/truth")" -gt 300 ] || return 1
	wait_until same_rows || diff "$tmp/rows" "$tmp/truth"
}
same_rows() {
	shown && rows >"$tmp/rows" && cmp -s "$tmp/rows" "$tmp/truth"
}
check 'unfolded, it has all calls of dump' same_calls

totals() {
	"$trailcam" dump --slices "$tmp/rec" | awk -F'\t' '!/^#/ { sub(/ \[inferred start time\]/, "", $4); cnt[$4]++ } END { for (name in cnt) print cnt[name], name }' |
		sort >"$tmp/truth"
	keys t s s && wait_until shows '[calls]' && wait_until same_totals || diff "$tmp/totals" "$tmp/truth"
}
same_totals() {
	shown && awk '/^ *[0-9.]+ [mun]?s +[0-9.]+ [mun]?s +[0-9]+  / { sub(/^ *[0-9.]+ [mun]?s +[0-9.]+ [mun]?s +/, ""); cnt[$2] += $1 } END { for (name in cnt) print cnt[name], name }' "$tmp/shown" | sort >"$tmp/totals" && cmp -s "$tmp/totals" "$tmp/truth"
}
check 'totals: each function as often as dump has it' totals

search() {
	open 100 30 "$trailcam view --tui $tmp/rec" && wait_until shows 'hit table_grow' && keys g / hash Enter && wait_until shows hash_word || return 1
	keys n n '?' print_no_such Enter
	wait_until shows 'no call of this thread has that in its name'
}
check 'search' search

slowest() {
	keys t && wait_until shows '[total]' && wait_until has_fifth && keys Down Down Down Down || return 1
	keys Enter && wait_until shows 'its slowest call' && wait_until has_line "$fifth"
}
has_fifth() {
	shown && fifth=$(awk 'NR == 7 && /^ *[0-9.]+ [mun]?s +[0-9.]+ [mun]?s +[0-9]+  / { print $NF }' "$tmp/shown") && [ -n "$fifth" ]
}
has_line() {
	shown && grep -qx -- "$1" "$tmp/shown"
}
check 'from a total to the slowest call' slowest

resized() {
	for size in 40,10 20,4 5,2 300,60; do
		terminal resize-window -x "${size%,*}" -y "${size#*,}"
		sleep 0.3
	done
	wait_until shows 'F1 help' && keys h && wait_until shows '<== hit table_grow' && keys q && wait_until shows 'exit status 0'
}
check 'any size' resized

threads() {
	"$programs/busy" "$tmp/busy" 2 &
	target=$!
	wait_until test -s "$tmp/busy" && "$trailcam" attach -p $target --source step --max-stall none --step-from rarely -t work --max-hits 20 \
		--keep-recording "$tmp/busy.rec" -o "$tmp/busy.fxt" >"$tmp/out" 2>&1
	kill $target
	wait $target
	cat "$tmp/out"
	open 100 30 "$trailcam view --tui $tmp/busy.rec" && wait_until shows 'hit 1 of ' || return 1
	before=$(sed -n 's/.* tid \([0-9]*\).*/\1/p' "$tmp/shown")
	keys Tab
	wait_until other_thread && keys BTab && wait_until shows "tid $before" && keys ']' && wait_until shows 'hit 2 of '
}
other_thread() {
	shown && [ "$(sed -n 's/.* tid \([0-9]*\).*/\1/p' "$tmp/shown")" != "$before" ]
}
check 'from thread to thread, and from hit to hit' threads

# The terminal is as it was.
terminated() {
	open 100 30 "trap : TERM; $trailcam view --tui $tmp/rec" && wait_until shows 'hit table_grow' || return 1
	kill -TERM "$(pgrep -f "^$trailcam view --tui $tmp/rec")"
	wait_until shows 'exit status 130' && ! shows table_grow
}
check 'SIGTERM' terminated

# A name is nothing that a terminal obeys.
hostile() {
	cp "$tmp/t.fxt" "$tmp/hostile.fxt"
	perl -pi -e 's/table_grow/t\e[31mgrow/g' "$tmp/hostile.fxt" # as long as before
	open 100 30 "$trailcam view --tui $tmp/hostile.fxt" && wait_until shows 't?[31mgrow'
}
check 'control characters in names' hostile

refuses() {
	status_is "$1" sh -c "$2" >"$tmp/out" 2>"$tmp/err" && says "$tmp/err" "$3"
}
check 'no terminal' refuses 1 "$trailcam view --tui $tmp/rec" '--tui needs a terminal as standard input and output'
check 'not with --output' refuses 2 "$trailcam view --tui -o $tmp/x.html $tmp/rec" 'give one of --output, --perfetto and --tui'
unknown_terminal() {
	open 100 30 "TERM=nothing $trailcam view --tui $tmp/rec" && wait_until shows 'exit status 1' && shows "the terminal 'nothing' is not known here"
}
check 'an unknown terminal' unknown_terminal
finish
