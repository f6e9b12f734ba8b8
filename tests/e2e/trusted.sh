#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a program that is given capabilities, or runs as root, must not give away: who may read what it writes.
. tests/e2e/lib.sh

# modes WANTED FILE...: the permissions of each.
modes() {
	wanted=$1
	shift
	stat -c '%a %n' "$@" | grep -v "^$wanted " && return 1
	[ $# -gt 0 ]
}

# --- who may read it

# Every format, onto what others could read, with the umask that takes nothing away.
outputs_are_private() {
	mkdir "$tmp/out" || return 1
	(
		umask 0
		set --
		for name in t.fxt t.fxt.gz t.pftrace t.json t.speedscope.json t.folded t.txt t.csv t.tsv t.html t.txt.zst; do
			echo old >"$tmp/out/$name" && set -- "$@" -o "$tmp/out/$name"
		done
		echo old >"$tmp/out/log"
		"$trailcam" run --source step --step-log "$tmp/out/log" --keep-recording "$tmp/rec" "$@" -- "$programs/exits" none
		"$trailcam" decode -o "$tmp/out/decoded.txt" "$tmp/rec" && "$trailcam" view -o "$tmp/out/view.html" "$tmp/rec"
	) >/dev/null 2>"$tmp/err"
	modes 600 "$tmp"/out/* && modes 600 "$tmp"/rec/* && modes 700 "$tmp/rec" && [ -s "$tmp/out/log" ] &&
		[ "$(find "$tmp/out" -type f | wc -l)" -eq 14 ]
}
check 'outputs, recordings and step logs: for their owner only' outputs_are_private

page_is_private() {
	(umask 0; TMPDIR=$tmp "$trailcam" view "$tmp/rec" 2>"$tmp/err") || return 1
	page=$(sed -n 's/^trailcam: wrote \(.*\.html\): .*/\1/p' "$tmp/err")
	modes 600 "$page" && modes 700 "${page%/*}"
}
check 'a page in a temporary folder, too' page_is_private

if bpf_missing; then
	skip 'allocation traces: for their owner only' "$bpf_reason"
else
	allocations_are_private() {
		(umask 0; "$trailcam" memtrace record --interval 1 -o "$tmp/m.ctf" -- "$programs/wordcount" && "$trailcam" memtrace flamegraph -o "$tmp/m.html" "$tmp/m.ctf" &&
			"$trailcam" memtrace convert -o "$tmp/m.fxt" "$tmp/m.ctf") >/dev/null 2>"$tmp/err" || cat "$tmp/err"
		modes 600 "$tmp"/m.*
	}
	check 'allocation traces: for their owner only' allocations_are_private
fi

# A pipe or a device is written as it is.
into_a_pipe() {
	mkfifo -m 644 "$tmp/fifo" && (cat "$tmp/fifo" >"$tmp/piped" &)
	"$trailcam" run --source step --step-log "$tmp/fifo" -o /dev/null -- "$programs/exits" none >/dev/null 2>&1
	[ -p "$tmp/fifo" ] && modes 644 "$tmp/fifo" && for _ in $(seq 50); do [ -s "$tmp/piped" ] && break; sleep 0.1; done && [ -s "$tmp/piped" ]
}
check 'a pipe stays one' into_a_pipe

finish
