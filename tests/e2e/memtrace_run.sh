#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run --memtrace: what a program says that it allocates, and what stands on the timeline.
. tests/e2e/lib.sh

if bpf_missing; then
	skip 'all of run --memtrace' "$bpf_reason"
	finish
fi

run() {
	rm -rf "$tmp/rec"
	"$trailcam" run --keep-recording "$tmp/rec" -o "$tmp/t.fxt.gz" "$@" >"$tmp/out" 2>"$tmp/err"
}

# said TRACE: the instants of allocations in the words of the program.
said() {
	"$trailcam" dump --slices "$1" | awk -F '\t' '
		$3 == -1 && $4 ~ /^\[freed: / { print "collect" }
		$3 == -1 && $4 ~ /^\[[a-z_]*: [0-9]* bytes at 0x/ && $4 !~ /^\[freed/ {
			split($4, words, " ")
			print "alloc", words[2] ? int((words[2] + 7) / 8) : 1
		}'
}

every_way() {
	run --source step --memtrace=1 "$@" -- "$programs/allocs"
	said "$tmp/rec" >"$tmp/said" && [ -s "$tmp/out" ] && diff "$tmp/out" "$tmp/said" &&
		said "$tmp/t.fxt.gz" | diff "$tmp/out" -
}
check 'each allocation and its end, in order' every_way
check 'with uprobe_multi' every_way --attach-via uprobe_multi
check 'with perf_uprobe' every_way --attach-via perf_uprobe

# The first of the program's allocations stands within the call of malloc() that main() made.
within() {
	"$trailcam" dump --slices "$tmp/rec" | awk -F '\t' '
		$3 >= 0 { name[$3] = $4; start[$3] = $1; end[$3] = $2; depth = $3 }
		$3 < 0 && index($4, "[malloc: 100 bytes") == 1 {
			found = 1
			for (i = depth; i > 0; i--)
				if (name[i] == "malloc" && $1 >= start[i] && $1 <= end[i] && name[i - 1] == "main")
					within = 1
		}
		END { exit !(found && within) }'
}
check 'an allocation stands in its call' within

# The stack that was recorded with each allocation is the calls that are open then, but for the allocator's.
stacks_are_the_calls() {
	"$trailcam" dump --json --slices "$tmp/rec" | python3 -c '
import json, sys
events = [json.loads(line) for line in sys.stdin]
calls = [one for one in events if one["kind"] == "call"]
stacks = [one for one in events if "stack" in one.get("args", {})]
for one in stacks:
    around = sorted((call for call in calls if call["tid"] == one["tid"] and call["start_ns"] <= one["time_ns"] <= call["end_ns"]),
                    key=lambda call: -call["depth"])
    names = [call["name"] for call in around]
    wanted = one["args"]["stack"].split("\n")
    if names[-len(wanted):] != wanted:
        sys.exit(f"{one}: {names}")
sys.exit(len(stacks) < 5)' && "$trailcam" decode "$tmp/rec" -o "$tmp/a.json" && "$trailcam" decode "$tmp/t.fxt.gz" -o "$tmp/b.json" &&
		for file in a b; do grep -o '"stack":"[^"]*"' "$tmp/$file.json" | sort >"$tmp/$file.stacks"; done &&
		[ -s "$tmp/a.stacks" ] && cmp "$tmp/a.stacks" "$tmp/b.stacks"
}
check 'the stack of an allocation is that of the calls around it' stacks_are_the_calls

# Nothing of the probes shows in what the program did.
calls_of() {
	"$trailcam" dump --slices "$tmp/rec" | awk -F '\t' '$3 >= 0 { print $3, $4 }'
}
undisturbed() {
	run --source step -- "$programs/allocs" || [ $? -eq 3 ] || return 1
	calls_of >"$tmp/without"
	run --source step --memtrace=1 -- "$programs/allocs" || [ $? -eq 3 ] || return 1
	calls_of | diff "$tmp/without" - && ! "$trailcam" dump --slices "$tmp/rec" | grep -q '\[gap'
}
check 'the calls are those of a run without it' undisturbed

counted() {
	"$trailcam" decode "$tmp/rec" -o "$tmp/t.json" >/dev/null 2>&1
	python3 - "$tmp/t.json" "$tmp/out" <<'EOF'
import json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
values = {}
for event in events:
    if event["ph"] == "C":
        values.setdefault(event["name"], []).append(event["args"]["value"])
words = [int(line.split()[1]) for line in open(sys.argv[2]) if line.startswith("alloc")]
allocated = values["allocated bytes (estimate)"][-1]
# what the program says is in words of 8 bytes
assert sum(words) * 8 - 7 * len(words) <= allocated <= sum(words) * 8, (allocated, sum(words) * 8)
assert values["live bytes (estimate)"][-1] == 0, values
assert max(values["live bytes (estimate)"]) >= 3 << 20, values
EOF
}
check 'the counters: all of it, and what is alive' counted

# In formats with arguments an allocation is called as its function, and its end "free": linked by a number,
# which is also that of the arrow between them.
linked() {
	python3 - "$tmp/t.json" "$tmp/out" <<'EOF'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
begun, ended, arrows = {}, {}, {"s": set(), "f": set()}
for event in events:
    if event["ph"] == "i" and "allocation" in event.get("args", {}):
        ends = event["name"] == "free"
        assert ends or "alloc" in event["name"] or "align" in event["name"], event
        (ended if ends else begun)[event["args"]["allocation"]] = event
    elif event["ph"] in arrows and event["name"] == "allocation":
        arrows[event["ph"]].add(event["id"])
said = open(sys.argv[2]).read().splitlines()
assert len(begun) == sum(line.startswith("alloc") for line in said) and len(ended) == sum(line == "collect" for line in said)
for number, end in ended.items():
    begin = begun[number]
    assert begin["ts"] <= end["ts"] and all(begin["args"][key] == end["args"][key] for key in ("bytes", "address")), (begin, end)
    assert end["args"]["lifetime_ns"] > 0
assert arrows == {"s": set(begun), "f": set(ended)}
EOF
}
check 'each end is linked to its allocation' linked

# The report's sums are those of the events.
summed() {
	"$trailcam" report --json "$tmp/rec" >"$tmp/report.json" && "$trailcam" report "$tmp/rec" | grep -q 'Recorded allocations' &&
		python3 - "$tmp/t.json" "$tmp/report.json" <<'EOF'
import json, sys
sums, ended = {}, set()
events = [event for event in json.load(open(sys.argv[1]))["traceEvents"] if event["ph"] == "i" and "allocation" in event.get("args", {})]
ended = {event["args"]["allocation"] for event in events if event["name"] == "free"}
for event in events:
    if event["name"] != "free":
        row = sums.setdefault(event["name"], [0, 0, 0, 0])
        row[0] += 1
        row[1] += event["args"]["bytes"]
        if event["args"]["allocation"] not in ended:
            row[2] += 1
            row[3] += event["args"]["bytes"]
rows = {row["function"]: [row["times"], row["bytes"], row["not_freed_times"], row["not_freed_bytes"]] for row in json.load(open(sys.argv[2]))["allocations"]}
assert rows == sums and len(rows) > 2, (rows, sums)
EOF
}
check 'the report sums them up' summed

free_running() {
	run --source none --memtrace=4k -t libc.so.6:exit -- "$programs/allocs" mix 20000 || return 1
	"$trailcam" report "$tmp/rec" | grep -q 'Hit 1 of 1'
}
check 'at full speed' free_running

# Where no calls are traced, what is allocated is there, and its threads, from the first allocation on.
without_calls() {
	run --source none --memtrace=1 "$@" -- "$programs/allocs" || [ $? -eq 3 ] || return 1
	said "$tmp/rec" | diff "$tmp/out" - && said "$tmp/t.fxt.gz" | diff "$tmp/out" - && counted
}
check 'without calls' without_calls
check 'without calls, at a hit' without_calls -t libc.so.6:exit
every_sink() {
	for format in fxt html pftrace speedscope.json json folded total pb txt csv tsv; do
		"$trailcam" decode "$tmp/rec" -o "$tmp/every.$format" || return 1
	done
}
check 'without calls, in every format' every_sink

attached() {
	"$programs/allocs" forever &
	pid=$!
	wait_until_runs $pid allocs || return 1
	"$trailcam" attach -p $pid --source step --max-stall none --memtrace=1 -t mix --max-hits 2 --keep-recording "$tmp/rec" -o "$tmp/t.fxt.gz" 2>"$tmp/err"
	status=$?
	kill -0 $pid && kill $pid
	[ $status -eq 0 ] && "$trailcam" dump --slices "$tmp/rec" >"$tmp/slices" && grep -q '\[malloc: [0-9]* bytes at 0x' "$tmp/slices"
}
check 'a process that runs already' attached

refuses() {
	rm -f "$tmp/t.fxt.gz"
	for interval in 0 -1 x 63 2G; do
		! run --memtrace=$interval -- true && says "$tmp/err" '--memtrace' && [ ! -e "$tmp/t.fxt.gz" ] || return 1
	done
}
check 'intervals that are none' refuses

finish
