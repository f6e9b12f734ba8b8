#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Programs whose calls are known by reading them, recorded and decoded: the trees in tests/golden/.
. tests/e2e/lib.sh

# Slices as an indented tree, in the order of their starts: a call before what it calls.
tree() {
	"$trailcam" dump --slices "$1" | grep -v '^#' | awk -F '\t' -v shift="${2:-0}" '
		{ name = $4; sub(/ \[inferred start time\]$/, "", name); sub(/\(.*/, "", name); printf "%*s%s\n", 2 * ($3 - shift), "", name }'
}

record() {
	"$trailcam" run --source step -o "$tmp/t.fxt" --keep-recording "$tmp/$1" -- "$programs/${2:-$1}" >/dev/null 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
}

calls_tree() {
	record calls && tree "$tmp/calls" >"$tmp/calls.tree" && diff "$tmp/calls.tree" tests/golden/calls.tree
}
check 'calls, recursion, tail call, call through a pointer, system call' calls_tree

# The part below total(), of the functions that the source names; a throw leaves the frames it unwinds.
throws_tree() {
	record throws throws-static || return 1
	tree "$tmp/throws" >"$tmp/all.tree"
	awk '/^ *shop::total$/ { base = match($0, /[^ ]/) - 1; on = 1; print substr($0, base + 1); next }
		on { depth = match($0, /[^ ]/) - 1; if (depth <= base) exit; print substr($0, base + 1) }' "$tmp/all.tree" |
		grep -E '^ *(shop::(total|checked_price|apple::price|broken::price)|__cxa_throw|__cxa_begin_catch)$' >"$tmp/throws.tree"
	diff "$tmp/throws.tree" tests/golden/throws.tree
}
check 'C++ exceptions unwind to the frame that catches' throws_tree

# However the pieces are decoded, the result is the same.
same_on_any_threads() {
	for threads in 1 2 8; do
		"$trailcam" decode --threads $threads -o "$tmp/$threads.tsv" "$tmp/throws" 2>/dev/null || return 1
		cmp "$tmp/1.tsv" "$tmp/$threads.tsv" || return 1
	done
	[ "$(wc -l <"$tmp/1.tsv")" -gt 1000 ]
}
check 'the same timeline on 1, 2 and 8 threads' same_on_any_threads
finish
