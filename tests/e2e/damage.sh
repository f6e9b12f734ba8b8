#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# 1,000 random cuts and bit flips of a recording: each ends in a trace or in a sentence.
. tests/e2e/lib.sh

"$trailcam" run --source step -o "$tmp/t.fxt" --snapshot-size 16k --keep-recording "$tmp/rec" -- "$programs/wordcount" >/dev/null 2>&1
check 'recorded' test -s "$tmp/rec/data"
check '1,000 random damages' "$BUILD/tests/fuzz/damage" "$tmp/rec" 1000
cat "$tmp/check.out"

if bpf_missing; then
	skip 'random damages of samples' "$bpf_reason"
else
	"$trailcam" run --source samples -o "$tmp/s.fxt" --keep-recording "$tmp/samples" -- "$programs/wordcount" >/dev/null 2>&1
	check '1,000 random damages of samples' "$BUILD/tests/fuzz/damage" "$tmp/samples" 1000
	cat "$tmp/check.out"
fi

check 'both decoders, damaged 1,000 times' "$BUILD/tests/oracle/decoders" -d 1000 "$tmp/rec"

# --- what fuzzing has found: each target goes through its inputs

for target in perf_data perf_script jit_symbols kcore decoders fxt memtrace; do
	check "inputs for $target" "$BUILD/tests/fuzz/replay/$target" "tests/fuzz/corpus/$target"/*
done
finish
