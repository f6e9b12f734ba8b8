#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Real inputs for a fuzz target to begin with, as far as they are to be had here.
# Usage: tests/fuzz/seeds.sh TARGET DIR
corpus=${CORPUS:-../shared/corpus}
case $1 in
perf_data)
	build/fuzz/trailcam run --source step --snapshot-size 4k -o "$2.fxt" --keep-recording "$2.rec" -- \
		build/fuzz/tests/programs/exits >/dev/null 2>&1
	cp "$2.rec/data" "$2/recording"
	build/fuzz/trailcam run --source samples -o "$2.fxt" --keep-recording "$2.packed" -- build/fuzz/tests/programs/exits >/dev/null 2>&1 &&
		cp "$2.packed/data" "$2/packed"
	perf record -q -e cpu-clock:u,page-faults:u -c 20000 --call-graph dwarf,128 -B -N -o "$2/samples" build/fuzz/tests/programs/exits none >/dev/null 2>&1
	head -c 60000 "$corpus/perf-data/intel_pt-4.14.perf.data" >"$2/perf" 2>/dev/null
	;;
fxt)
	build/fuzz/trailcam run --source step --snapshot-size 4k -o "$2/trace.fxt" -- build/fuzz/tests/programs/exits >/dev/null 2>&1
	;;
perf_script)
	for text in "$corpus"/perf-script/*.perf; do
		head -40 "$text" >"$2/$(basename "$text")"
	done
	;;
memtrace)
	head -c 60000 "$corpus/memtrace/ocamlopt.ctf" >"$2/ocamlopt" 2>/dev/null
	;;
esac
exit 0
