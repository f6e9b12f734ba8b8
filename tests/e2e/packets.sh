#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Packet sequences written by hand (tests/oracle/packets.c): both decoders and perf give the instructions that
# they tell of.
. tests/e2e/lib.sh

"$PWD/$BUILD/tests/oracle/packets" "$tmp" >"$tmp/names" || echo 'not ok - the sequences are written'
same() {
	"$trailcam" dump --instructions "$tmp/$1" | grep -v gap | diff "$tmp/$1.expected" -
}
perf_same() {
	perf script -f -i "$tmp/$1" --itrace=i1i -F tid,ip 2>/dev/null | awk '{ print $1, $2 }' | diff "$tmp/$1.expected" -
}
valid() {
	"$trailcam" decode -o "$tmp/trace.tsv" "$tmp/$1"
}
while read -r name; do
	check "$name: both decoders, undamaged and damaged" "$BUILD/tests/oracle/decoders" -d 1000 "$tmp/$name"
	check "$name: its instructions" same "$name"
	check "$name: the timeline" valid "$name"
	case $name in
	# It takes the interrupt for an indirect branch, and the return to be that of a call of which it knows
	# nothing more.
	lost-interrupted | lost-return) continue ;;
	# It shows where a conditional jump out of the filter leads, not the jump.
	filtered-condition) continue ;;
	esac
	if command -v perf >/dev/null; then
		check "$name: perf" perf_same "$name"
	else
		skip "$name: perf" 'perf is not installed (package linux-perf)'
	fi
done <"$tmp/names"

# shows NAME TEXT...: in this order, as moments of the timeline.
shows() {
	name=$1
	shift
	printf '%s\n' "$@" >"$tmp/shown"
	"$trailcam" dump --slices "$tmp/$name" | awk -F'\t' '$3 == -1 { print $4 }' | diff "$tmp/shown" -
}
check 'ptwrite: its value is on the timeline' shows ptwrite '[ptwrite: 0x12345678]'
check 'ptwrite with an address, too' shows ptwrite-at '[ptwrite: 0x12345678]'
check 'power events, too' shows power '[power entry: C1.0]' '[stopped]' '[power exit: C1, deepest C1]' '[frequency: 12 x bus clock]'
events_are_no_gaps() {
	"$trailcam" decode -o "$tmp/trace.tsv" "$tmp/power" 2>"$tmp/err" && ! grep gap "$tmp/err"
}
check 'which are no gaps' events_are_no_gaps
finish
