#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Decoding by this revision and by another one, which is built in a directory of its own, by turns in one run.
#
#	compare.sh BUILD REVISION [ROUNDS]
set -eu
build=$1
revision=$(git rev-parse --short "$2^{commit}")
rounds=${3:-7}
tree=$build/bench/revision-$revision
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# It stays, so that a second comparison need not build it.
if [ ! -d "$tree" ]; then
	mkdir -p "$tree"
	git archive "$revision" | tar -x -C "$tree"
fi
make -C "$tree" --no-print-directory BUILD=build all build/tests/bench/decoders >"$tmp/log" 2>&1 ||
	{ tail -20 "$tmp/log"; exit 1; }
tests/bench/decoding.sh "$build" -r 1 -m 'nothing at all' >/dev/null

# Others on the machine disturb less, if this is allowed.
quiet='chrt --rr 1'
$quiet true 2>/dev/null || quiet=
round=0
while [ $round -lt "$rounds" ]; do
	for way in fast whole; do
		for side in "this:$build" "$revision:$tree/build"; do
			$quiet "${side#*:}/tests/bench/decoders" -r 1 -m "$way" -h "$tmp/${side%%:*}" \
				"$build/bench/compiler" "$build/bench/compiler-cyc" "$build/bench/interpreter" >/dev/null
		done
	done
	round=$((round + 1))
done

# medians FILE: "trace, what", then the median, least and most of its seconds
medians() {
	awk -F '\t' '{ sub(".*/", "", $2); print $2 ": " $3 "\t" $4 }' "$1" | sort -t "$(printf '\t')" -k1,1 -k2,2n |
		awk -F '\t' '$1 != name { tell(); name = $1; cnt = 0 } { seconds[cnt++] = $2 } END { tell() }
			function tell() {
				if (cnt) printf "%s\t%s\t%s\t%s\n", name, seconds[int(cnt / 2)], seconds[0], seconds[cnt - 1]
			}'
}
medians "$tmp/this" >"$tmp/this.medians"
medians "$tmp/$revision" >"$tmp/other.medians"
printf '%-52s %28s %28s %8s\n' "seconds (spread), $rounds rounds" "$revision" this times
join -t "$(printf '\t')" "$tmp/other.medians" "$tmp/this.medians" |
	awk -F '\t' '{ printf "%-52s %8.4f (%.4f to %.4f) %8.4f (%.4f to %.4f) %8.2f\n", $1, $2, $3, $4, $5, $6, $7, $2 / $5 }'
