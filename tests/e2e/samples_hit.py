# SPDX-License-Identifier: BSD-2-Clause
# samples_hit.py LOG TRACE.json FUNCTION NTH: what tests/programs/logged.c says of the NTH call of FUNCTION,
# which was hit, against the slices: one begins at the hit, and all of its callers are open then, however short
# they are.
import json
import sys

FUNCTIONS = {"alpha", "beta", "gamma_", "delta", "epsilon"}


def main(log, path, function, nth):
    calls = sorted((int(begin), int(depth)) for name, begin, end, depth in map(str.split, open(log)) if name == function)
    (before, _), (begin, depth) = calls[int(nth) - 2:int(nth)]
    trace = json.load(open(path))
    base = trace["otherData"]["clock_ns"]
    hits = [event for event in trace["traceEvents"] if event.get("cat") == "hit"]
    assert len(hits) == 1, hits
    hit = hits[0]["ts"]
    # The log is written within the call.
    assert before < base + round(hit * 1000) <= begin, (before, base + round(hit * 1000), begin)
    callers, found = [], []
    for event in trace["traceEvents"]:
        if event["ph"] == "B":
            if event["name"] == function and abs(event["ts"] - hit) < 0.002:
                found.append((event, sum(name in FUNCTIONS for name in callers)))
            callers.append(event["name"])
        elif event["ph"] == "E":
            callers.pop()
    assert len(found) == 1, found
    assert "inferred_start_time" not in found[0][0]["args"], found
    assert found[0][1] == depth, (found, depth)


main(*sys.argv[1:])
