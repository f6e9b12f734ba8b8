#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The decoders on traces of a hundred million instructions: a compiler (conditional jumps, mostly), the same
# with CYC packets, and an interpreter (indirect jumps). The traces are made once and kept, and the results
# are added to a history.
# Usage: tests/bench/decoding.sh BUILD [OPTION...]	options of tests/bench/decoders.c
set -eu
build=$1
shift
dir=$build/bench
mkdir -p "$dir"
lackey=$build/tests/bench/lackey
cc1=$(gcc -print-prog-name=cc1)

# make NAME OPTION... PROGRAM...
make_trace() {
	name=$1
	shift
	[ -e "$dir/$name/data" ] || "$lackey" "$@"
}
[ -e "$dir/input.i" ] || cat user/stacks/rules*.c | gcc -E -std=gnu11 -D_GNU_SOURCE -I. -Iuser -I"$build" -xc - -o "$dir/input.i"
make_trace compiler -n 100000000 "$dir/compiler" "$cc1" -quiet -O2 -o /dev/null "$dir/input.i"
make_trace compiler-cyc -c -n 100000000 "$dir/compiler-cyc" "$cc1" -quiet -O2 -o /dev/null "$dir/input.i"
make_trace interpreter -n 80000000 "$dir/interpreter" /usr/bin/python3 tests/bench/work.py
"$build/tests/bench/decoders" -h "$dir/history.tsv" "$@" "$dir/compiler" "$dir/compiler-cyc" "$dir/interpreter"
echo "earlier results: $dir/history.tsv (time, trace, what, seconds: median, least, most)"
