#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a program that is given capabilities, or runs as root, must not give away: who may read what it writes. And what the names of others must not do:
# colour a terminal, forge a line, or compute in a spreadsheet.
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

# --- names of any bytes

# tame FILE: no control characters but newlines and tabs, nothing that changes the direction of writing.
tame() {
	python3 -c '
import sys, unicodedata
text = open(sys.argv[1], newline="").read()
bad = sorted({hex(ord(c)) for c in text if (unicodedata.category(c) == "Cc" and c not in "\n\t\r") or
	0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069})
assert not bad and text, bad' "$1" || {
		echo "in $1"
		return 1
	}
}

strange=$(printf 'h\033[31mx\nforged \302\233\342\200\256y')
mkdir "$tmp/names" && cp "$programs/wordcount" "$tmp/names/$strange"
shown='h\x1b[31mx\nforged \u009b\u202ey'

strange_program() {
	"$trailcam" run --source step -t table_grow --keep-recording "$tmp/strange" -o "$tmp/strange.fxt" -o "$tmp/s.txt" -o "$tmp/s.folded" -o "$tmp/s.csv" \
		-- "$tmp/names/$strange" >/dev/null 2>"$tmp/err"
	for what in sideband branches slices hits; do
		"$trailcam" dump --$what "$tmp/strange" >"$tmp/s.$what" && tame "$tmp/s.$what" || return 1
	done
	"$trailcam" report "$tmp/strange.fxt" >"$tmp/s.report" && says "$tmp/s.report" 'h\x1b[31mx\nforg' && says "$tmp/s.sideband" 'x\nforged ' &&
		says "$tmp/s.txt" "$shown" && says "$tmp/s.csv" 'h\x1b[31mx\nforg' && ! grep -q '^forged' "$tmp"/s.* || return 1
	for what in report txt folded csv; do
		tame "$tmp/s.$what" || return 1
	done
}
messages() {
	for line in "run -t main -- $tmp/names/none-$strange" "run -t $strange -- $programs/wordcount" "probes $tmp/names/$strange $strange" \
		"decode $tmp/names/$strange" "report $tmp/names/$strange" "run -o $tmp/names/no/$strange -- $programs/wordcount" \
		"attach --comm $strange" "run -t main --when $strange -- $programs/wordcount" "run -v -t main -o $tmp/v.fxt -- $tmp/names/$strange"; do
		# shellcheck disable=SC2086
		(IFS=' '; "$trailcam" $line) >/dev/null 2>"$tmp/err"
		tame "$tmp/err" && ! grep '^forged' "$tmp/err" || return 1
	done
}
# A symbol with such a name, and one that a spreadsheet would compute.
strange_symbols() {
	printf 'int first_one(void) { return 1; }\nint other_one(void) { return first_one(); }\nint main(void) { return other_one() - 1; }\n' >"$tmp/s.c"
	gcc -O0 -o "$tmp/symbols" "$tmp/s.c" && python3 -c '
import sys
bytes = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(bytes.replace(b"first_one", b"\x1b[31mx\nf\x9b").replace(b"other_one", b"=1+cmd|!0"))' "$tmp/symbols" && "$trailcam" probes "$tmp/symbols" >"$tmp/probes" && tame "$tmp/probes" && says "$tmp/probes" '\x1b[31mx\nf\x9b' &&
		"$trailcam" run --source step -o "$tmp/y.txt" -o "$tmp/y.csv" -o "$tmp/y.folded" -- "$tmp/symbols" 2>"$tmp/err" && tame "$tmp/y.txt" &&
		tame "$tmp/y.folded" && says "$tmp/y.txt" '\x1b[31mx\nf\x9b' && tame "$tmp/y.csv" && says "$tmp/y.csv" ",'=1+cmd|!0," && ! grep -qE '(^|,)"?[=@+-][^0-9,]' "$tmp/y.csv"
}
if bpf_missing; then
	skip 'a program whose name is made to deceive' "$bpf_reason"
else
	check 'a program whose name is made to deceive' strange_program
fi
check 'messages about it' messages
check 'symbols like that, and cells of spreadsheets' strange_symbols

finish
