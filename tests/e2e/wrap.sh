#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A ring so small that it wraps hundreds of times, and overflows: what is left is exact.
. tests/e2e/lib.sh

record() {
	"$trailcam" run --source step --step-log "$tmp/log" --keep-recording "$tmp/rec" -o "$tmp/t.fxt" "$@" \
		>/dev/null 2>"$tmp/err"
	[ -e "$tmp/rec/data" ] || cat "$tmp/err"
}

# The ring's bytes end at this number of the stream; it holds 4096.
wraps() {
	end=$("$trailcam" dump --packets "$tmp/rec" | sed -n '1s/.*bytes \([0-9]*\) from \([0-9]*\)/\1 \2/p')
	# shellcheck disable=SC2086
	set -- $end
	[ "$1" -eq 4096 ] && [ $((($1 + $2) / 4096)) -ge 100 ] || {
		echo "$end"
		return 1
	}
}

exact_suffix() {
	awk '{ print $1, $2 }' "$tmp/log" >"$tmp/truth"
	cnt=$(wc -l <"$1")
	[ "$cnt" -gt 1000 ] && tail -n "$cnt" "$tmp/truth" | cmp - "$1"
}

check 'recorded' record --snapshot-size 4k -- "$programs/dense" "$programs/hot-static" 20
check 'the ring has wrapped at least a hundred times' wraps
libipt_suffix() {
	"$trailcam" dump --instructions "$tmp/rec" >"$tmp/libipt"
	exact_suffix "$tmp/libipt"
}
check 'libipt decodes an exact suffix' libipt_suffix
perf_suffix() {
	perf script -f -i "$tmp/rec" --itrace=i1i -F tid,ip 2>/dev/null | awk '{ print $1, $2 }' >"$tmp/perf"
	exact_suffix "$tmp/perf"
}
if command -v perf >/dev/null; then
	check 'perf decodes an exact suffix' perf_suffix
else
	skip 'perf decodes an exact suffix' 'perf is not installed (package linux-perf)'
fi
no_gap() {
	"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices" && ! grep -F '[gap' "$tmp/slices"
}
check 'no gap' no_gap
rm -rf "$tmp/rec"

# --- overflows: gaps are where instructions were lost, and nowhere else

check 'recorded with overflows' record --snapshot-size 64M --step-overflow 3000 -- "$programs/wordcount"
exact_but_lost() {
	grep -v lost "$tmp/log" | cut -d' ' -f1,2 >"$tmp/truth"
	"$trailcam" dump --instructions "$tmp/rec" | grep -v gap | cmp - "$tmp/truth"
}
check 'exactly the lost instructions are missing' exact_but_lost
gap_for_each_loss() {
	losses=$(awk '/lost/ { if (!was) n++; was = 1; next } { was = 0 } END { print n }' "$tmp/log")
	gaps=$("$trailcam" dump --slices "$tmp/rec" | grep -c '\[gap: overflow')
	[ "$losses" -gt 10 ] && [ "$gaps" -eq "$losses" ] || {
		echo "$losses losses, $gaps gaps"
		return 1
	}
}
check 'each loss is one gap in the timeline' gap_for_each_loss
finish
