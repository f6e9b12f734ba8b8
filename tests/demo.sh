#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make demo: what led up to the moment the example's hash table had to grow? Needs root for the probe; asks
# sudo otherwise.
# The example is over within two milliseconds. Where there is no Intel PT it is stepped, to show every call; a
# program that runs for longer would be sampled.
set -eu
build=$1
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
how='--source step '
[ ! -e /sys/bus/event_source/devices/intel_pt ] || how=
echo "\$ trailcam run $how-t table_grow -o build/demo.fxt.gz -o build/demo.html --keep-recording build/demo.recording -- wordcount"
# shellcheck disable=SC2086 # two words, or none
$as_root "$build/trailcam" run $how -t table_grow -o build/demo.fxt.gz -o build/demo.html --keep-recording build/demo.recording -- \
	"$build/tests/programs/wordcount"
echo
echo "the last calls before the hit (trailcam dump --slices build/demo.recording):"
"$build/trailcam" dump --slices build/demo.recording | grep -v '^#' | tail -12 |
	awk -F '\t' '{ printf "%12.3f ms  %*s%s\n", $1 / 1e6, 2 * $3, "", $4 }'
echo
echo "The trace is build/demo.html: open it in a browser; it needs no network."
echo "The same for other viewers is build/demo.fxt.gz:"
echo "open https://ui.perfetto.dev (or https://magic-trace.org) and drop the file on the page; look for the track \"hits\"."
