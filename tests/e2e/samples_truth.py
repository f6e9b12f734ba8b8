# SPDX-License-Identifier: BSD-2-Clause
# samples_truth.py LOG TRACE.json: what tests/programs/logged.c says of its calls, against the slices made of
# 2000 samples a second. No invocation is cut in two, and what is not marked as inferred or open begins and
# ends within a period of the truth, on the same clock.
import json
import sys

FUNCTIONS = {"alpha", "beta", "gamma_", "delta", "epsilon"}


def plain(name):
    """alpha, of alpha(), logged::alpha or main.alpha."""
    return name.split("(")[0].split("::")[-1].split(".")[-1]


def read_slices(path):
    trace = json.load(open(path))
    base = trace["otherData"]["clock_ns"]
    begin, slices, marks = [], [], 0
    for event in trace["traceEvents"]:
        event["name"] = plain(event.get("name", ""))
        if event["ph"] == "B":
            begin.append((event, len([e for e in begin if e[0]["name"] in FUNCTIONS])))
        elif event["ph"] == "E":
            first, depth = begin.pop()
            if first["name"] in FUNCTIONS:
                at = [base + round(e["ts"] * 1000) for e in (first, event)]
                slices.append((first["name"], at[0], at[1], depth, first.get("args", {})))
            marks += first["name"] in FUNCTIONS and first["args"].get("sampled") == "true"
    assert marks == len(slices), "a slice does not say that it is sampled"
    return slices


def main(log, trace):
    calls = [(name, int(begin), int(end), int(depth)) for name, begin, end, depth in map(str.split, open(log))]
    slices = read_slices(trace)
    split = alone = edges = late = 0
    period = 1000000000 // 2000
    for name, begin, end, depth in calls:
        own = [s for s in slices if s[0] == name and s[3] == depth and begin - period < (s[1] + s[2]) / 2 < end + period
               and min(s[2], end) - max(s[1], begin) > (s[2] - s[1]) / 2]
        split += len(own) > 1
        if len(own) != 1:
            continue
        slice = own[0]
        # Two calls from one place, one behind the other, may be one slice.
        if sum(c[0] == name and c[3] == depth and min(c[2], slice[2]) > max(c[1], slice[1]) for c in calls) > 1:
            continue
        alone += 1
        for mark, ours, theirs in (("inferred_start_time", slice[1], begin), ("open_at_end", slice[2], end)):
            if mark not in slice[4]:
                edges += 1
                late += abs(ours - theirs) > period
    print(f"{len(calls)} calls, {len(slices)} slices, {split} split, {alone} alone, {edges} edges, {late} further than a period")
    assert not split and alone > 20 and edges > 20 and late <= edges / 20


main(*sys.argv[1:])
