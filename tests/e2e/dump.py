#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether dump --json says what the text says.

    dump.py branches|slices|hits TEXT JSON
"""
import json
import sys


def number(text):
    return int(text, 16)


def branches(lines, objects):
    for line, shown in zip(lines, objects, strict=True):
        time, tid, kind, source, target, source_name, target_name = line.split("\t")
        what = shown.get("gap") or shown.get("event")
        kind_shown = shown["kind"] + (f":{what}" if what else "")
        kind_shown += "+start" * shown["trace_starts"] + "+end" * shown["trace_ends"]
        assert (int(time), int(tid), kind) == (shown["time_ns"], shown["tid"], kind_shown), line
        assert (number(source), number(target)) == (number(shown["from"]), number(shown["to"])), line
        for text, name in ((source_name, shown["from_name"]), (target_name, shown["to_name"])):
            assert text.rsplit("+0x")[0] == (name or "-").rsplit("+0x")[0], line


def slices(lines, objects):
    def of(shown):
        suffix = " [inferred start time]" if shown.get("inferred_start") else ""
        if "depth" in shown:
            return (shown["start_ns"], shown["end_ns"], shown["depth"], shown["name"] + suffix, shown["pid"], shown["tid"])
        return (shown["time_ns"], shown["time_ns"], -1, shown["title"], shown["pid"], shown["tid"])

    def of_text(line):
        start, end, depth, name, pid, tid = line.split("\t")
        return (int(start), int(end), int(depth), name, int(pid), int(tid))

    texts = sorted(of_text(line) for line in lines if not line.startswith("#"))
    assert texts == sorted(of(shown) for shown in objects)
    assert {shown["kind"] for shown in objects} >= {"call", "gap"}


def hits(lines, objects):
    blocks = []
    for line in lines:
        if line.startswith("hit "):
            blocks.append([])
        else:
            blocks[-1].append(line.split(None, 1))
    for block, shown in zip(blocks, objects, strict=True):
        text = dict(block)
        for key in ("time_ns", "monotonic_ns", "pid", "tid", "cpu"):
            assert int(text[key]) == shown[key], key
        assert (text["trigger"], text["comm"]) == (shown["trigger"], shown["comm"])
        for key, value in list(shown["args"].items()) + list(shown["registers"].items()):
            assert number(text[key]) == number(value), key
        frames = [value.split()[0] for key, value in block if key.startswith("#")]
        assert [number(frame) for frame in frames] == [number(frame["ip"]) for frame in shown["stack"]]


with open(sys.argv[2]) as text, open(sys.argv[3]) as lines:
    shown = [json.loads(line) for line in lines]
    assert shown
    {"branches": branches, "slices": slices, "hits": hits}[sys.argv[1]](text.read().splitlines(), shown)
