# SPDX-License-Identifier: BSD-2-Clause
# samples_hit.py LOG TRACE.json FUNCTION NTH|slow: what tests/programs/logged.c says of its calls against the
# slices. The NTH call of FUNCTION was hit as it began, or a slow one as it returned: the slice begins, and
# ends, exactly then, and all of its callers are open, however short they are.
import json
import sys

FUNCTIONS = {"alpha", "beta", "gamma_", "delta", "epsilon"}
NEAR_US = 0.002


def is_near(a, b):
    return abs(a - b) < NEAR_US


def slices_of(trace, function):
    """Of each of the function's: begin, end, arguments, how many of the program's functions it is within."""
    found, open_events = [], []
    for event in trace["traceEvents"]:
        if event["ph"] == "B":
            open_events.append(event)
        elif event["ph"] == "E":
            begin = open_events.pop()
            if begin["name"] == function:
                depth = sum(caller["name"] in FUNCTIONS for caller in open_events)
                found.append((begin["ts"], event["ts"], begin["args"], depth))
    return found


def main(log, path, function, nth):
    calls = sorted((int(begin), int(end), int(depth)) for name, begin, end, depth in map(str.split, open(log)) if name == function)
    trace = json.load(open(path))
    base = trace["otherData"]["clock_ns"]
    hits = [event for event in trace["traceEvents"] if event.get("cat") == "hit"]
    assert len(hits) == 1, hits
    end = hits[0]["ts"]
    begin = end - hits[0]["args"].get("elapsed_ns", 0) / 1000
    found = [found for found in slices_of(trace, function) if is_near(found[0], begin) and (nth != "slow" or is_near(found[1], end))]
    assert len(found) == 1, found
    _, _, args, depth = found[0]
    assert "inferred_start_time" not in args, args
    # The log is written within the call.
    begin_ns, end_ns = base + round(begin * 1000), base + round(end * 1000)
    if nth == "slow":
        within = [call for call in calls if begin_ns <= call[0] and call[1] <= end_ns]
        assert within and within[0][2] == depth, (begin_ns, end_ns, depth, within)
    else:
        before, call = calls[int(nth) - 2:int(nth)]
        assert before[0] < begin_ns <= call[0] and call[2] == depth, (before, begin_ns, call, depth)


main(*sys.argv[1:])
