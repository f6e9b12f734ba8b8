#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make demo: what led up to the moment the example's hash table had to grow? Needs root for the probe; asks
# sudo otherwise.
set -eu
build=$1
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
echo "\$ trailcam run -t table_grow -o build/demo.fxt.gz -o build/demo.html --keep-recording build/demo.recording -- wordcount"
$as_root "$build/trailcam" run -t table_grow -o build/demo.fxt.gz -o build/demo.html --keep-recording build/demo.recording -- \
	"$build/tests/programs/wordcount"
echo
echo "the last calls before the hit (trailcam dump --slices build/demo.recording):"
"$build/trailcam" dump --slices build/demo.recording | grep -v '^#' | tail -12 |
	awk -F '\t' '{ printf "%12.3f ms  %*s%s\n", $1 / 1e6, 2 * $3, "", $4 }'
echo
echo "The trace is build/demo.html: open it in a browser; it needs no network."
echo "The same for other viewers is build/demo.fxt.gz:"
echo "open https://ui.perfetto.dev (or https://magic-trace.org) and drop the file on the page; look for the track \"hits\"."
