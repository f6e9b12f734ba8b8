#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Traces of real Intel PT hardware as perf script's text, with the slices that magic-trace makes of them. Names, depth and order are the same, times to 1 ns (to 0.1 % above
# 10 us, where the expected ones are rounded). "[inferred start time]" is not compared: theirs says it of every frame open at the beginning.
. tests/e2e/lib.sh
corpus=${CORPUS:-../shared/corpus}/perf-script

# same NAME: each of our slices has one of theirs.
same() {
	"$trailcam" dump --slices "$corpus/$1.perf" >"$tmp/ours" || return 1
	sed 's/ \[inferred start time\]//' "$tmp/ours" | grep -v '^#' | cut -f1-4 >"$tmp/ours.tsv"
	sed 's/ \[inferred start time\]//' "$corpus/$1.slices.tsv" | grep -v '^#' >"$tmp/theirs.tsv"
	[ -s "$tmp/theirs.tsv" ] || return 1
	for side in ours theirs; do
		sort -t'	' -k3,3n -k4,4 -k1,1n -k2,2n "$tmp/$side.tsv" >"$tmp/$side.sorted"
	done
	paste "$tmp/theirs.sorted" "$tmp/ours.sorted" | awk -F'\t' '
		function near(a, b) {
			d = a > b ? a - b : b - a
			return d <= 1 || (b > 10000 && d <= b / 1000)
		}
		!near($5, $1) || !near($6, $2) || $3 != $7 || $4 != $8 { print "theirs " $1, $2, $3, $4 "; ours " $5, $6, $7, $8; bad = 1 }
		END { exit bad || !NR }'
}

# each_sample NAME: magic-trace begins a call of a sample anew wherever an address in it changes, and ours goes on with the
# call. So ours is compared with the text itself: at the time of each sample, its stack is open.
each_sample() {
	"$trailcam" dump --slices "$corpus/$1.perf" >"$tmp/ours" || return 1
	python3 - "$tmp/ours" "$corpus/$1.perf" <<'END'
import re, sys

rows = [line.rstrip('\n').split('\t') for line in open(sys.argv[1]) if not line.startswith('#')]
ours = [(int(r[0]), int(r[1]), int(r[2]), r[3].split(' [inferred')[0]) for r in rows]
samples, first = [], None
for block in open(sys.argv[2]).read().split('\n\n'):
    head = re.match(r'\d+/\d+ +(\d+)\.(\d{9}):', block)
    if head:
        time = int(head[1] + head[2])
        first = time if first is None else first
        samples.append((time - first, re.findall(r'^\s+[0-9a-f]+ (\S+)\+0x', block, re.M)[::-1]))
bad = 0
for time, stack in samples[:-1]:
    shown = [s[3] for s in sorted((s for s in ours if s[0] <= time < s[1]), key=lambda s: s[2])]
    if shown != stack:
        print(time, stack, shown)
        bad += 1
sys.exit(bad > 0 or len(samples) < 10)
END
}

# As magic-trace's writer shows it, the error ends every call and memmove begins anew. But memmove was called at 21 ns, overflowed inside itself, and returned at 141 ns to
# add_order, which had called it: the return address agrees, so that both calls go on through the gap. Expected by hand.
across_a_gap() {
	"$trailcam" dump --slices "$corpus/memmove_decode_error.perf" | cut -f1-4 >"$tmp/ours"
	cat >"$tmp/expected" <<'END'
# start_ns	end_ns	depth	name
0	141	0	itch_bbo::book::Book::add_order [inferred start time]
19	20	1	__memmove_avx_unaligned_erms
21	21	-1	[decode error: Overflow packet]
21	141	1	__memmove_avx_unaligned_erms
END
	diff "$tmp/expected" "$tmp/ours"
}

# The sink's file says the same as the dump.
same_in_a_file() {
	"$trailcam" decode "$corpus/simple_gogo.perf" -o "$tmp/x.fxt" 2>"$tmp/err" && says "$tmp/err" '16 calls in 1 thread' &&
		"$trailcam" decode "$corpus/simple_gogo.perf" -o "$tmp/x.tsv" 2>/dev/null &&
		"$trailcam" dump --slices "$corpus/simple_gogo.perf" | cmp - "$tmp/x.tsv"
}

between() {
	"$trailcam" decode --from runtime.mcall --to runtime.execute "$corpus/simple_gogo.perf" -o "$tmp/x.tsv" 2>/dev/null || return 1
	[ "$(grep -c 'inferred' "$tmp/x.tsv")" -eq 4 ] && [ "$(awk -F'\t' 'END { print NR, $1, $2, $4 }' "$tmp/x.tsv")" = '11 718 70845 runtime.schedule' ] ||
		cat "$tmp/x.tsv"
}

never() {
	status_is 1 "$trailcam" decode --from gopark --to nothing "$corpus/simple_gogo.perf" -o "$tmp/never.tsv" 2>"$tmp/err" &&
		says "$tmp/err" 'no call of gopark that a call of nothing follows' && [ ! -e "$tmp/never.tsv" ]
}

counted() {
	"$trailcam" decode "$corpus/demo_with_branch_misses.perf" -o "$tmp/x.fxt" 2>/dev/null && grep -qa 'branch-misses' "$tmp/x.fxt" &&
		grep -qa 'CPU frequency' "$tmp/x.fxt"
}

if [ -d "$corpus" ]; then
	for name in ocaml_exceptions simple_gogo hello_world_userspace demo_with_branch_misses; do
		check "$name: the slices of magic-trace" same "$name"
	done
	check 'ocaml_demo_sampling: the stack of each sample' each_sample ocaml_demo_sampling
	check 'memmove_decode_error: calls go on through a gap' across_a_gap
	check 'a file holds what the dump shows' same_in_a_file
	check '--from and --to' between
	check '--from that is never called' never
	check 'counted events become counters' counted
else
	skip 'slices of real traces' "$corpus is not there"
fi
finish
