#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Random programs leave the same registers and flags translated as natively, for so many seconds.
#
#	translated.sh BUILD SECONDS
set -u
trailcam=$1/trailcam
random=$1/tests/programs/random
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
end=$(($(date +%s) + $2))
seed=$(date +%s)
cnt=0
while [ "$(date +%s)" -lt "$end" ]; do
	[ $((seed % 2)) -eq 0 ] && resolution=high || resolution=normal
	# Each function once, and a few so often that what they do becomes traces.
	for size in 300 '6 -1 30000'; do
		# shellcheck disable=SC2086
		"$random" "$seed" $size >"$tmp/native"
		# shellcheck disable=SC2086
		timeout 120 "$trailcam" run -q --source translate --timer-resolution=$resolution -o "$tmp/out.fxt.gz" -- "$random" "$seed" $size >"$tmp/translated" 2>&1
		cmp "$tmp/native" "$tmp/translated" || {
			echo "differs with --timer-resolution=$resolution: $random $seed $size"
			exit 1
		}
	done
	seed=$((seed + 1)) cnt=$((cnt + 1))
done
echo "translated programs: $cnt of 306 random functions each, all as natively"
