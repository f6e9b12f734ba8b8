#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What tests/e2e/memtrace.sh needs of allocation traces.

    memtrace.py strange FILE                    makes a trace of few allocations, with names that are markup, an empty stack, an unknown place
    memtrace.py agree DUMP STATS HOTSPOTS FOLDED  figures of one trace, of which DUMP is the text, the slow way
    memtrace.py page PAGE DUMP                  uses the page of `memtrace flamegraph` as a person would
    memtrace.py strange-page PAGE               looks at that of the strange trace
"""
import json
import struct
import sys
from collections import defaultdict

STRANGE = ["</script><b>&amp;", "a;b\nc", "h\u00e9t\u00e9", "main"]
RATE, START = 1 / 8, 1_600_000_000_000_000


# --- a trace, by the format's rules

def packet(body, begin, end, ids):
    size = 68 + len(body)
    return struct.pack("<IiQQIHQHHHQQQ", 0xC1FC1FC1, 8 * size, begin, end, 0, 3, 77, 0, 0xFFFF, 0, 0, *ids) + body


def header(code, time):
    return struct.pack("<I", code << 25 | time & 0x1FFFFFF)


def location(code, places):
    body = header(1, START) + struct.pack("<QB", code, len(places))
    for line, file, function in places:
        bits = line | 1 << 20 | 2 << 28 | 31 << 38 | 31 << 43
        body += bits.to_bytes(6, "little") + file.encode() + b"\0" + function.encode() + b"\0"
    return body


def allocs(*rows):
    before, body = [], b""
    for time, length, source, codes in rows:
        same = 0
        while before[same:same + 1] == codes[same:same + 1] != []:
            same += 1
        body += header(2, START + time) + bytes([length, 1, source, same]) + struct.pack("<H", len(codes) - same)
        body += b"".join(struct.pack("<HQ", code << 2 | 3, code) for code in codes[same:])
        before = codes
    return body


def strange(path):
    info = header(0, START) + struct.pack("<dB", RATE, 64) + b"/bin/<i>x\0host\0\0" + struct.pack("<Q", 77) + b"\0"
    places = b"".join(location(code, [(10 + code, f"file{code}.ml", name)]) for code, name in enumerate(STRANGE, 1)) + location(9, [])
    events = allocs((10, 3, 0, [4, 1, 2, 4, 1]), (20, 100, 1, [4, 3]), (30, 7, 2, []), (40, 8, 2, [9]), (50, 9, 2, [4, 3, 9]))
    events += header(3, START + 60) + bytes([4]) + header(4, START + 70) + bytes([4])
    with open(path, "wb") as file:
        file.write(packet(info, START, START, (0, 0)) + packet(places, START, START, (0, 0)) +
                   packet(events, START + 10, START + 70, (0, 5)))


# --- figures

def same(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, not {wanted}")


def read_dump(path):
    """Allocations by id: [time, samples, words, source, frames, promoted, collected]; and the order of what changes what is alive."""
    allocs, order = {}, []
    with open(path) as file:
        for line in file:
            time, number, kind, *rest = line.rstrip("\n").split(" ")
            if kind.startswith("alloc"):
                names = [word.rsplit("@", 1)[0] for word in line.split(":", 1)[1].split() if "@" in word]
                allocs[number] = [int(time), int(rest[0]), int(rest[1][4:]), kind, names, False, False]
                order.append((int(time), number, 1))
            else:
                allocs[number][5 if kind == "promote" else 6] = True
                if kind == "collect":
                    order.append((int(time), number, -1))
    return allocs, order


def agree(dump, stats, hotspots, folded):
    allocs, order = read_dump(dump)
    stats, hotspots = json.load(open(stats)), json.load(open(hotspots))
    per_sample = 8 / stats["trace"]["sample_rate"]
    words = {"minor": "alloc", "major": "alloc_major", "external": "alloc_ext"}
    for source, word in [*words.items(), ("all", "alloc")]:
        wanted = [one for one in allocs.values() if source == "all" or one[3] == word]
        sums = [len(wanted), sum(one[1] for one in wanted), sum(one[5] for one in wanted), sum(one[6] for one in wanted)]
        same(source, [stats[source][key] for key in ("allocations", "samples", "promoted", "collected")], sums)
        same(f"bytes of {source}", stats[source]["bytes"], round(sums[1] * per_sample))
    live = sum(one[1] for one in allocs.values() if not one[6])
    same("never collected", stats["never_collected"]["samples"], live)
    alive = peak = when = 0
    at_peak, now = set(), set()
    for time, number, change in order:
        alive += change * allocs[number][1]
        (now.add if change > 0 else now.remove)(number)
        if alive > peak:
            peak, when, at_peak = alive, time, now.copy()
    same("peak", [stats["peak"]["samples"], stats["peak"]["time_us"]], [peak, when])
    same("sizes", sum(one["samples"] for one in stats["sizes"]), stats["all"]["samples"])
    same("lifetimes", sum(one["samples"] for one in stats["lifetimes"]) + live, stats["all"]["samples"])

    rows = defaultdict(lambda: defaultdict(int))
    for number, one in allocs.items():
        names = one[4] or ["[unknown]"]
        for name in set(names):
            rows[name]["total"] += one[1]
        rows[names[-1]]["self"] += one[1]
        rows[names[-1]]["live"] += 0 if one[6] else one[1]
        rows[names[-1]]["peak"] += one[1] if number in at_peak else 0
    got = defaultdict(lambda: defaultdict(int))
    files = defaultdict(set)
    for row in hotspots["hotspots"]:
        files[row["function"]].add(row["file"])
        got[row["function"]]["self"] += row["self"]["samples"]
        got[row["function"]]["live"] += row["self"]["live_bytes"]
        got[row["function"]]["peak"] += row["self"]["peak_bytes"]
        got[row["function"]]["total"] += row["total"]["samples"]
    for name, row in got.items():
        same(f"self of {name}", row["self"], rows[name]["self"])
        same(f"live of {name}", row["live"], round(rows[name]["live"] * per_sample))
        same(f"peak of {name}", row["peak"], round(rows[name]["peak"] * per_sample))
        if len(files[name]) == 1:
            same(f"total of {name}", row["total"], rows[name]["total"])
    same("hotspots", hotspots["all"]["samples"], stats["all"]["samples"])
    same("functions that allocate", {name for name in got if got[name]["self"]}, {name for name in rows if rows[name]["self"]})

    stacks = defaultdict(int)
    for one in allocs.values():
        stacks[";".join(one[4] or ["[unknown]"])] += round(one[1] * per_sample)
    with open(folded) as file:
        lines = [line.rstrip("\n").rsplit(" ", 1) for line in file]
    same("folded stacks", {stack: int(value) for stack, value in lines}, stacks)


# --- the page

def text_of(value):
    unit = 0
    while value >= 1024 and unit < 4:
        value /= 1024
        unit += 1
    return f"{value:.{1 if unit else 0}f} " + ["B", "KiB", "MiB", "GiB", "TiB"][unit]


def page(path, dump):
    from browser import Browser
    allocs, _ = read_dump(dump)
    per_sample = 8 * 50000
    total = sum(one[1] for one in allocs.values()) * per_sample
    live = sum(one[1] for one in allocs.values() if not one[6]) * per_sample
    matching = sum(one[1] for one in allocs.values() if any("regalloc" in name for name in one[4])) * per_sample
    outermost = defaultdict(int)
    for one in allocs.values():
        outermost[one[4][0]] += one[1] * per_sample
    browser = Browser()
    try:
        browser.open("file://" + path)
        value = browser.value
        label = "document.querySelector('[data-path=\"0\"]').getAttribute('aria-label')"
        assert value(label).startswith(f"everything: {text_of(total)}, 100.00 %"), value(label)
        widths = value("Object.fromEntries([...document.querySelectorAll('[aria-level=\"2\"]')].map(box => [box.getAttribute('aria-label').split(' (')[0], "
                       "box.getBoundingClientRect().width / graph.clientWidth]))".replace("graph", "document.querySelector('#graph')"))
        for name, width in widths.items():
            assert abs(width - outermost[name] / total) < 0.001, (name, width)
        value("document.querySelector('[data-path=\"0\"]').focus()")
        browser.key("ArrowDown")
        focused = "document.activeElement.getAttribute('aria-label')"
        widest = max(outermost, key=outermost.get)
        assert value(focused).startswith(f"{widest} ("), value(focused)
        assert f": {text_of(outermost[widest])}," in value(focused), value(focused)
        browser.key("ArrowUp")
        assert value(focused).startswith("everything")
        browser.key("ArrowDown")
        browser.key("ArrowDown")
        browser.key("Enter")
        assert not value("document.querySelector('#all').disabled")
        assert value("document.querySelectorAll('.outer').length") == 2
        browser.key("Escape")
        assert value("document.querySelector('#all').disabled")
        browser.key("/")
        browser.type("REGALLOC")
        found = value("document.querySelector('#found').textContent")
        assert f", {text_of(matching)}, " in found, (found, text_of(matching))
        assert value("document.querySelectorAll('.match').length") > 0
        value("{ const measure = document.querySelector('#measure'); measure.value = 1; measure.dispatchEvent(new Event('change')); }")
        assert value(label).startswith(f"everything: {text_of(live)}, 100.00 %"), value(label)
        assert not browser.complaints(), browser.complaints()
    finally:
        browser.close()


def strange_page(path):
    from browser import Browser
    browser = Browser()
    try:
        browser.open("file://" + path)
        names = browser.value("[...document.querySelectorAll('.path')].map(box => box.getAttribute('aria-label').split(' (')[0])")
        assert {name for name in STRANGE} <= set(names), names
        assert browser.value("document.querySelectorAll('i, #graph b').length") == 0
        assert browser.value("document.querySelector('#program').textContent") == "/bin/<i>x [77]"
        assert not browser.complaints(), browser.complaints()
    finally:
        browser.close()


{"strange": strange, "agree": agree, "page": page, "strange-page": strange_page}[sys.argv[1]](*sys.argv[2:])
