#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Programs that mark their own moments: user/trailcam.h in C and C++, in several files, stripped.
. tests/e2e/lib.sh

source_files() {
	cat >"$tmp/a.c" <<-EOF
		#include "trailcam.h"
		#include <stdio.h>
		void other(uint64_t start);
		int main(void) { trailcam_snapshot(0, 1); other(trailcam_mark_start()); puts("marked"); return 0; }
	EOF
	cat >"$tmp/b.c" <<-EOF
		#include "trailcam.h"
		void other(uint64_t start);
		void other(uint64_t start) { trailcam_snapshot(start, 2); }
	EOF
	cp "$tmp/a.c" "$tmp/a.cc" && cp "$tmp/b.c" "$tmp/b.cc"
}
source_files

# compiles COMPILER...: without a warning, to one copy of the indicator and one note.
compiles() {
	"$@" -Wall -Wextra -Wpedantic -Werror -I user -o "$tmp/a" && "$tmp/a" >"$tmp/out" && says "$tmp/out" marked || return 1
	[ "$(nm "$tmp/a" | grep -c ' trailcam_snapshot_indicator$')" -eq 1 ] &&
		[ "$(readelf -n "$tmp/a" | grep -c 'Name: snapshot')" -eq 1 ]
}
check 'gcc, C' compiles gcc -std=gnu11 -O2 "$tmp/a.c" "$tmp/b.c"
check 'gcc, C, not optimised, position-dependent' compiles gcc -std=gnu11 -no-pie "$tmp/a.c" "$tmp/b.c"
check 'clang, C' compiles clang -std=gnu11 -O2 "$tmp/a.c" "$tmp/b.c"
check 'g++, C++' compiles g++ -O2 "$tmp/a.cc" "$tmp/b.cc"
check 'static' compiles gcc -std=gnu11 -static -O2 "$tmp/a.c" "$tmp/b.c"

if bpf_missing; then
	skip 'hits of marks' "$bpf_reason"
	finish
fi

marked() {
	"$trailcam" run --source step --step-from main -t trailcam_snapshot_indicator --max-hits 2 --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- \
		"$programs/marks" >"$tmp/out" 2>"$tmp/err" || return 1
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	# The first has a beginning, the second none.
	[ "$(grep -c elapsed_ns "$tmp/hits")" -eq 1 ] && grep -q '^  arg1 0x2a$' "$tmp/hits" && grep -q '^  arg1 0x2b$' "$tmp/hits"
}
check 'a mark shows since when, and its value' marked

no_detour() {
	rm -rf "$tmp/rec"
	"$trailcam" run --source step -t trailcam_snapshot_indicator --multi-snapshot --step-log "$tmp/log" \
		--keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$programs/marks" >"$tmp/out" 2>"$tmp/err" || return 1
	cut -d' ' -f1,2 "$tmp/log" >"$tmp/truth"
	"$trailcam" dump --instructions "$tmp/rec" | grep -v gap | diff "$tmp/truth" - >"$tmp/diff" || return 1
	"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices"
	# The vDSO's clock is not stepped.
	awk -F '\t' '/uprobes/ || $4 == "[untraced]" && caller !~ /clock_gettime|gettimeofday/ { bad = 1; print }
		{ caller = $4 } END { exit bad }' "$tmp/slices"
}
check 'the probe itself does not show in the trace' no_detour

# children_live TRIGGER WHAT: those of a program with a probe do what they would have done, and are seen.
children_live() {
	"$trailcam" run --source none --follow-forks --max-hits 10000 -t "$1" -o "$tmp/t.csv" -- \
		"$programs/forks" "$2" >"$tmp/out" 2>"$tmp/err"
	says "$tmp/out" '0 of 200 children died' && says "$tmp/err" 'only 8000 hits'
}
check 'children of a program with marks live' children_live . marks
check 'children of a program with a probed nop of five bytes live' children_live five_byte_nop nop
strip -o "$tmp/stripped" "$programs/forks" && programs_kept=$programs && programs=$tmp && mv "$tmp/stripped" "$tmp/forks"
check 'marks of a stripped program' children_live . marks
programs=$programs_kept
finish
