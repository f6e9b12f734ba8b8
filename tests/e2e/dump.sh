#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# dump --json says what dump says.
. tests/e2e/lib.sh

# Lost packets make gaps.
"$trailcam" run --source step --step-from main --step-overflow 3000 -t table_grow --max-hits 2 --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- \
	"$programs/wordcount" >"$tmp/out" 2>&1

same() {
	"$trailcam" dump --$1 "$tmp/rec" >"$tmp/text" && "$trailcam" dump --$1 --json "$tmp/rec" >"$tmp/json" && [ -s "$tmp/text" ] &&
		python3 tests/e2e/dump.py $1 "$tmp/text" "$tmp/json"
}
for view in branches slices hits; do
	check "--$view --json" same $view
done
refuses() {
	status_is 2 "$trailcam" dump --json "$@" "$tmp/rec" >"$tmp/out" 2>"$tmp/err" && says "$tmp/err" '--json is for --branches, --slices and --hits'
}
check '--json of what is text only' refuses --packets
no_room() {
	status_is 1 "$trailcam" dump --slices "$tmp/rec" >/dev/full 2>"$tmp/err" && says "$tmp/err" 'cannot write to standard output' &&
		status_is 1 "$trailcam" dump --slices --json "$tmp/rec" >/dev/full 2>"$tmp/err" && says "$tmp/err" 'cannot write to standard output'
}
check 'no room' no_room
finish
