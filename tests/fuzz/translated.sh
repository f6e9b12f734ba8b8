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
	"$random" "$seed" 300 >"$tmp/native"
	timeout 120 "$trailcam" run -q --source translate --timer-resolution=$resolution -o "$tmp/out.fxt.gz" -- "$random" "$seed" 300 >"$tmp/translated" 2>&1
	cmp "$tmp/native" "$tmp/translated" || {
		echo "differs with --timer-resolution=$resolution: $random $seed 300"
		exit 1
	}
	seed=$((seed + 1)) cnt=$((cnt + 1))
done
echo "translated programs: $cnt of 300 random functions each, all as natively"
