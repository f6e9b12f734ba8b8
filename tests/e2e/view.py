#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Uses a page of `trailcam view` as a person would, in a headless browser, and compares what it shows with what dump says.

    view.py recording PAGE SLICES HITS      of `dump --slices` and `dump --hits`
    view.py alone PAGE HITS                 hits without calls
    view.py strange PAGE                    names that are markup (tests/e2e/view.sh makes it)
    view.py allocations PAGE JSON           the same trace in two formats
    view.py recursion PAGE                  a function that calls itself (view.sh makes it)
    view.py compared PAGE SLICES_A SLICES_B REPORT   of two recordings, and `report --json --diff` of them
    view.py long PAGE CALLS                 loads and redraws so many calls

Several of them, with -- in between, are looked at in one browser.
"""
import json
import sys
from collections import defaultdict

from browser import Browser

SHIFT = 8
failed = 0


def check(name, ok, *detail):
    global failed
    print(f"{'ok' if ok else 'not ok'} - page: {name}")
    if not ok:
        failed += 1
        print("#", *detail)


class Slice:
    def __init__(self, line):
        start, end, depth, name, self.pid, self.tid = line.rstrip("\n").split("\t")
        self.start, self.end, self.depth = int(start), int(end), int(depth)
        self.name = name.removesuffix(" [inferred start time]")


def read_slices(path):
    with open(path) as file:
        slices = [Slice(line) for line in file if not line.startswith("#")]
    return [one for one in slices if one.depth >= 0]


def read_hits(path):
    hits = []
    with open(path) as file:
        for line in file:
            key, value = line.split(maxsplit=1)
            if key == "hit":
                hits.append({"frames": []})
            elif key.startswith("#"):
                hits[-1]["frames"].append(value.split(maxsplit=1)[1].strip().rsplit("+0x", 1)[0])
            else:
                hits[-1][key] = value.strip()
    return hits


def statistics(slices, begin, end):
    """Calls, total and self time of each function in [begin, end), the slow way: each moment belongs to the slices around it."""
    calls, total, alone = defaultdict(int), defaultdict(int), defaultdict(int)
    inside = [one for one in slices if one.start < end and (one.end > begin or one.start >= begin)]
    threads = defaultdict(list)
    for one in inside:
        threads[one.pid, one.tid].append(one)
        calls[one.name] += 1
    for thread in threads.values():
        spans = defaultdict(list)
        for one in thread:
            spans[one.name].append((max(one.start, begin), min(one.end, end)))
        for name, pieces in spans.items():
            reached = begin
            for start, stop in sorted(pieces):
                total[name] += max(0, stop - max(start, reached))
                reached = max(reached, stop)
        edges = sorted({at for one in thread for at in (max(one.start, begin), min(one.end, end))})
        innermost = dict()
        for one in sorted(thread, key=lambda one: one.depth):
            for at in edges[bisect(edges, max(one.start, begin)):bisect(edges, min(one.end, end))]:
                innermost[at] = one.name
        for at, after in zip(edges, edges[1:]):
            if at in innermost:
                alone[innermost[at]] += after - at
    return {name: (calls[name], total[name], alone[name]) for name in calls}


def bisect(edges, value):
    import bisect as by
    return by.bisect_left(edges, value)


class Page:
    def __init__(self, browser):
        self.browser = browser
        self.left, self.top = self.value("(r => [r.left, r.top])(document.getElementById('timeline').getBoundingClientRect())")

    def value(self, expression):
        return self.browser.value(f"(() => {{ const page = trailcam, {{chart, trace}} = page; return {expression}; }})()")

    @property
    def view(self):
        return self.value("[chart.from, chart.to]")

    @property
    def span(self):
        begin, end = self.view
        return end - begin

    @property
    def panel(self):
        return self.browser.value("document.getElementById('panel').innerText")

    def selected(self):
        return self.value("chart.selected && {name: trace.name(chart.selected.track, chart.selected.slice), "
                          "start: chart.selected.track.start[chart.selected.slice], "
                          "end: chart.selected.track.end(chart.selected.slice), depth: chart.selected.track.depth[chart.selected.slice]}")

    def key(self, key, **more):
        self.browser.key(key, **more)

    def where(self, thread, index):
        """Where the middle of a slice is on the screen."""
        x, y = self.value(f"(t => [(Math.max(chart.x(t.start[{index}]), 0) + Math.min(chart.x(t.end({index})), chart.width)) / 2, "
                          f"chart.rowY(t, t.depth[{index}]) + 9])(trace.threads[{thread}])")
        return self.left + x, self.top + y


def close_to(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1)


# ---- a recording with hits ----

def opens_at_hit(page, hit):
    time, (begin, end) = int(hit["time_ns"]), page.view
    check("opens with the hit in sight", begin < time < end, begin, time, end)
    panel = page.panel
    missing = [name for name in ("rip", "rsp", "rdi", "r15", "eflags") if hit[name] not in panel]
    check("the panel has the hit's registers", not missing, missing, panel)
    missing = [f"arg{i}" for i in range(6) if hit[f"arg{i}"] not in panel]
    check("the panel has the hit's arguments", not missing, missing, panel)
    at = [panel.find(name) for name in hit["frames"]]
    check("the panel has the recorded stack", -1 not in at, hit["frames"], panel)
    check("the call that was hit is selected", page.selected()["name"] == hit["frames"][0], page.selected())


def shows_source(page):
    shown = page.value("trace.sources")
    check("the page has source lines", any(path.endswith("/wordcount.c") for path in shown), list(shown))
    for path, blocks in shown.items():
        lines = [line.rstrip("\r\n")[:239] for line in open(path, errors="replace")]
        wrong = [first for first, block in blocks if block != lines[first - 1:first - 1 + len(block)]]
        check(f"they are those of {path.rsplit('/', 1)[1]}", not wrong, wrong)
    here = page.browser.value("document.querySelector('#panel .source .here').innerText").split()[0]
    name, number = page.value("(symbol => [trace.symbols[symbol][0], trace.symbols[symbol][3]])(chart.hit.symbol)")
    check("the line of what was hit is marked", here == str(number) and name in page.browser.value("document.querySelector('#panel .source').innerText"),
          here, number)


def keys_move(page):
    before, (begin, _) = page.span, page.view
    page.key("w")
    check("w zooms in", page.span < before * .9, before, page.span)
    page.key("s")
    check("s zooms out again", close_to(page.span, before), before, page.span)
    begin, end = page.view
    page.key("a")
    check("a moves left", page.view[0] < begin and close_to(page.span, end - begin), page.view)
    page.key("d")
    check("d moves back", close_to(page.view[0], begin), page.view)


def mouse_moves(page):
    x, y = 350, 200
    at, before = page.value(f"chart.timeAt({x})"), page.span
    page.browser.wheel(page.left + x, page.top + y, -200)
    check("the wheel zooms in", page.span < before * .9, before, page.span)
    check("what is under the pointer stays there", abs(page.value(f"chart.x({at})") - x) < 1, page.view)
    at = page.value(f"chart.timeAt({x})")
    page.browser.drag(page.left + x, page.top + y, page.left + x + 150, page.top + y)
    check("dragging moves", abs(page.value(f"chart.x({at})") - x - 150) < 1, page.view)
    page.key("h")


def searches(page, slices, text, hit_time):
    wanted = sorted((one for one in slices if text in one.name.lower()), key=lambda one: one.start)
    page.key("Escape")
    page.key("/")
    page.browser.type(text)
    count = page.browser.value("document.getElementById('count').value")
    check("search counts", count == f"{len(wanted):,} calls", count, len(wanted))
    shown = page.value("[...chart.matches.values()].flat().reduce((cnt, row) => cnt + row.length, 0)")
    check("search highlights all of them", shown == len(wanted), shown)
    got = page.value("page.rows.map(row => [trace.functions[row.id], row.calls, row.total, row.slowest])")
    sums = statistics(slices, min(one.start for one in slices), max(one.end for one in slices) + 1)
    expected = [[name, calls, total, max(one.end - one.start for one in slices if one.name == name)]
                for name, (calls, total, _) in sums.items() if text in name.lower()]
    check("search lists functions, with calls, total and slowest", sorted(got) == sorted(expected), got, expected)
    first = max(nth for nth, one in enumerate(wanted) if one.start <= hit_time)
    expected = [wanted[(first + step) % len(wanted)].start for step in range(3)]
    found = []
    for _ in range(3):
        page.key("Enter")
        found.append(page.selected()["start"])
    check("Enter goes to the one nearest before the hit, and on to the next", found == expected, found, expected)
    page.key("Enter", modifiers=SHIFT)
    check("Shift-Enter goes back", page.selected()["start"] == expected[1], page.selected())
    count = page.browser.value("document.getElementById('count').value")
    check("which of them is told", count == f"{(first + 1) % len(wanted) + 1} of {len(wanted):,}", count)
    begin, end = page.view
    check("the match is in sight", begin <= expected[1] <= end, page.view)
    page.key("Escape")


def links(page):
    """What the address says is shown when the page is opened again."""
    page.key("h")
    page.key("w")
    page.key("/")
    page.browser.type("table")
    page.key("Enter")
    page.browser.drag(page.left + 120, page.top + 60, page.left + 610, page.top + 60, modifiers=SHIFT)
    state = "[chart.from, chart.to, chart.scroll, chart.selected.slice, chart.range.from, chart.range.to, page.matchCnt].map(Math.round)"
    page.key("i")
    page.browser.type("why, so late?")
    page.key("Escape")
    note = page.value("[chart.notes.length, chart.notes[0].text, chart.notes[0].time - chart.selected.track.start[chart.selected.slice]]")
    check("a note stands at the call that is selected", note == [1, "why, so late?", 0], note)
    before = page.value(state)
    address = page.value("location.href.split('#')[0] + '#' + page.fragment")
    page.browser.open("about:blank", wait=False)
    page.browser.open(address)
    check("the address leads to what was shown", page.value(state) == before, before, page.value(state), address)
    check("notes are kept in it", page.value("chart.notes[0]?.text") == "why, so late?", address)
    page.browser.value("location.hash = '#from=x&call=9999999,1&range=5,1&y=-7&q=%00&note=x&note=,'")
    page.browser.settle()
    check("an address that makes no sense does no harm", page.value("chart.from < chart.to && !chart.notes.length"))
    page.key("Escape")
    page.key("h")


def threads(page):
    page.key("m")
    check("threads are listed", page.panel.startswith("1 thread"), page.panel)
    box = "document.querySelectorAll('#panel input[type=checkbox]')[0]"
    page.browser.value(f"{box}.click()")
    page.browser.settle()
    check("a thread is hidden", page.value("chart.tracks.length") == 0 and not page.browser.value(f"{box}.checked"))
    page.browser.value("[...document.querySelectorAll('#panel button')].find(b => b.textContent === 'Show all').click()")
    page.browser.settle()
    check("and shown", page.value("chart.tracks.length") == 1 and page.browser.value(f"{box}.checked"))
    rows = "[...document.querySelectorAll('#panel tbody tr')].length"
    for text, cnt in ("no such thread", 0), ("", 1):
        page.browser.value(f"(input => (input.value = '{text}', input.dispatchEvent(new Event('input'))))(document.querySelector('#panel input'))")
        check(f"the filter '{text}' lists {cnt}", page.browser.value(rows) == cnt, page.browser.value(rows))
    page.key("b")
    wide = page.value("chart.width")
    page.key("b")
    check("the panel goes away, and comes back", page.value("chart.width") < wide, wide)
    page.key("h")


def sticks(page):
    page.browser.call("Emulation.setDeviceMetricsOverride", width=1400, height=300, deviceScaleFactor=1, mobile=False)
    page.browser.settle()
    page.value("chart.scrollTo(90)")
    page.browser.settle()
    check("a thread's title stays in sight", page.value("chart.scroll > 30 && chart.titleY(trace.threads[0])") == 26, page.value("chart.scroll"))
    page.browser.click(page.left + 60, page.top + 26 + 10)
    check("and folds the thread", page.value("trace.threads[0].collapsed"))
    page.browser.click(page.left + 60, page.top + 26 + 10)
    page.browser.call("Emulation.setDeviceMetricsOverride", width=1400, height=800, deviceScaleFactor=1, mobile=False)
    page.key("h")


def clicks(page, slices):
    index = page.value("(hit => hit.track.parent[hit.slice])(trace.hits[0])")
    page.key("h")
    page.browser.click(*page.where(0, index))
    got, panel = page.selected(), page.panel
    same = [one for one in slices if one.start == got["start"] and one.depth == got["depth"]]
    check("a click selects the call there", page.value("chart.selected.slice") == index, got)
    check("it is a call of the recording", [(one.name, one.end) for one in same] == [(got["name"], got["end"])], got)
    callers = [one.name for one in slices if one.depth < got["depth"] and one.start <= got["start"] and one.end >= got["end"]]
    missing = [name for name in [got["name"], "duration", "self", *callers] if name not in panel]
    check("the panel tells of it, and its callers", callers and not missing, missing, panel)
    calls = [one.start for one in slices if one.name == got["name"]]
    nth = calls.index(got["start"])
    page.key("]")
    check("] goes to the next call of the function", page.selected()["start"] == calls[(nth + 1) % len(calls)], page.selected())
    page.key("[")
    page.key("[")
    check("[ goes to the one before", page.selected()["start"] == calls[nth - 1], page.selected())
    caller = page.browser.value("(line => (line.focus(), line.firstChild.textContent))(document.querySelector('#panel li.go'))")
    here = page.selected()["depth"]
    page.key("Enter")
    check("Enter on a caller in the panel goes there", page.selected()["depth"] < here and page.selected()["name"] == caller.split(" ×")[0],
          caller, page.selected())
    check("and a screen reader is told", page.browser.value("document.getElementById('said').textContent") == page.selected()["name"])
    page.key("[")
    got = page.selected()
    page.key("ArrowUp")
    check("up goes to the caller", page.selected()["depth"] == got["depth"] - 1, page.selected())


def measures(page, slices):
    for zoom, name in ("h", "near the hit"), ("0", "in the whole trace"):
        page.key(zoom)
        # How much is near the hit depends on how fast the program was: as much as makes some functions.
        for _ in range(40):
            page.browser.drag(page.left + 120, page.top + 60, page.left + 610, page.top + 60, modifiers=SHIFT)
            begin, end = page.value("[chart.range.from, chart.range.to]")
            expected = statistics(slices, begin, end)
            if len(expected) > 5:
                break
            page.key("s")
        got = {row["name"]: (row["calls"], row["total"], row["self"]) for row in
               page.value("page.rows.map(row => ({name: trace.functions[row.id], calls: row.calls, total: row.total, self: row.self}))")}
        wrong = [(key, got.get(key), expected.get(key)) for key in {*got, *expected} if got.get(key) != expected.get(key)]
        check(f"functions of a range by time, {name}", len(got) > 5 and not wrong, len(got), wrong[:5])
    selves = page.value("page.rows.map(row => row.self)")
    check("sorted by their own time", selves == sorted(selves, reverse=True), selves[:9])
    page.browser.value("document.querySelectorAll('#panel th')[1].click()")
    calls = page.browser.value("[...document.querySelectorAll('#panel td:nth-child(2)')].map(td => +td.textContent.replaceAll(',', ''))")
    check("a click on a column sorts by it", calls == sorted(calls, reverse=True) and len(calls) > 5, calls[:9])
    page.key("Escape")


def by_path(slices, begin, end):
    """Calls, total and self time of each call path in [begin, end), from what dump says."""
    sums, open_calls = defaultdict(lambda: [0, 0, 0]), defaultdict(list)
    for one in sorted(slices, key=lambda one: (one.start, one.depth)):
        if one.start >= end or (one.end <= begin and one.start < begin):
            continue
        callers = open_calls[one.pid, one.tid]
        del callers[one.depth:]
        callers += [one] * (one.depth + 1 - len(callers))
        path = tuple(call.name for call in callers)
        time = min(one.end, end) - max(one.start, begin)
        for place, sign in (path, 1), (path[:-1], -1):
            sums[place][2] += sign * time
        sums[path][0] += 1
        sums[path][1] += time
    return {path: tuple(sum) for path, sum in sums.items() if path}


def flames(page, slices):
    for key, name in ("h", "near the hit"), ("0", "of the whole trace"):
        page.key(key)
        page.key("g")
        begin, end = page.value("[page.flame.range.from, page.flame.range.to]")
        rows = page.value("""(({paths}) => paths.of.map((_, path) => {
            const names = [];
            for (let at = path; at > 0; at = paths.parent[at])
                names.unshift(trace.functions[paths.of[at]]);
            return [names, paths.calls[path], paths.total[path], paths.self[path]];
        }))(page.flame)""")
        got, expected = {tuple(path): tuple(sums) for path, *sums in rows if path}, by_path(slices, begin, end)
        wrong = [(path, got.get(path), expected.get(path)) for path in {*got, *expected} if got.get(path) != expected.get(path)]
        check(f"a flame graph {name}", len(got) > 5 and not wrong, len(got), wrong[:5])
        if key == "h":
            page.key("g")
    widths = page.value("page.flame.boxes.filter(box => box.path && !box.tree.paths.parent[box.path]).map(box => [box.x, box.width])")
    full = page.value("page.flame.canvas.clientWidth")
    covered = sum(width for _, width in widths)
    check("the boxes share the width", full - len(slices) < covered < full + 1 and widths == sorted(widths), covered, full)
    wanted = "table_add"
    x, y = page.value(f"""(flame => (box => [box.x + box.width / 2, flame.rowY(box.tree, box.path) + 9])
        (flame.boxes.find(({{tree, path}}) => flame.name(tree, path) === '{wanted}')))(page.flame)""")
    page.browser.click(page.left + x, page.top + y)
    check("a click tells of the path", page.panel.startswith(wanted), page.panel)
    page.key("c")
    calls, total, alone = statistics(slices, begin, end)[wanted]
    got = page.value("page.flame.trees.map(({paths}) => [paths.calls[0], paths.total[0]])")
    check("a function between callers and callees has its whole time", got[0][1] == got[1][1] == total and got[1][0] <= calls, got, calls, total)
    shown = page.value("page.flame.boxes.map(({tree, path}) => [tree.upwards, tree.paths.depth[path], page.flame.name(tree, path)])")
    check("callers are above it", [True, 1, "main"] in shown and [True, 2, "main"] not in shown and [False, 0, wanted] in shown, shown)
    page.key("ArrowUp")
    check("up goes to a caller", page.panel.startswith("main"), page.panel)
    page.key("ArrowDown")
    page.key("Enter")
    page.browser.value("[...document.querySelectorAll('#panel button')].find(button => button.textContent === 'Slowest call').click()")
    page.browser.settle()
    longest = max((one for one in slices if one.name == wanted), key=lambda one: one.end - one.start)
    got = page.selected()
    check("the slowest call is shown in the timeline", (got["name"], got["end"] - got["start"]) == (wanted, longest.end - longest.start) and
          page.value("!chart.canvas.hidden && page.flame.canvas.hidden"), got)
    page.key("g")
    page.key("Escape")
    check("Escape leads back to the timeline", page.value("!chart.canvas.hidden && page.flame.canvas.hidden"))
    page.key("Escape")


def call_tree(page, slices):
    page.key("0")
    page.key("e")
    begin, end = page.value("[chart.range.from, chart.range.to]")
    shown = '''(tree => [...tree.rows].map(([path]) => {
        const names = [];
        for (let at = path; at > 0; at = tree.paths.parent[at])
            names.unshift(trace.functions[tree.paths.of[at]]);
        return [names, tree.paths.calls[path], tree.paths.total[path], tree.paths.self[path], tree.isOpen(path)];
    }))(page.tree)'''
    expected = by_path(slices, begin, end)
    page.value("(tree => tree.paths.of.forEach((_, path) => path && tree.open(path)))(page.tree)")
    got = {tuple(path): tuple(sums) for path, *sums, _ in page.value(shown)}
    check("a call tree of the whole trace, all open", got == expected and len(got) > 5, len(got), len(expected))
    cells = page.browser.value("[...document.querySelectorAll('[role=treegrid] tbody tr')].map(row => row.cells[1].textContent)")
    check("its rows tell the calls", sorted(cells) == sorted(f"{calls:,}" for calls, _, _ in expected.values()), cells[:5])
    page.browser.value("document.querySelector('[role=treegrid] tbody tr').focus()")
    page.key("ArrowLeft")
    outermost = [path for path in expected if len(path) == 1]
    check("left closes", len(page.value(shown)) < len(expected), len(page.value(shown)))
    page.key("ArrowRight")
    opened = [path for path, *_, is_open in page.value(shown) if is_open]
    check("right opens", opened and all(len(path) == 1 for path in opened[:1]) and outermost, opened[:3])
    page.key("Escape")


def pinches(page):
    page.key("h")
    x, y = 300, 200
    at, before = page.value(f"[chart.timeAt({x}), chart.timeAt({x + 100})]"), page.span
    touch = lambda kind, *places: page.browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=[
        {"x": page.left + place, "y": page.top + y, "id": nth} for nth, place in enumerate(places)])
    touch("touchStart", x)
    touch("touchStart", x, x + 100)
    touch("touchMove", x - 50, x + 150)
    touch("touchEnd")
    page.browser.settle()
    check("two fingers zoom", close_to(page.span, before / 2), page.span, before)
    check("and keep the times below them", [round(page.value(f"chart.x({time})")) for time in at] == [x - 50, x + 150],
          [page.value(f"chart.x({time})") for time in at])
    page.key("h")


def hit_to_hit(page, hits):
    shown = []
    for key in "h", ".", "n", ",", "p":
        page.key(key)
        number = page.browser.value("document.getElementById('which').textContent")
        time, (begin, end) = int(hits[int(number.split()[1]) - 1]["time_ns"]), page.view
        shown.append((number.split()[1], begin < time < end, f"{time / 1e9:.9f}" in page.panel))
    check("from hit to hit and back", shown == [(number, True, True) for number in "12321"], shown)
    # So near that the flags stand apart: of two that were hit soon after one another there is one place.
    page.value("(([a, b, c]) => { const half = Math.min(b - a, c - b); chart.show(b - half, b + half); })(trace.hits.map(hit => hit.time))")
    page.browser.settle()
    page.browser.click(page.left + page.value("chart.x(trace.hits[1].time)") + 2, page.top + 12)
    check("a click on a hit's flag goes there", page.value("page.nth") == 1, page.value("page.nth"))
    page.key("p")


def themes(page):
    pixel = "(d => d[0] + d[1] + d[2])(chart.context.getImageData(chart.canvas.width - 2, chart.canvas.height - 2, 1, 1).data)"
    page.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.browser.settle()
    dark = page.value(pixel)
    page.key("t")
    light = page.value(pixel)
    check("dark where the system is, and light by a key", dark < 150 < 600 < light, dark, light)


def helps(page):
    page.key("?")
    text = page.browser.value("document.getElementById('help').open && document.getElementById('help').innerText")
    check("? shows the keys", text and "zoom in and out" in text and "previous and next hit" in text, text)
    page.key("?")
    check("? hides them", not page.browser.value("document.getElementById('help').open"))


def folds(page):
    height = page.value("chart.total")
    page.browser.click(page.left + 60, page.top + page.value("trace.threads[0].top - chart.scroll") + 26 + 10)
    check("a thread folds", page.value("chart.total") < height, height)
    page.browser.click(page.left + 60, page.top + page.value("trace.threads[0].top - chart.scroll") + 26 + 10)
    check("and unfolds", page.value("chart.total") == height, height)


# Whatever the zoom, each pixel of a row where something begins is painted.
NOTHING_DROPPED = """(() => {
	const missing = [];
	for (const track of trace.threads)
		track.rows.forEach((row, depth) => {
			const painted = new Uint8Array(chart.width + 2);
			chart.boxes(track, row, (x, width) => painted.fill(1, Math.max(Math.floor(x), 0), Math.max(Math.ceil(x + width), 0)));
			for (const i of row) {
				const x = Math.floor(chart.x(track.start[i]));
				if (x >= 0 && x < chart.width && !painted[x])
					missing.push([depth, x, i]);
			}
		});
	return missing;
})()"""


def drops_nothing(page):
    page.key("0")
    for _ in range(6):
        missing = page.value(NOTHING_DROPPED)
        check("nothing is dropped where it is narrow", not missing, len(missing), missing[:5])
        for _ in range(5):
            page.key("w")


def recording(browser, slices_path, hits_path):
    page, slices, hits = Page(browser), read_slices(slices_path), read_hits(hits_path)
    opens_at_hit(page, hits[0])
    shows_source(page)
    keys_move(page)
    mouse_moves(page)
    searches(page, slices, "table", int(hits[0]["time_ns"]))
    clicks(page, slices)
    measures(page, slices)
    flames(page, slices)
    call_tree(page, slices)
    pinches(page)
    hit_to_hit(page, hits)
    links(page)
    threads(page)
    sticks(page)
    helps(page)
    folds(page)
    drops_nothing(page)
    themes(page)


# ---- other pages ----

def alone(browser, hits_path):
    page, hit = Page(browser), read_hits(hits_path)[0]
    for key in "w", "f", "]", "0", "Escape", "h":
        page.key(key)
    begin, end = page.view
    check("a hit without calls is in sight", begin <= int(hit["time_ns"]) <= end, page.view)
    check("and told", all(hit[name] in page.panel for name in ("rip", "rdi")), page.panel)


def strange(browser):
    page = Page(browser)
    name = page.value("trace.functions.find(name => name.includes('script'))")
    check("markup is a name like any other", name == '<img src=x onerror="window.bad=1"></script><!-- \ufffd&amp;', name)
    page.browser.click(*page.where(0, page.value("trace.threads[0].symbol.findIndex(s => trace.symbols[s][0].includes('script'))")))
    check("the panel shows it", name in page.panel, page.panel)
    browser.mouse("mouseMoved", *page.where(0, 1))
    page.key("/")
    browser.type("<img")
    page.key("Enter")
    page.browser.drag(page.left + 100, page.top + 60, page.left + 800, page.top + 60, modifiers=SHIFT)
    check("the table shows it", name in page.panel, page.panel)
    made = browser.value("document.querySelectorAll('img').length + (window.bad || 0)")
    check("it does nothing", made == 0, made)
    x, y = page.value("(t => [chart.x(t.instants[0][0]), chart.rowY(t, 0) - 6])(trace.threads[0])")
    page.browser.click(page.left + x, page.top + y)
    check("a gap tells its reason", "Lost <b>trace</b> data" in page.panel, page.panel)
    x, y = page.value("(c => [chart.x((c.points[0][0] + c.points[1][0]) / 2), chart.head - 14])(trace.counters[0])")
    browser.mouse("mouseMoved", page.left + x, page.top + y)
    tip = browser.value("!document.getElementById('tip').hidden && document.getElementById('tip').textContent")
    check("a counter tells its value", tip and tip.startswith("cycl<b>es: 1,000"), tip)


def allocations(browser, json_path):
    page = Page(browser)
    # By the numbers that the events have in another format: when each allocation was made, and when it ended.
    made, ended = {}, {}
    for event in json.load(open(json_path))["traceEvents"]:
        if event["ph"] == "i" and "allocation" in event.get("args", {}):
            (ended if event["name"] == "free" else made)[event["args"]["allocation"]] = round(event["ts"] * 1000)
    pairs = sorted((time, ended[number]) for number, time in made.items() if number and number in ended)
    check("some allocations end in the trace", pairs, made, ended)
    begin, end = pairs[-1]
    x, y = page.value(f"(chart.show({begin} - 100000, {begin} + 100000), chart.draw(), [chart.x({begin}), chart.rowY(trace.threads[0], 0) - 6])")
    page.browser.click(page.left + x, page.top + y)
    check("an allocation tells how long it lasts", "lasts" in page.panel and "To its end" in page.panel, page.panel)
    browser.value("[...document.querySelectorAll('#panel button')].find(b => b.textContent.includes('To its end')).click()")
    check("and leads to its end", f"{end / 1e9:.9f} s" in page.panel and "To its beginning" in page.panel, page.panel)
    seen = page.view
    check("which is in sight", seen[0] <= end <= seen[1], seen, end)
    browser.value("[...document.querySelectorAll('#panel button')].find(b => b.textContent.includes('To its beginning')).click()")
    check("and back", f"{begin / 1e9:.9f} s" in page.panel, page.panel)
    events = [event for event in json.load(open(json_path))["traceEvents"] if event["ph"] == "i" and {"allocation", "stack"} <= event.get("args", {}).keys()]
    shown = page.value("trace.threads.flatMap(track => track.instants.filter(at => at.length > 4).map(at => [at[0], trace.stacks[at[4]]]))")
    check("stacks of allocations are those of the other format", events and sorted(shown) ==
          sorted([round(event["ts"] * 1000), event["args"]["stack"]] for event in events), len(events), shown[:2])
    page.key("/")
    browser.type("callo")
    check("search finds events", "calloc\t" in page.panel, page.panel)
    browser.value("document.querySelector('#panel .events tbody tr').click()")
    hit = page.value("chart.hit.time")
    names = [line for line in page.panel.split("\n")]
    last = max((event for event in events if event["name"] == "calloc" and round(event["ts"] * 1000) <= hit), key=lambda event: event["ts"])
    check("a click leads to the last one before the hit", f"{last['ts'] / 1e6:.9f} s" in page.panel, last["ts"], page.panel)
    check("with its call stack", all(name in names for name in last["args"]["stack"].split("\n")), names, last)
    browser.value("[...document.querySelectorAll('#panel button')].find(b => b.textContent.includes('previous')).click()")
    before = max((event for event in events if event["name"] == "calloc" and event["ts"] < last["ts"]), key=lambda event: event["ts"])
    check("and from there to the one before", f"{before['ts'] / 1e6:.9f} s" in page.panel, before["ts"], page.panel)
    page.key("Escape")
    page.value("chart.showWhole(), page.showRange({from: trace.begin, to: trace.end + 1})")
    cells = dict(line.split("\t")[:1] + [line.split("\t")[1:]] for line in browser.value("document.querySelector('#panel .events tbody').innerText").split("\n"))
    made = [event for event in events if event["name"] == "calloc"]
    check("a range tells how many there were, and their bytes", cells["calloc"] ==
          [f"{len(made):,}", f"{sum(event['args']['bytes'] for event in made):,}"], cells)
    page.value(f"chart.show({begin} - 1e8, {end} + 1e8)")
    page.value("(i => page.showInstant({track: trace.threads[0], instant: i}))(trace.threads[0].instants.findIndex(at => at[3] === 1))")
    arrows = page.value("(drawn => (chart.drawArrow = (...at) => drawn.push(at.map(Math.round)), chart.draw(), delete chart.drawArrow, drawn))([])")
    ends = page.value(f"[{begin}, {end}].map(time => Math.round(chart.x(time)))")
    check("an arrow leads from an allocation to its end", [[at[0], at[2]] for at in arrows] == [ends], arrows, ends)
    browser.call("Emulation.setDeviceMetricsOverride", width=1400, height=420, deviceScaleFactor=1, mobile=False)
    page.key("0")
    page.value("chart.scrollTo(1000)")
    page.browser.settle()
    x, names = page.value("[chart.width * .9, trace.counters.map(counter => counter.name)]")
    tips = []
    for nth in range(len(names)):
        browser.mouse("mouseMoved", page.left + x, page.top + page.value(f"26 + {nth} * chart.counterHeight - chart.counterScroll + 30"))
        tips.append(browser.value("document.getElementById('tip').textContent").split(": ")[0])
    check("counters stay in sight above the threads", tips == names and page.value("chart.scroll") > 0, tips, names, page.value("chart.scroll"))


def recursion(browser):
    page = Page(browser)
    paths = lambda: page.value("(paths => paths.of.map((of, path) => [trace.functions[of], paths.calls[path], paths.total[path], paths.self[path]])"
                               ".slice(1))(trace.paths(trace.threads, -Infinity, Infinity))")
    rows = lambda: page.value("trace.threads[0].rows.map(row => [...row].map(i => trace.label(trace.threads[0], i)))")
    each = paths()
    check("each call is a path", len(each) == 305, len(each))
    check("and has a row", [len(row) for row in rows()] == [1, 3] + [1] * 301, [len(row) for row in rows()])
    page.key("r")
    check("r folds recursion into one box in the timeline, and a stub into what it jumps to", rows() == [["main"], ["again", "last", "last"], ["last"]], rows())
    found = paths()
    folded = dict((name, sums) for name, *sums in found[:3])
    check("and a stub with what it jumps to", found[3:] == [["last", 1, 50, 50]], found[3:])
    first = next(sums for name, *sums in each if name == "again")
    alone = sum(sums[2] for name, *sums in each if name == "again")
    check("r folds recursion into one", list(folded) == ["main", "again", "last"], folded)
    check("with all calls, the time of the outermost, and all of their own", folded["again"] == [301, first[1], alone], folded["again"], first, alone)
    check("the others stay", [folded[name] for name in ("main", "last")] == [each[0][1:], each[302][1:]], folded, each[0], each[-1])
    page.key("e")
    check("the call tree has it as one row", page.panel.count("again") == 1 and "301" in page.panel, page.panel)
    page.key("g")
    check("the flame graph, too", page.value("page.flame.paths.cnt") == 5, page.value("page.flame.paths.cnt"))
    page.key("r")
    check("and unfolds it", page.value("page.flame.paths.cnt") == 306 and len(rows()) > 300, page.value("page.flame.paths.cnt"))
    page.key("g")
    last = page.value("trace.threads[0].cnt") - 3
    page.value(f"page.select({{track: trace.threads[0], slice: {last}}})")
    check("equal callers are one line", "again ×301" in page.panel, page.panel)


# The sums of each call path of A and B, by the names on the way.
PATHS = """(() => {
	const paths = trace.paths(trace.threads, trace.begin, trace.end + 1), names = [""], found = {};
	for (let path = 1; path < paths.cnt; path++) {
		names[path] = names[paths.parent[path]] + "/" + trace.functions[paths.of[path]];
		found[names[path]] = ["calls", "total", "self"].map(what => paths.sides(path, what));
	}
	return found;
})()"""


def reported_paths(report):
    names = []
    for row in report["diff"]:
        names[row["depth"]:] = [row["name"]]
        yield "/" + "/".join(names), [[row[side][key] for side in ("trace", "other")] for key in ("calls", "total_ns", "self_ns")]


def compared(browser, a_path, b_path, report_path):
    page, sides = Page(browser), [read_slices(path) for path in (a_path, b_path)]
    report = json.load(open(report_path))
    first = page.value("[0, 1].map(side => trace.hits.find(hit => (hit.side ?? 0) === side).time)")
    check("the first hits stand above each other", first[0] == first[1], first)
    check("A above B", page.value("chart.tracks.map(track => track.side)") == [0, 1])
    page.value("chart.showWhole(), page.showRange({from: trace.begin, to: trace.end + 1})")
    wanted = [statistics(slices, 0, max(one.end for one in slices) + 1) for slices in sides]
    got = page.value("page.rows.map(row => [trace.functions[row.id], ['a', 'b'].map(side => [row[side].calls, row[side].total, row[side].self])])")
    wrong = [(name, row) for name, row in got if [tuple(one) for one in row] != [side.get(name, (0, 0, 0)) for side in wanted]]
    check("functions of both have the calls, totals and selves of dump", not wrong and {name for name, _ in got} == set(wanted[0]) | set(wanted[1]), wrong[:5])
    first_row = browser.value("document.querySelector('#panel tbody tr').innerText").split("\t")[0]
    greatest = max(abs(wanted[0].get(name, (0, 0, 0))[1] - wanted[1].get(name, (0, 0, 0))[1]) for name, _ in got)
    named = [side.get(first_row, (0, 0, 0))[1] for side in wanted]
    check("the greatest difference comes first", abs(named[0] - named[1]) == greatest, first_row, named, greatest)
    paths, rows = page.value(PATHS), list(reported_paths(report))
    wrong = [(path, sums, paths.get(path)) for path, sums in rows if paths.get(path) != sums]
    check("call paths as in report --diff", len(rows) > 10 and not wrong, len(rows), wrong[:5])
    page.key("g")
    for key in "ArrowDown", "ArrowDown":
        page.key(key)
    (a, b), name = page.value("(({tree, path}) => [tree.paths.sides(path, 'calls'), page.flame.name(tree, path)])(page.flame.selected)")
    check("the flame graph tells both", f"A {a}, B {b}: " in page.panel and name in page.panel, name, a, b, page.panel)
    page.key("c")
    sums = page.value("(paths => ['calls', 'total', 'self'].map(what => paths.sides(0, what)))(page.flame.trees[1].paths)")
    check("callers and callees, too", page.value("page.flame.middle") >= 0 and
          sums[1] == [side.get(name, (0, 0, 0))[1] for side in wanted], name, sums)
    page.key("Escape")
    page.key("Escape")
    page.key("e")
    check("the call tree has A and B", "A − B" in page.panel, page.panel)
    last = len(sides[1]) - 1
    page.value(f"page.select({{track: chart.tracks[1], slice: {last}}})")
    check("a call of B tells B's own time", f"{sides[1][last].start / 1e9:.9f} s" in page.panel, page.panel, sides[1][last].start)
    page.key(".")
    browser.value("page = trailcam, page.toHit(page.trace.hits.findIndex(hit => hit.side))")
    check("a hit says whose it is", "trace\nB" in page.panel, page.panel)


def long(browser, cnt):
    page = Page(browser)
    got = page.value("trace.threads.reduce((cnt, track) => cnt + track.cnt, 0)")
    check(f"{int(cnt):,} calls are there", got == int(cnt), got)
    times = []
    for _ in range(8):
        page.value("chart.draw()")
        times.append(round(page.value("chart.frameMs"), 1))
        page.key("w")
    print("# drawing, ms:", *times)
    page.key("0")
    missing = page.value(NOTHING_DROPPED)
    check("nothing is dropped where it is narrow", not missing, len(missing), missing[:5])
    page.key("/")
    browser.type("leaf")
    page.key("Enter")
    check("search in it", page.selected()["name"].startswith("leaf"), page.selected())


KINDS = {"recording": recording, "alone": alone, "strange": strange, "allocations": allocations, "recursion": recursion, "compared": compared, "long": long}


def main():
    browser = Browser()
    try:
        for nth, words in enumerate(" ".join(sys.argv[1:]).split(" -- ")):
            kind, path, *rest = words.split()
            if nth:
                browser.new_tab()
            browser.open("file://" + path)
            KINDS[kind](browser, *rest)
            complaints = browser.complaints()
            check("no error, and no request to anywhere", not complaints, *complaints)
    finally:
        browser.close()
    sys.exit(bool(failed))


main()
