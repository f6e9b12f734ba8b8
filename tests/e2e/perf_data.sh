#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A perf.data that perf recorded on real hardware, years ago: packets and sideband are what perf script -D
# says. Its programs are not here.
. tests/e2e/lib.sh
recording=${CORPUS:-../shared/corpus}/perf-data/intel_pt-4.14.perf.data

# Each packet by its offset; perf shows runs of PAD as one.
same_packets() {
	perf script -f -D -i "$recording" 2>/dev/null | awk '$1 == "." && length($2) == 9 && !/PAD/ { sub(":", "", $2); print $2 }' >"$tmp/theirs"
	"$trailcam" dump --packets "$recording" | awk '!/^#/ && $2 != "pad" { print substr($1, 9) }' >"$tmp/ours"
	[ "$(wc -l <"$tmp/theirs")" -gt 80000 ] && cmp "$tmp/theirs" "$tmp/ours"
}

same_tscs() {
	perf script -f -D -i "$recording" 2>/dev/null | sed -n 's/^\.  .* TSC 0x\([0-9a-f]*\)$/\1/p' >"$tmp/theirs"
	"$trailcam" dump --packets "$recording" | awk '$2 == "tsc" { print $3 }' >"$tmp/ours"
	[ "$(wc -l <"$tmp/theirs")" -gt 20 ] && cmp "$tmp/theirs" "$tmp/ours"
}

# Time, processor, what, and what of it perf prints.
same_sideband() {
	perf script -f -D -i "$recording" 2>/dev/null | sed -n 's/^\([0-9]*\) \([0-9]*\) 0x[0-9a-f]* \[0x[0-9a-f]*\]: PERF_RECORD_/\2 \1 /p' |
		sed -n -E \
			-e 's/ SWITCH(_CPU_WIDE)? (OUT|IN).*/ switch-\L\2/p' \
			-e 's,(MMAP2?) (-?[0-9]+)/([0-9]+): \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0).*\]: [-a-z]+ (.*),mmap \2 \3 \4 \5 \6 \7,p' \
			-e 's,COMM exec: (.*):([0-9]+)/([0-9]+),exec \2 \3 \1,p' -e 's,COMM: (.*):([0-9]+)/([0-9]+),comm \2 \3 \1,p' \
			-e 's/ITRACE_START pid: ([0-9]+) tid: ([0-9]+)/start \1 \2/p' -e 's/EXIT\(([0-9]+):([0-9]+)\).*/exit \1 \2/p' |
		sort >"$tmp/theirs"
	"$trailcam" dump --sideband "$recording" | sed -E 's/ cpu (-?[0-9]+)/ \1/; s/(switch-[a-z]*).*/\1/' | sort >"$tmp/ours"
	[ "$(wc -l <"$tmp/theirs")" -gt 200 ] && diff "$tmp/theirs" "$tmp/ours"
}

ends_in_gaps() {
	"$trailcam" decode -o "$tmp/trace.tsv" "$recording" 2>"$tmp/err" && grep -q 'gap: no code' "$tmp/trace.tsv" && says "$tmp/err" 'gaps'
}

if [ ! -r "$recording" ]; then
	skip "perf's own recording" "$recording is not there"
	finish
fi
check 'without its programs it ends in gaps, not in an error' ends_in_gaps
if command -v perf >/dev/null; then
	check 'the packets are those that perf shows' same_packets
	check 'the times in them, too' same_tscs
	check 'the sideband is what perf shows' same_sideband
else
	skip 'packets and sideband' 'perf is not installed (package linux-perf)'
fi
finish
