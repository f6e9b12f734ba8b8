#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Allocation traces: what the commands of `trailcam memtrace` say of a real one, beside memtrace's own tools
# and beside each other, and of strange and damaged ones.
. tests/e2e/lib.sh
trace=${CORPUS:-../shared/corpus}/memtrace/ocamlopt.ctf
python=$PWD/tests/e2e/memtrace.py

memtrace() {
	"$trailcam" memtrace "$@"
}

# --- usage

refuses() {
	wanted=$1 sentence=$2
	shift 2
	status_is "$wanted" "$trailcam" memtrace "$@" >"$tmp/out" 2>"$tmp/err" && says "$tmp/err" "$sentence" && ! test -s "$tmp/out"
}
check 'no such command' refuses 2 "did you mean 'stats'?" stat x.ctf
check 'no trace' refuses 2 'no trace given' stats
check 'two traces' refuses 2 'is one too many' stats a.ctf b.ctf
check 'not a time' refuses 2 '--after' dump --after 5 a.ctf
check 'not a size' refuses 2 'is not a size' dump --min-size big a.ctf
check 'no such source' refuses 2 'use minor, major or external' dump --source heap a.ctf
check 'nothing in between' refuses 2 '--after must be earlier than --before' dump --after 2s --before 1s a.ctf
check 'sizes that exclude each other' refuses 2 '--min-size must not be above --max-size' dump --min-size 2k --max-size 1k a.ctf
check 'lifetimes that exclude each other' refuses 2 '--min-lifetime must not be above --max-lifetime' dump --min-lifetime 2s --max-lifetime 1s a.ctf
check 'the end of what has none' refuses 2 'give --live or --max-lifetime, not both' dump --live --max-lifetime 1s a.ctf
check 'nothing to add up' refuses 2 'use function, line or path' hotspots --by file a.ctf
check 'recursion that counts once' refuses 2 'for --by path' hotspots --no-recursion a.ctf
check 'no format of a flame graph' refuses 2 'must end in .html or .folded' flamegraph -o x.svg a.ctf
check 'samples of a page' refuses 2 'is for folded stacks' flamegraph --samples -o x.html a.ctf
check 'no format of a timeline' refuses 2 'no format is known' convert -o x.y a.ctf
check 'no file' refuses 1 'No such file' stats "$tmp/nowhere.ctf"
check 'not a trace' refuses 1 'no allocation trace' dump "$programs/wordcount"
no_file_of_it() {
	refuses 1 'no allocation trace' flamegraph -o "$tmp/none.html" /etc/passwd && refuses 1 'no allocation trace' convert -o "$tmp/none.fxt" /etc/passwd &&
		[ ! -e "$tmp/none.html" ] && [ ! -e "$tmp/none.fxt" ]
}
check 'nothing is written of what is no trace' no_file_of_it

# --- names that are markup, stacks that are empty

if command -v python3 >/dev/null; then
	python3 "$python" strange "$tmp/strange.ctf"
	strange_dump() {
		memtrace dump "$tmp/strange.ctf" >"$tmp/out" && cat >"$tmp/wanted" <<'END' && diff "$tmp/wanted" "$tmp/out"
0000000010 0000000000 alloc 1 len=3 dom=0    0: main@file4.ml:14:1-2 </script><b>&amp;@file1.ml:11:1-2 a;b\nc@file2.ml:12:1-2 main@file4.ml:14:1-2 </script><b>&amp;@file1.ml:11:1-2
0000000020 0000000001 alloc_major 1 len=100 dom=0    1: main@file4.ml:14:1-2 hété@file3.ml:13:1-2
0000000030 0000000002 alloc_ext 1 len=7 dom=0    0:
0000000040 0000000003 alloc_ext 1 len=8 dom=0    0: $9
0000000050 0000000004 alloc_ext 1 len=9 dom=0    0: main@file4.ml:14:1-2 hété@file3.ml:13:1-2 $9
0000000060 0000000000 promote
0000000070 0000000000 collect
END
	}
	strange_hotspots() {
		memtrace hotspots --total "$tmp/strange.ctf" >"$tmp/out" || return 1
		sed -n '4,8s/ \{2,\}/ /gp' "$tmp/out" >"$tmp/got"
		cat >"$tmp/wanted" <<'END' && diff "$tmp/wanted" "$tmp/got"
 0 B 0.0 % 192 B 60.0 % 3 128 B 192 B main (file4.ml)
 128 B 40.0 % 128 B 40.0 % 2 128 B 128 B hété (file3.ml)
 128 B 40.0 % 128 B 40.0 % 2 128 B 128 B [unknown]
 64 B 20.0 % 64 B 20.0 % 1 0 B 64 B </script><b>&amp; (file1.ml)
 0 B 0.0 % 64 B 20.0 % 1 0 B 64 B a;b\nc (file2.ml)
END
	}
	strange_folded() {
		memtrace flamegraph -o - "$tmp/strange.ctf" 2>/dev/null >"$tmp/out" && cat >"$tmp/wanted" <<'END' && diff "$tmp/wanted" "$tmp/out"
[unknown] 128
main;</script><b>&amp:;a:b c;main;</script><b>&amp: 64
main;hété 128
END
	}
	strange_path() {
		memtrace hotspots --by path "$tmp/strange.ctf" >"$tmp/out" && says "$tmp/out" '    </script><b>&amp; > ... 2 ... > </script><b>&amp;' || {
			cat "$tmp/out"
			return 1
		}
	}
	strange_convert() {
		memtrace convert -o "$tmp/x.tsv" -o "$tmp/x.ctf" "$tmp/strange.ctf" 2>"$tmp/err" && memtrace dump "$tmp/x.ctf" >"$tmp/again" &&
			memtrace dump "$tmp/strange.ctf" | cmp - "$tmp/again" && [ "$(grep -c '\[unknown\]$\|\[unknown\]	' "$tmp/x.tsv")" -eq 1 ] &&
			[ "$(awk -F'\t' '$3 == -1' "$tmp/x.tsv" | wc -l)" -eq 5 ]
	}
	check 'strange: every event' strange_dump
	check 'strange: recursion counts once, and what is not known is passed over' strange_hotspots
	check 'strange: folded stacks are lines of frames' strange_folded
	check 'strange: paths' strange_path
	check 'strange: a timeline, and a copy' strange_convert
	check 'strange: stats' memtrace stats "$tmp/strange.ctf"
	memtrace flamegraph -o "$tmp/strange.html" "$tmp/strange.ctf" 2>/dev/null
	if command -v chromium >/dev/null; then
		check 'strange: names are text on the page' python3 "$python" strange-page "$tmp/strange.html"
	else
		skip 'strange names on the page' 'chromium is not installed'
	fi
else
	skip 'strange traces' 'python3 is not installed'
fi

# --- the real one

if [ ! -f "$trace" ]; then
	skip 'what is in a real trace' "$trace is not there"
	finish
fi

memtrace dump "$trace" >"$tmp/dump"
md5_is() {
	got=$(md5sum <"$2" | cut -d' ' -f1)
	[ "$got" = "$1" ] || {
		echo "$got"
		return 1
	}
}
check "dump: the text of memtrace's dump_trace" md5_is b39b2648c78926536672faa8b89841b8 "$tmp/dump"
from_stdin() {
	memtrace dump - <"$trace" | cmp - "$tmp/dump"
}
check 'dump: of standard input' from_stdin
dump_json() {
	memtrace dump --json "$trace" >"$tmp/json" && python3 -c '
import json, sys
lines = 0
for text, line in zip(open(sys.argv[1]), open(sys.argv[2])):
    event, words = json.loads(line), text.split()
    assert [event["time_us"], event["id"]] == [int(words[0]), int(words[1])]
    if event["event"] == "alloc":
        stack = ["%s@%s:%d:%d-%d" % tuple(at[key] for key in ("function", "file", "line", "start", "end")) if "file" in at else "$%d" % int(at["code"], 16)
            for at in event["stack"]]
        assert event["size"] == 8 * int(words[4][4:]) and stack == text.rstrip("\n").split(": ", 1)[1].split(" ")
    else:
        assert event["event"] == words[2]
    lines += 1
assert lines == 3499 == sum(1 for _ in open(sys.argv[2]))' "$tmp/dump" "$tmp/json"
}

# figures [FILTER...]: stats, hotspots and folded stacks say what the text of the same allocations adds up to
figures() {
	memtrace dump "$@" "$trace" >"$tmp/some" && memtrace stats --json "$@" "$trace" >"$tmp/stats.json" &&
		memtrace hotspots --json --top 100000 "$@" "$trace" >"$tmp/hotspots.json" && memtrace flamegraph -o "$tmp/x.folded" "$@" "$trace" 2>/dev/null &&
		python3 "$python" agree "$tmp/some" "$tmp/stats.json" "$tmp/hotspots.json" "$tmp/x.folded"
}
if command -v python3 >/dev/null; then
	check 'dump: JSON' dump_json
	check 'stats, hotspots and folded stacks agree with the text' figures
	check 'of what is never collected, too' figures --live
	check 'of what is alive at the peak, too' figures --peak
	check 'of some functions, too' figures --function 'Typemod.*' --max-size 64
	check 'of some of the time, too' figures --after 300ms --before 0.5s --min-lifetime 1ms
else
	skip 'figures' 'python3 is not installed'
fi

# has FILE LINE...: the file has these lines, but for blanks
has() {
	file=$1
	shift
	sed 's/  */ /g; s/^ //' "$file" >"$tmp/lines"
	for line; do
		says "$tmp/lines" "$line" || return 1
	done
}
stats_text() {
	memtrace stats "$trace" >"$tmp/text" && has "$tmp/text" 'process 17157' 'host tarski' 'length 851.795 ms' '639.3 MiB allocated' 'minor 1666 635.5 MiB 99.4 % 15.4 % 94.0 % 100' \
		'major 10 3.8 MiB' 'all 1676 639.3 MiB 100.0 % 15.3 % 93.4 % 110' '7 to 547 calls deep, 115.9 on average' '1949 code addresses, 1935 with a place' \
		'887 functions of 98 files'
}
check 'stats: the figures of the trace' stats_text

# Of memtrace's hotspots; of the next one down, Tast_mapper.expr, that has what others made where the
# innermost place is not known.
hotspots_text() {
	memtrace hotspots "$trace" >"$tmp/text" && has "$tmp/text" '99.2 MiB 15.5 %' '29.0 MiB 4.5 % 29.0 MiB 4.5 % 76 0 B 0 B Btype.iter_type_expr.(fun) (typing/btype.ml)' '22.9 MiB 3.6 %' \
		'16.8 MiB 2.6 %' '16.4 MiB 2.6 %' '16.0 MiB 2.5 %' '13.0 MiB 2.0 %' '12.2 MiB 1.9 %' '11.4 MiB 1.8 %' '9.5 MiB 1.5 %' &&
		[ "$(sed -n '4,13s/.*  \([^ ]*\)  (.*/\1/p' "$tmp/text" | paste -sd ' ')" = 'Stdlib__set.Make.bal Btype.iter_type_expr.(fun) Stdlib__map.Make.bal Stdlib__set.Make.add Interf.build_graph.add_interf Ctype.copy Coloring.allocate_registers.assign_location.(fun) Stdlib__set.Make.create CamlinternalFormat.make_printf.(fun) Btype.newty2' ]
}
hotspots_by_line() {
	memtrace hotspots --by line --json --allocated-in 'Interf.build_graph.add_interf' "$trace" >"$tmp/json" && python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert report["all"]["samples"] == 43 == sum(row["self"]["samples"] for row in report["hotspots"])
assert [row["line"] for row in report["hotspots"]][:3] == [44, 52, 48], report
assert {(row["function"], row["file"]) for row in report["hotspots"]} == {("Interf.build_graph.add_interf", "asmcomp/interf.ml")}' "$tmp/json"
}
hotspots_by_path() {
	memtrace hotspots --by path --top 12 "$trace" >"$tmp/text" && has "$tmp/text" '1675 42.0 MiB 45.0 MiB Main > Main.main' \
		'0 B 0.0 % 638.6 MiB 99.9 % 1674 42.0 MiB 45.0 MiB Compenv.process_deferred_actions > Stdlib__list.iter > Compenv.process_action' '(--top)' &&
		[ "$(sed -n '4,15p' "$tmp/text" | grep -c ' % ')" -eq 12 ]
}
# Paths are those of folded stacks, with and without recursion.
paths_are_stacks() {
	memtrace hotspots --by path --top 100000 --json "$@" "$trace" >"$tmp/json" && memtrace flamegraph --samples -o "$tmp/x.folded" "$@" "$trace" 2>/dev/null && python3 -c '
import collections, json, sys
total, own = collections.Counter(), collections.Counter()
for line in open(sys.argv[2]):
    stack, cnt = line.rsplit(" ", 1)
    frames = tuple(stack.split(";"))
    own[frames] += int(cnt)
    for i in range(len(frames)):
        total[frames[:i + 1]] += int(cnt)
rows = json.load(open(sys.argv[1]))["hotspots"]
assert len(rows) > 1000
shown = collections.Counter()
for row in rows:
    shown[tuple(row["path"])] += row["self"]["samples"]
    assert row["total"]["samples"] <= total[tuple(row["path"])]
assert {path: cnt for path, cnt in shown.items() if cnt} == own' "$tmp/json" "$tmp/x.folded"
}
check "hotspots: memtrace's" hotspots_text
command -v python3 >/dev/null && check 'hotspots: by line' hotspots_by_line
check 'hotspots: by path' hotspots_by_path
if command -v python3 >/dev/null; then
	check 'hotspots: paths are those of folded stacks' paths_are_stacks
	check 'hotspots: without recursion, too' paths_are_stacks --no-recursion
fi

folded_as_theirs() {
	memtrace flamegraph --samples --no-recursion -o - "$trace" >"$tmp/folded" 2>/dev/null && md5_is 4c08cb03ca4351f4c178c9c5d9408e15 "$tmp/folded"
}
check "flamegraph: memtrace's" folded_as_theirs
compressed() {
	memtrace flamegraph -o "$tmp/y.folded.gz" "$trace" 2>/dev/null && memtrace flamegraph -o "$tmp/y.folded" "$trace" 2>/dev/null && gunzip -c "$tmp/y.folded.gz" | cmp - "$tmp/y.folded"
}
check 'flamegraph: compressed' compressed
memtrace flamegraph -o "$tmp/page.html" "$trace" 2>/dev/null
if command -v chromium >/dev/null && command -v python3 >/dev/null; then
	check 'flamegraph: the page' python3 "$python" page "$tmp/page.html" "$tmp/dump"
else
	skip 'flamegraph: the page' 'chromium or python3 is not installed'
fi

# --- filters

# filtered COUNT AWK FILTER...: so many allocations, which are those that awk picks from the text
filtered() {
	cnt=$1 program=$2
	shift 2
	memtrace dump "$@" "$trace" | awk '$3 ~ /^alloc/ { print $2 }' >"$tmp/got"
	awk -v OFS=' ' '{ time = $1 + 0; id = $2; size = 8 * substr($5, 5); last = $NF; sub(/@.*/, "", last) }
		NR == FNR { if ($3 == "collect") end[id] = time; next }
		$3 ~ /^alloc/ && ('"$program"') { print id }' "$tmp/dump" "$tmp/dump" >"$tmp/wanted"
	diff "$tmp/wanted" "$tmp/got" >"$tmp/difference" && [ "$(wc -l <"$tmp/got")" -eq "$cnt" ] || {
		wc -l "$tmp/wanted" "$tmp/got"
		head -5 "$tmp/difference"
		return 1
	}
}
check 'by source' filtered 10 '$3 == "alloc_major"' --source major
check 'by two sources' filtered 10 '$3 != "alloc"' --source major --source external
check 'by size' filtered 119 'size >= 64' --min-size 64
check 'by size, both' filtered 104 'size >= 64 && size <= 127' --min-size 64 --max-size 127
check 'never collected' filtered 110 '!(id in end)' --live
check 'by function' filtered 732 '/ Asmgen.end_gen_implementation@/' --function Asmgen.end_gen_implementation
check 'by a pattern of functions' filtered 883 '/ Asmgen\.[a-e]/' --function 'Asmgen.[a-e]*'
check 'by the function that allocates' filtered 260 'last == "Stdlib__set.Make.bal"' --allocated-in Stdlib__set.Make.bal
check 'by time' filtered 154 'time >= 100000 && time < 200000' --after 100ms --before 200ms
check 'by lifetime' filtered 199 '!(id in end) || end[id] - time >= 100000' --min-lifetime 100ms
check 'by lifetime, at most' filtered 10 'id in end && end[id] - time <= 100' --max-lifetime 100us
no_other_events() {
	awk 'NR == FNR { if ($3 == "collect") end[$2] = 1; next } $3 == "promote" && !($2 in end)' "$tmp/dump" "$tmp/dump" >"$tmp/wanted"
	memtrace dump --live "$trace" | grep -v ' alloc' >"$tmp/got"
	[ -s "$tmp/wanted" ] && cmp "$tmp/wanted" "$tmp/got"
}
check 'promotions and collections of the others are left out' no_other_events

# --- convert

same_copy() {
	memtrace convert -o "$tmp/copy.ctf" "$trace" 2>"$tmp/err" && says "$tmp/err" 'wrote' && cmp "$trace" "$tmp/copy.ctf"
}
filtered_copy() {
	memtrace convert --source minor --after 0.2s -o "$tmp/some.ctf" "$trace" 2>/dev/null && memtrace dump "$tmp/some.ctf" | cut -d' ' -f1,3- >"$tmp/got" &&
		memtrace dump --source minor --after 0.2s "$trace" | cut -d' ' -f1,3- >"$tmp/wanted" &&
		sed 's/ *[0-9]*: /: /' "$tmp/wanted" >"$tmp/wanted.stacks" && sed 's/ *[0-9]*: /: /' "$tmp/got" | cmp - "$tmp/wanted.stacks"
}
timelines() {
	memtrace convert -o "$tmp/x.fxt.gz" -o "$tmp/x.json" -o "$tmp/x.html" -o "$tmp/again.ctf" "$trace" 2>"$tmp/err" && says "$tmp/err" '1676 samples in 1 domain' &&
		cmp "$trace" "$tmp/again.ctf" && "$trailcam" report --json "$tmp/x.fxt.gz" >"$tmp/report.json" && python3 -c '
import json, sys
report, events = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
events = events if isinstance(events, list) else events["traceEvents"]
counters = {event["name"]: event["args"]["value"] for event in events if event["ph"] == "C"}
assert counters == {"live bytes (estimate)": 110 * 400000, "allocated bytes (estimate)": 1676 * 400000}, counters
assert sum(event["ph"] == "i" for event in events) == 1676
assert report["trace"]["realtime_ns"] == 1586965711174340000 and report["trace"]["last_ns"] == 851795000' "$tmp/report.json" "$tmp/x.json"
}
decoded_alike() {
	for format in fxt json txt csv; do
		memtrace convert -q -o "$tmp/converted.$format" "$trace" 2>/dev/null && "$trailcam" decode -q -o "$tmp/decoded.$format" "$trace" 2>/dev/null &&
			cmp "$tmp/converted.$format" "$tmp/decoded.$format" || return 1
	done
	"$trailcam" report --json "$trace" | sed '/"path"/d' >"$tmp/direct.json" && "$trailcam" report --json "$tmp/decoded.fxt" | sed '/"path"/d' >"$tmp/indirect.json" &&
		grep -q 'Stdlib__set' "$tmp/direct.json"
}
not_its_own_input() {
	cp "$trace" "$tmp/mine.ctf" && refuses 2 'would be replaced' convert -o "$tmp/mine.ctf" "$tmp/mine.ctf" && refuses 2 'would be replaced' flamegraph -o "$tmp/mine.html" "$tmp/mine.html" &&
		cmp "$trace" "$tmp/mine.ctf"
}
cp "$trace" "$tmp/mine.html"
check 'convert: a copy is the same' same_copy
check 'convert: a copy of some of it' filtered_copy
command -v python3 >/dev/null && check 'convert: timelines' timelines
check 'decode and report take it, too' decoded_alike
check 'what is read is not replaced' not_its_own_input
one_that_cannot_be() {
	status_is 1 "$trailcam" memtrace convert -o "$tmp/none/x.ctf" -o "$tmp/good.ctf" -o "$tmp/none/x.fxt" "$trace" 2>"$tmp/err" && cmp "$trace" "$tmp/good.ctf" &&
		[ "$(grep -c 'cannot write' "$tmp/err")" -eq 2 ]
}
check 'convert: a file that cannot be written does not keep others from it' one_that_cannot_be
check 'a full disk' status_is 1 sh -c "'$trailcam' memtrace dump '$trace' >/dev/full"
check 'a full disk, of stats' status_is 1 sh -c "'$trailcam' memtrace stats '$trace' >/dev/full"

# --- damage

begins_dump() {
	[ -s "$1" ] && head -c "$(wc -c <"$1")" "$tmp/dump" | cmp - "$1" && [ "$(wc -l <"$1")" -gt 500 ]
}
cp "$trace" "$tmp/damaged.ctf"
printf '\377\377\377\377' | dd of="$tmp/damaged.ctf" bs=1 seek=60000 conv=notrunc 2>/dev/null
head -c 100000 "$trace" >"$tmp/cut.ctf"
damaged_dump() {
	status_is 1 "$trailcam" memtrace dump "$tmp/damaged.ctf" >"$tmp/out" 2>"$tmp/err" && begins_dump "$tmp/out" && says "$tmp/err" 'at byte' &&
		says "$tmp/err" 'this is what came before' && [ "$(wc -l <"$tmp/err")" -eq 1 ]
}
damaged_results() {
	samples=$(grep -c ' alloc' "$tmp/out")
	status_is 1 "$trailcam" memtrace stats "$tmp/damaged.ctf" >"$tmp/text" 2>"$tmp/err" && says "$tmp/err" 'at byte' && has "$tmp/text" "all $samples " || return 1
	status_is 1 "$trailcam" memtrace hotspots "$tmp/damaged.ctf" >"$tmp/text" 2>"$tmp/err" && says "$tmp/err" 'at byte' && says "$tmp/text" "$samples allocations were sampled" || return 1
	status_is 1 "$trailcam" memtrace flamegraph -o "$tmp/d.folded" "$tmp/damaged.ctf" 2>"$tmp/err" && says "$tmp/err" "$samples samples" && [ -s "$tmp/d.folded" ] || return 1
	status_is 1 "$trailcam" memtrace convert -o "$tmp/d.fxt" -o "$tmp/d.ctf" "$tmp/damaged.ctf" 2>"$tmp/err" && says "$tmp/err" 'at byte' && memtrace dump "$tmp/d.ctf" | cmp - "$tmp/out"
}
cut_off() {
	status_is 0 "$trailcam" memtrace dump "$tmp/cut.ctf" >"$tmp/out" 2>"$tmp/err" && begins_dump "$tmp/out" && says "$tmp/err" 'is cut off'
}
check 'damaged: every event before it, and a sentence' damaged_dump
check 'damaged: results of what came before' damaged_results
check 'cut off: a note' cut_off
finish
