#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# One line for each goal: whether it is met, the median of ratios taken by turns, their spread, and the bound.
# All that the benches print is in BUILD/bench/goals.log, and what they measured is added to
# BUILD/bench/history.tsv.
#
#	goals.sh BUILD
set -u
build=$1
mkdir -p "$build/bench"
log=$build/bench/goals.log
: >"$log"
export BENCH_HISTORY="$build/bench/history.tsv"

run() {
	"$@" 2>&1 | tee -a "$log" | sed -n 's/^goal //p; /^bench: /p'
}
run tests/bench/decoding.sh "$build" -g -r 5
run tests/bench/picture.py "$build"
run tests/bench/page.py "$build"
run tests/bench/translate.sh "$build" -g
run "$build/tests/bench/sampling" -g
exit 0
