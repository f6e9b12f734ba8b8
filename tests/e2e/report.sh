#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# report says what the timeline's text (dump --slices, dump --hits) says, added up by other programs; traces
# that were written before are read back.
. tests/e2e/lib.sh
unset NO_COLOR

record() {
	out=$1
	shift
	"$trailcam" run --source step -o "$tmp/$out.fxt.gz" --keep-recording "$tmp/$out" "$@" >"$tmp/$out.out" 2>"$tmp/$out.err"
}

# --- traces, read back

record torture -- "$programs/torture"
check 'recorded' test -s "$tmp/torture.fxt.gz"

reads_back() {
	"$trailcam" dump --slices "$tmp/torture" >"$tmp/slices"
	"$trailcam" dump --slices "$tmp/torture.fxt.gz" >"$tmp/again"
	[ "$(wc -l <"$tmp/slices")" -gt 1000 ] && cmp "$tmp/slices" "$tmp/again"
}
check 'a trace has the calls of its recording' reads_back

writes_again() {
	"$trailcam" decode "$tmp/torture.fxt.gz" -o "$tmp/again.fxt" 2>"$tmp/err" &&
		gzip -dc "$tmp/torture.fxt.gz" | cmp - "$tmp/again.fxt"
}
check 'decode writes a trace again, byte for byte' writes_again

cut_off() {
	head -c 20003 "$tmp/again.fxt" >"$tmp/cut.fxt"
	"$trailcam" report "$tmp/cut.fxt" >"$tmp/out" 2>"$tmp/err" && says "$tmp/err" 'cut off' && says "$tmp/out" ' 0 gaps'
}
check 'of a trace that is cut off, it says what is there' cut_off

# --- numbers

# As JSON says them, with functions of one name together, against the calls of the text put together by their
# depths.
cat >"$tmp/numbers.py" <<'PY'
import collections, json, sys
report, slices = json.load(open(sys.argv[1])), open(sys.argv[2])
thread = int(sys.argv[3]) if len(sys.argv) > 3 else None
calls, self_ns, total, gaps = (collections.Counter() for _ in range(4))
threads = collections.defaultdict(list)
for line in slices:
    if line.startswith("#"):
        continue
    start, end, depth, name, pid, tid = line.rstrip("\n").split("\t")
    if thread in (None, int(tid)):
        threads[int(tid)].append((int(start), int(end), int(depth), name.removesuffix(" [inferred start time]")))
for tid, rows in threads.items():
    stack = []
    for start, end, depth, name in rows:
        if depth < 0:
            gaps[tid] += name.startswith("[gap")
            continue
        del stack[depth:]
        calls[name] += 1
        self_ns[name] += end - start
        if stack:
            self_ns[stack[-1]] -= end - start
        if name not in stack:
            total[name] += end - start
        stack.append(name)
objects, got_calls, got_self, got_total = (collections.Counter() for _ in range(4))
for row in report["functions_by_self"]:
    objects[row["name"]] += 1
    got_calls[row["name"]] += row["calls"]
    got_self[row["name"]] += row["self_ns"]
    got_total[row["name"]] += row["total_ns"]
assert len(calls) > 10
assert dict(got_calls) == dict(calls)
assert dict(got_self) == dict(self_ns)
for name in calls:
    assert objects[name] > 1 or got_total[name] == total[name], (name, got_total[name], total[name])
assert report["trace"]["calls"] == sum(calls.values())
assert report["trace"]["gaps"] == sum(gaps.values())
assert report["trace"]["total_ns"] == sum(self_ns.values())
assert {t["tid"] for t in report["trace"]["threads"]} == set(threads)
for key in ("self", "total"):
    rows = [row[key + "_ns"] for row in report["functions_by_" + key]]
    assert rows == sorted(rows, reverse=True) and len(rows) == sum(objects.values())
assert report["syscall_ns"] == total["[syscall]"]
PY

numbers() {
	"$trailcam" report --json --top 100000 "$tmp/torture" >"$tmp/json" && python3 "$tmp/numbers.py" "$tmp/json" "$tmp/slices"
}
numbers_of_thread() {
	tid=$(awk 'END { print $NF }' "$tmp/slices")
	"$trailcam" report --json --top 100000 --thread "$tid" "$tmp/torture.fxt.gz" >"$tmp/json" &&
		python3 "$tmp/numbers.py" "$tmp/json" "$tmp/slices" "$tid"
}

# The text has the functions of JSON in its order, with as many calls.
same_in_text() {
	"$trailcam" report --json --top 8 "$tmp/torture" >"$tmp/json"
	"$trailcam" report --top 8 "$tmp/torture" >"$tmp/text"
	python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
for key in ("self", "total"):
    for row in report["functions_by_" + key]:
        print(row["calls"], row["name"])' "$tmp/json" >"$tmp/wanted"
	sed -n -E '/^Functions by/,/^$/s/^ *[0-9.]+ [a-z]+ +[0-9.]+ % +[0-9.]+ [a-z]+ +[0-9.]+ % +([0-9]+)  (.*)$/\1 \2/p' "$tmp/text" |
		sed 's/  ([^()]*)$//' >"$tmp/got"
	[ "$(wc -l <"$tmp/wanted")" -eq 16 ] && diff "$tmp/wanted" "$tmp/got"
}

# Callers and callees of those functions that most often call others, against the calls of the text.
cat >"$tmp/around.py" <<'PY'
import collections, json, sys
report, slices, name = json.load(open(sys.argv[1])), open(sys.argv[2]), sys.argv[3]
calls, total = {"callers": collections.Counter(), "callees": collections.Counter()}, {"callers": collections.Counter(), "callees": collections.Counter()}
stacks = collections.defaultdict(list)
for line in slices:
    if line.startswith("#"):
        continue
    start, end, depth, callee, pid, tid = line.rstrip("\n").split("\t")
    start, end, depth, callee = int(start), int(end), int(depth), callee.removesuffix(" [inferred start time]")
    if depth < 0:
        continue
    stack = stacks[tid]
    del stack[depth:]
    caller = stack[-1] if stack else None
    if callee == name:
        calls["callers"][caller] += 1
        total["callers"][caller] += 0 if name in stack else end - start
    if caller == name:
        calls["callees"][callee] += 1
        total["callees"][callee] += 0 if (name, callee) in zip(stack, stack[1:]) else end - start
    stack.append(callee)
for key in calls:
    got_calls, got_total = collections.Counter(), collections.Counter()
    for row in report[key]:
        got_calls[row.get("name")] += row["calls"]
        got_total[row.get("name")] += row["total_ns"]
    assert dict(got_calls) == dict(calls[key]) and got_calls, (key, got_calls, calls[key])
    assert dict(got_total) == dict(total[key]), (key, got_total, total[key])
assert sum(row["calls"] for row in report["functions"]) == sum(calls["callers"].values())
PY

around() {
	name=$(awk -F'\t' '$6 == tid && $3 == depth + 1 && name !~ /\[/ { print name } { tid = $6; depth = $3; name = $4 }' "$tmp/slices" |
		sort | uniq -c | sort -rn | sed -n "$1{s/^ *[0-9]* //;p}")
	"$trailcam" report --json --top 100000 --function "$name" "$tmp/torture" >"$tmp/json" &&
		python3 "$tmp/around.py" "$tmp/json" "$tmp/slices" "$name" || return 1
	# The text has the same.
	"$trailcam" report --top 100000 --function "$name" "$tmp/torture" >"$tmp/text" &&
		python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
for key in ("callers", "callees"):
    for row in report[key]:
        print(row["calls"], row.get("name", "(nothing in the trace)"))' "$tmp/json" >"$tmp/wanted" &&
		sed -n -E '/^(Called by|Calls)$/,/^$/s/^ *[0-9.]+ [a-z]+ +[0-9.]+ % +([0-9]+)  (.*)$/\1 \2/p' "$tmp/text" | diff "$tmp/wanted" -
}

if command -v python3 >/dev/null; then
	check 'who called a function, and what it called' around 1
	check 'and of another one' around 3
	check 'self, total and number of calls are those of the text, added up' numbers
	check 'of one thread, too, out of a trace' numbers_of_thread
	check 'the text says what JSON says' same_in_text
else
	skip 'numbers' 'python3 is not installed'
fi

# --- two traces: cat with a long input and a short one

printf '%2000s' '' >"$tmp/long"
printf '%20s' '' >"$tmp/short"
record slow --step-from main -- "$programs/exits" cat <"$tmp/long"
record fast --step-from main -- "$programs/exits" cat <"$tmp/short"

difference() {
	"$trailcam" report --diff "$tmp/fast.fxt.gz" "$tmp/slow" >"$tmp/text" && says "$tmp/text" 'A took' && says "$tmp/text" 'longer than B' &&
		awk '/^A$/ { a = 1 } /^B$/ { b = 1 } /^trace/ { path = $2 } a && !b && path ~ /slow$/ { first = 1 } b && path ~ /fast.fxt.gz$/ { second = 1 }
			$1 ~ /^\+/ && $NF ~ /getc/ && $5 == 2001 && $8 == 21 { found = 1 } END { exit !(first && second && found) }' "$tmp/text"
}
difference_json() {
	"$trailcam" report --json --diff "$tmp/slow" "$tmp/fast" >"$tmp/json" && python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
row = [row for row in report["diff"] if "getc" in row["name"] and row["kind"] == "call" and row["other"]["calls"] == 2001][0]
assert row["trace"]["calls"] == 21 and row["difference_ns"] < 0 and report["difference_ns"] < 0
assert row["difference_ns"] == row["trace"]["total_ns"] - row["other"]["total_ns"]
assert report["difference_ns"] == report["trace"]["total_ns"] - report["other"]["total_ns"]' "$tmp/json"
}
same() {
	"$trailcam" report --diff "$tmp/slow" "$tmp/slow.fxt.gz" >"$tmp/text" && says "$tmp/text" 'took the same time' && ! grep -q 'only in' "$tmp/text"
}
check 'the planted difference is found' difference
command -v python3 >/dev/null && check 'in JSON, too, the other way round' difference_json
check 'a trace does not differ from its recording' same

# --- colours

coloured() {
	TERM=xterm script -qec "stty cols 300; '$trailcam' report '$tmp/fast.fxt.gz'" /dev/null >"$tmp/tty" && grep -q "$(printf '\033')" "$tmp/tty"
}
plain() {
	env "$1" script -qec "'$trailcam' report '$tmp/fast.fxt.gz'" /dev/null >"$tmp/tty" && says "$tmp/tty" 'Functions by self time' &&
		! grep -q "$(printf '\033')" "$tmp/tty"
}
narrow() {
	script -qec "stty cols 100; NO_COLOR=1 '$trailcam' report '$tmp/torture.fxt.gz'" /dev/null | tr -d '\r' >"$tmp/tty"
	says "$tmp/tty" '...' && awk 'length($0) > 100 { print; bad = 1 } END { exit bad }' "$tmp/tty"
}
# at_most_80 OPTION...: and some line would be longer without the limit.
at_most_80() {
	"$trailcam" report --wide "$@" >"$tmp/text" && awk 'length($0) > 90 { found = 1 } END { exit !found }' "$tmp/text" &&
		"$trailcam" report "$@" >"$tmp/text" && ! grep -q "$(printf '\033')" "$tmp/text" && awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' "$tmp/text"
}
piped() {
	at_most_80 "$tmp/torture.fxt.gz"
}
cat >"$tmp/long.cc" <<'END'
#include <map>
#include <string>
#include <vector>
namespace some_namespace_with_a_long_name {
template <typename K, typename V> struct registry {
	std::map<K, std::vector<V>> entries;
	__attribute__((noinline)) int insert_or_assign(const K &key, const V &value, int depth)
	{
		if (depth)
			return insert_or_assign(key, value, depth - 1) + 1;
		entries[key].push_back(value);
		return (int)entries.size();
	}
};
}
int main()
{
	some_namespace_with_a_long_name::registry<std::string, std::pair<std::string, std::vector<std::string>>> registry;
	return registry.insert_or_assign("key", {"x", {"y"}}, 60) == 0;
}
END
long_names() {
	g++ -g -O1 -fno-optimize-sibling-calls -o "$tmp/long" "$tmp/long.cc" && name=$(nm "$tmp/long" | awk '$3 ~ /insert_or_assign/ { print $3; exit }') &&
		"$trailcam" run --source step --step-from "$name" -t "$name" --skip 55 --keep-recording "$tmp/long.rec" -o "$tmp/long.fxt" -- "$tmp/long" 2>"$tmp/err" ||
		return 1
	at_most_80 "$tmp/long.rec" && grep -q '^    #0 .*insert_or_assign(...)  long.cc:7$' "$tmp/text" && grep -q ' [.][.][.].*::insert_or_assign(...)$' "$tmp/text" &&
		at_most_80 --function "$("$trailcam" dump --slices "$tmp/long.rec" | awk -F '\t' '$4 ~ /insert_or_assign/ { sub(/ .inferred start time.$/, "", $4); print $4; exit }')" "$tmp/long.rec" &&
		at_most_80 --diff "$tmp/torture.fxt.gz" "$tmp/long.rec"
}
if command -v script >/dev/null; then
	check 'colours on a terminal' coloured
	check 'none with NO_COLOR' plain NO_COLOR=1
	check 'none on a dumb terminal' plain TERM=dumb
	check 'no line is wider than the terminal' narrow
else
	skip 'colours' 'script is not installed (package bsdutils)'
fi
check 'in a pipe there are no colours, and 80 columns; --wide: whole lines' piped
if [ "$(id -u)" -eq 0 ]; then
	check 'recursion and long names of C++ fit into 80 columns; stacks have source lines' long_names
else
	skip 'long names of C++' 'not root'
fi

# --- bad input

refuses() {
	status_is "$1" "$trailcam" report $3 >"$tmp/out" 2>"$tmp/err" && says "$tmp/err" "$2" && ! test -s "$tmp/out"
}
printf '\020\000\004FxT\026\000' >"$tmp/empty.fxt"
check 'no file' refuses 1 'No such file' "$tmp/nowhere.fxt.gz"
check 'not a trace' refuses 1 'not a recording' /etc/passwd
check 'a trace of nothing' refuses 1 'no event' "$tmp/empty.fxt"
check 'a thread that is not there' refuses 1 'has no thread 1' "--thread 1 $tmp/fast.fxt.gz"
check 'functions that are not called' refuses 1 'no call of nowhere' "--from nowhere --to main $tmp/fast.fxt.gz"
check 'a function that is not there' refuses 1 "did you mean 'main'?" "--function mian $tmp/fast.fxt.gz"
check '--diff with --function' refuses 2 'give --diff or --function, not both' "--function main --diff $tmp/fast $tmp/slow"
check 'nothing to report on' refuses 2 'no trace or recording' ''
check 'two traces' refuses 2 'is one too many' "$tmp/fast $tmp/slow"
check 'not a number' refuses 2 '--hits takes a whole number' "--hits all $tmp/fast"
check '--from alone' refuses 2 'give both' "--from main $tmp/fast"
check '--diff with --thread' refuses 2 'give --diff or --thread, not both' "--thread 1 --diff $tmp/fast $tmp/slow"
check 'a full disk' status_is 1 sh -c "'$trailcam' report '$tmp/fast' >/dev/full"

# --- hits

if bpf_missing; then
	skip 'hits' "$bpf_reason"
	finish
fi
record hit -t table_add --max-hits 6 -- "$programs/wordcount"

hits() {
	"$trailcam" dump --hits "$tmp/hit" >"$tmp/hits"
	"$trailcam" dump --slices "$tmp/hit" >"$tmp/slices"
	for from in hit hit.fxt.gz; do
		"$trailcam" report --json -n 20 "$tmp/$from" >"$tmp/json" && python3 "$tmp/hits.py" "$tmp/json" "$tmp/hits" "$tmp/slices" || return 1
	done
}
cat >"$tmp/hits.py" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
dumped = []
for line in open(sys.argv[2]):
    words = line.split()
    if words[0] == "hit":
        dumped.append({"stack": []})
    elif words[0].startswith("#"):
        dumped[-1]["stack"].append((int(words[1], 16), words[2].split("+0x")[0]))
    else:
        dumped[-1][words[0]] = words[1]
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[3]) if not line.startswith("#")]
rows = [(int(r[0]), r[3].removesuffix(" [inferred start time]")) for r in rows if int(r[2]) >= 0]
assert report["trace"]["hits"] == len(dumped) == 6
assert [hit["number"] for hit in report["hits"]] == [1, 2, 5, 6] and report["hits_left_out"] == 2
for hit in report["hits"]:
    wanted = dumped[hit["number"] - 1]
    assert hit["trigger"] == wanted["trigger"] == "table_add"
    for key in ("time_ns", "monotonic_ns", "pid", "tid", "cpu"):
        assert hit[key] == int(wanted[key]), key
    assert len(hit["registers"]) == 20
    for name, value in {**hit["registers"], **hit["args"], "return_address": hit["return_address"]}.items():
        assert int(value, 16) == int(wanted[name], 16), name
    assert [(int(frame["ip"], 16), frame["name"]) for frame in hit["stack"]] == wanted["stack"]
    calls = [call for call in hit["calls_before"] if not call["outer"]]
    assert calls[-1]["name"] == "table_add" and calls[-1]["open"] and len(calls) == 20
    before = [row for row in rows if row[0] <= hit["time_ns"]]
    found = [(call["start_ns"], call["name"]) for call in calls]
    # The text has another order where calls begin at the same time, as they seem to on a busy machine.
    assert found == sorted(found, key=lambda row: row[0]) and set(found) <= set(before)
    first = found[0][0]
    assert sorted(row for row in found if row[0] > first) == sorted(row for row in before if row[0] > first)
    assert [call["name"] for call in hit["calls_before"] if call["open"]][-2:] == ["main", "table_add"]
PY
hits_in_text() {
	"$trailcam" report -n 5 --hits 2 "$tmp/hit.fxt.gz" >"$tmp/text" && says "$tmp/text" 'Hit 1 of 6' && says "$tmp/text" 'Hit 6 of 6' &&
		says "$tmp/text" '4 hits in between' && says "$tmp/text" 'arg0' && says "$tmp/text" 'the last 5 calls before it' &&
		awk '/[+]: open,/ { on = 1; getline; next } /^$/ { on = 0 } on && $NF == "table_add" && /s[+][~ ]/ { n++ } END { exit n != 2 }' "$tmp/text"
}
if command -v python3 >/dev/null; then
	check 'hits have the registers, stacks and calls of the text' hits
else
	skip 'what hits have' 'python3 is not installed'
fi
check 'hits in the text' hits_in_text
finish
