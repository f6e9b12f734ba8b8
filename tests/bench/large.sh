#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A recording of 1 GB to .fxt.gz: time, processor time, peak memory, and the most that temporary files held.
# The recording is that of the compiler in decoding.sh, many times (tests/bench/repeat.c).
# Usage: tests/bench/large.sh BUILD [MB [OPTION...]]	options of `trailcam decode`
set -eu
build=$1
mb=${2:-1000}
[ $# -lt 2 ] || shift
shift
dir=$build/bench
compiler=$dir/compiler
if [ ! -e "$compiler/data" ]; then
	mkdir -p "$dir"
	cat user/stacks/rules*.c | gcc -E -std=gnu11 -D_GNU_SOURCE -I. -Iuser -I"$build" -xc - -o "$dir/input.i"
	"$build/tests/bench/lackey" -n 100000000 "$compiler" "$(gcc -print-prog-name=cc1)" -quiet -O2 -o /dev/null "$dir/input.i"
fi
size=$(stat -c %s "$compiler/data")
large=$dir/large-$mb
[ -e "$large/data" ] || "$build/tests/bench/repeat" $((mb * 1000000 / size + 1)) "$compiler" "$large"

# Temporary files have no names: they are seen among the open ones only.
export TMPDIR="$dir/tmp"
mkdir -p "$TMPDIR"
most=0
/usr/bin/time -f '%e s, %U + %S s of processors, %M KB of memory at most' \
	"$build/trailcam" decode "$@" "$large" -o "$dir/large.fxt.gz" &
timed=$!
while kill -0 $timed 2>/dev/null; do
	pid=$(pgrep -P $timed || echo $timed)
	now=$(find "/proc/$pid/fd" -lname "*$TMPDIR/*" -exec stat -L -c %b {} + 2>/dev/null | awk '{ n += $1 } END { print int(n / 2) }')
	[ "$now" -le "$most" ] || most=$now
	sleep 0.2
done
wait $timed
echo "$most KB in temporary files at most; .fxt.gz: $(stat -c %s "$dir/large.fxt.gz") bytes"
