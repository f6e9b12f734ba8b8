#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All formats of one recording, at once: they tell the same.
. tests/e2e/lib.sh

"$trailcam" run --source step --keep-recording "$tmp/rec" -o "$tmp/run.fxt" -o "$tmp/run.tsv" -- "$programs/torture" >/dev/null 2>"$tmp/run.err"
check 'run writes both of two files' test -s "$tmp/run.fxt" -a -s "$tmp/run.tsv"
check 'and says so for each' says "$tmp/run.err" "wrote $tmp/run.tsv: "

formats='fxt html pftrace speedscope.json json folded pb txt csv tsv'
all_at_once() {
	files=
	for format in $formats; do files="$files -o $tmp/all.$format"; done
	# shellcheck disable=SC2086
	"$trailcam" decode $files -o "$tmp/all.json.gz" -o "$tmp/all.fxt.zst" "$tmp/rec" 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
	[ "$(grep -c "wrote $tmp/all\..*: $(calls) calls in " "$tmp/err")" -eq $(($(echo "$formats" | wc -w) + 2)) ]
}
calls() {
	grep -v '^#' "$tmp/all.tsv" | awk -F '\t' '$3 >= 0 { cnt++ } END { print cnt }'
}
check "$formats, json.gz, fxt.zst: all written, with as many calls" all_at_once

# The same recording once more, decoded by one thread: no byte is another one.
by_one_thread() {
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	mkdir "$tmp/one"
	files=
	for format in $formats json.gz fxt.zst; do files="$files -o $tmp/one/all.$format"; done
	# shellcheck disable=SC2086
	taskset -c "$cpu" "$trailcam" decode $files "$tmp/rec" 2>"$tmp/err" || return 1
	for format in $formats json.gz fxt.zst; do cmp "$tmp/all.$format" "$tmp/one/all.$format" || return 1; done
}
check 'the same bytes on one processor as on all' by_one_thread

# TID START_NS END_NS DEPTH NAME of each slice, sorted.
from_tsv() {
	awk -F '\t' '!/^#/ && $3 >= 0 { sub(/ \[inferred start time\]$/, "", $4); print $6, $1, $2, $3, $4 }' "$tmp/all.tsv" | sort
}
from_csv() {
	python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
	if row["depth"]:
		print(row["tid"], row["start_ns"], int(row["start_ns"]) + int(row["duration_ns"]), row["depth"], row["name"])' "$tmp/all.csv" |
		sort
}
from_json() {
	python3 -c 'import decimal, json, sys
open_slices = {}
for event in json.load(open(sys.argv[1]), parse_float=decimal.Decimal)["traceEvents"]:
	slices = open_slices.setdefault(event["tid"], [])
	if event["ph"] == "B":
		slices.append((int(event["ts"] * 1000), event["name"]))
	elif event["ph"] == "E":
		start, name = slices.pop()
		print(event["tid"], start, int(event["ts"] * 1000), len(slices), name)' "$tmp/all.json" | sort
}
from_txt() {
	python3 -c 'import re, sys
for line in open(sys.argv[1]):
	call = re.match(r" *(\d+)\.(\d{9}) +(\d+) +(\d+)\.(\d{3})  ( *)(?:\{(\d+)\} )?(.*)", line)
	if call:
		seconds, ns, tid, us, ns_of_us, indent, depth, text = call.groups()
		start = int(seconds + ns)
		text = re.sub(r"( \[(inlined|inferred start time|open at end)\])+$", "", text)
		name = re.sub(r" \([/[].*\)$", "", text)
		print(tid, start, start + int(us + ns_of_us), depth or len(indent) // 2, name)' "$tmp/all.txt" | sort
}
same() {
	from_tsv >"$tmp/wanted"
	"from_$1" >"$tmp/got"
	[ -s "$tmp/wanted" ] && diff "$tmp/wanted" "$tmp/got"
}
from_speedscope() {
	python3 -c 'import json, re, sys
trace = json.load(open(sys.argv[1]))
for profile in trace["profiles"]:
	tid, calls = re.search(r"tid=(\d+)", profile["name"]).group(1), []
	for event in profile["events"]:
		if event["type"] == "O":
			calls.append(event)
		else:
			call = calls.pop()
			assert call["frame"] == event["frame"]
			print(tid, call["at"], event["at"], len(calls), trace["shared"]["frames"][call["frame"]]["name"])' "$tmp/all.speedscope.json" |
		sort
}
for format in csv json speedscope txt; do
	check "$format: the slices of .tsv" same $format
done

# Time by itself is what is left of a call when those in it are taken away: together, the outermost calls.
folded_sum() {
	wanted=$(awk -F '\t' '$3 == 0 { sum += $2 - $1 } END { printf "%d", sum }' "$tmp/all.tsv")
	[ "$(awk '{ sum += $NF } END { printf "%d", sum }' "$tmp/all.folded")" = "$wanted" ] && [ "$wanted" -gt 0 ] || {
		echo "not $wanted"
		return 1
	}
}
check 'folded: all times together are those of the outermost calls' folded_sum

# pprof's own reader, which says what it read as text: each sample is a line of folded stacks, and its calls
# are those of .tsv.
from_pprof() {
	go tool pprof -raw "$tmp/all.pb" >"$tmp/raw" && grep -q '^1: .*torture ' "$tmp/raw" &&
		python3 -c 'import collections, re, sys
names, samples, part = {}, [], ""
for line in open(sys.argv[1]):
	if re.match(r"(Samples|Locations|Mappings)", line):
		part = line.split(":")[0].strip()
	elif part == "Samples" and (sample := re.match(r" +(\d+) +(\d+): ([\d ]+)$", line)):
		samples.append((int(sample[1]), int(sample[2]), sample[3].split()))
	elif part == "Samples" and (thread := re.match(r" +thread:\[(.*)\]$", line)):
		samples[-1] += (thread[1],)
	elif part == "Locations" and (place := re.match(r" +(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*?) \S*:\d+ s=\d+$", line)):
		names[place[1]] = place[2]
times = collections.Counter()
for calls, ns, stack, thread in samples:
	times[";".join([thread] + [names[frame].replace(";", ":") for frame in reversed(stack)])] += ns
for stack, ns in times.items():
	if ns:
		print(stack, ns)
print(sum(sample[0] for sample in samples), file=sys.stderr)' "$tmp/raw" 2>"$tmp/pprof.calls" | LC_ALL=C sort >"$tmp/pprof.folded" &&
		LC_ALL=C sort "$tmp/all.folded" | diff - "$tmp/pprof.folded" && [ "$(cat "$tmp/pprof.calls")" = "$(calls)" ]
}
if command -v go >/dev/null; then
	check 'pprof reads the folded stacks and their calls, the program first' from_pprof
else
	skip 'pprof reads the folded stacks and their calls, the program first' 'no go in $PATH'
fi

check 'json.gz is json' sh -c "gzip -dc '$tmp/all.json.gz' | cmp - '$tmp/all.json'"
if command -v zstd >/dev/null; then
	check 'fxt.zst is fxt' sh -c "zstd -dc '$tmp/all.fxt.zst' | cmp - '$tmp/all.fxt'"
else
	skip 'fxt.zst is fxt' 'no zstd in $PATH'
fi
to_stdout() {
	"$trailcam" decode -o - --format tree "$tmp/rec" 2>/dev/null | cmp - "$tmp/all.txt"
}
check '--format for standard output' to_stdout
format_of_unnamed() {
	"$trailcam" decode -o "$tmp/odd" -o "$tmp/odd.gz" --format csv "$tmp/rec" 2>/dev/null &&
		cmp "$tmp/odd" "$tmp/all.csv" && gzip -dc "$tmp/odd.gz" | cmp - "$tmp/all.csv"
}
check '--format where the suffix says nothing' format_of_unnamed

hits_inside() {
	"$trailcam" run --source step --step-from main -t table_grow --max-hits 2 -o "$tmp/hits.txt" -o "$tmp/hits.csv" -o "$tmp/hits.json" -- "$programs/wordcount" \
		>/dev/null 2>"$tmp/err" || return 1
	[ "$(grep -c ',hit,table_grow,' "$tmp/hits.csv")" -eq 2 ] && [ "$(grep -c '"cat":"hit","name":"table_grow"' "$tmp/hits.json")" -eq 2 ] &&
		[ "$(grep -B1 ' \* hit table_grow .* rip=0x' "$tmp/hits.txt" | grep -c '  table_grow (.*wordcount.c:[0-9]*)')" -eq 2 ]
}
if bpf_missing; then
	skip 'hits are told inside their calls' "$bpf_reason"
else
	check 'hits are told inside their calls' hits_inside
fi

one_fails() {
	status_is 1 "$trailcam" decode -o "$tmp/no/1.fxt" -o "$tmp/yes.tsv" -o "$tmp/no/2.json" "$tmp/rec" 2>"$tmp/err" &&
		cmp "$tmp/yes.tsv" "$tmp/all.tsv" && says "$tmp/err" "cannot write $tmp/no/1.fxt: No such" &&
		says "$tmp/err" "cannot write $tmp/no/2.json: No such"
}
check 'where one cannot be written, the others are' one_fails
refused() {
	text=$1
	shift
	status_is 2 "$trailcam" decode "$@" "$tmp/rec" 2>"$tmp/err" && says "$tmp/err" "$text"
}
check 'an unknown format lists those there are' refused 'json, folded, folded-total, pprof, tree, csv' -o - --format mp3
check 'an unknown suffix lists those there are' refused '.json, .folded, .total, .pb, .txt' -o x.mp3
check 'twice the same file' refused 'is given twice' -o x.txt -o x.txt
check '--format without a file' refused '--format needs -o' --format tree
check 'too many files' refused 'no more than 16' $(seq -f '-o%g.txt' 17)

# query FORMAT SQL: its one number.
query() {
	echo "$2" >"$tmp/query.sql"
	trace_processor -q "$tmp/query.sql" "$tmp/all.$1" | tail -1
}
in_perfetto() {
	for format in fxt pftrace json; do
		[ "$(query $format "select count(*) from slice where name != 'trace begins'")" = "$(calls)" ] &&
			[ "$(query $format "select count(*) from stats where value != 0 and severity != 'info'")" = 0 ] || {
			echo "not $format"
			return 1
		}
	done
}
# What speedscope says to its console while it reads the file.
in_speedscope() {
	for format in speedscope.json json folded; do
		printf "speedscope.loadFileFromBase64('%s','%s')" "all.$format" "$(base64 -w0 "$tmp/all.$format")" >"$tmp/profile.js"
		chromium --headless=new --no-sandbox --disable-gpu --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --user-data-dir="$tmp/browser" \
			--allow-file-access-from-files --enable-logging=stderr --virtual-time-budget=8000 --dump-dom \
			"file://$speedscope/index.html#localProfilePath=$tmp/profile.js" 2>&1 | grep CONSOLE >"$tmp/console"
		if grep -E 'Tried to end|still open|[Ee]rror' "$tmp/console" || ! grep 'import: ' "$tmp/console"; then
			echo "not $format"
			return 1
		fi
	done
}
speedscope=$(npm root -g 2>/dev/null)/speedscope/dist/release
if [ -e "$speedscope/index.html" ] && command -v chromium >/dev/null; then
	check 'speedscope reads its own format, JSON and folded stacks without a complaint' in_speedscope
else
	skip 'speedscope reads what is for it' 'it is not installed (npm install -g speedscope), or chromium is not'
fi
if command -v trace_processor >/dev/null; then
	check 'as many slices in Perfetto, and no complaint' in_perfetto
else
	skip 'as many slices in Perfetto' 'no trace_processor in $PATH'
fi
finish
