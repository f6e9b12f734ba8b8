#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Draws the last milliseconds of a recording's first thread as a picture for the README.
# Usage: docs/picture.sh RECORDING MILLISECONDS > docs/trace.svg
set -eu
${TRAILCAM:-build/trailcam} dump --slices "$1" | grep -v '^#' | awk -F '\t' -v ms="$2" '
	{ start[NR] = $1; end[NR] = $2; depth[NR] = $3; name[NR] = $4; if ($2 > last) last = $2 }
	END {
		from = last - ms * 1e6; width = 1000; row = 20; top = 40; deepest = 0; shallowest = 99
		for (i = 1; i <= NR; i++) if (end[i] >= from && depth[i] >= 0) {
			if (depth[i] > deepest) deepest = depth[i]
			if (depth[i] < shallowest) shallowest = depth[i]
		}
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n",
			width + 20, top + row * (deepest - shallowest + 1) + 10
		printf "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		for (i = 1; i <= NR; i++) {
			if (end[i] < from || depth[i] < 0) continue
			s = start[i] < from ? from : start[i]
			x = 10 + (s - from) / (ms * 1e6) * width; w = (end[i] - s) / (ms * 1e6) * width; if (w < 1) w = 1
			y = top + row * (depth[i] - shallowest)
			label = name[i]; sub(/ \[inferred start time\]/, "", label); sub(/\(.*/, "", label); sub(/@plt/, "", label)
			hue = 0; for (c = 1; c <= length(label); c++) hue = (hue * 7 + index("abcdefghijklmnopqrstuvwxyz_", substr(label, c, 1)) * 13) % 360
			gsub(/&/, "\\&amp;", label); gsub(/</, "\\&lt;", label)
			room = int(w / 6.2); text = length(label) <= room ? label : room > 3 ? substr(label, 1, room - 1) "…" : ""
			printf "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"hsl(%d,55%%,80%%)\" stroke=\"#fff\" stroke-width=\"0.5\"/>", x, y, w, row - 1, hue
			if (text != "") printf "<text x=\"%.1f\" y=\"%d\">%s</text>", x + 3, y + 14, text
			printf "\n"
		}
		printf "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"100%%\" stroke=\"#c00\" stroke-width=\"2\"/>", width + 10, top - 12, width + 10
		printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#c00\">the hit</text>\n", width + 10, top - 18
		printf "<text x=\"10\" y=\"%d\" fill=\"#555\">%s ms of stepped time before the hit</text>\n</svg>\n", top - 18, ms
	}'
