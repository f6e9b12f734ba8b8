# SPDX-License-Identifier: BSD-2-Clause
"""The queries of docs/perfetto.md, by trace_processor or, without one, by SQLite on tables of the same names and
columns that are made from the JSON of the same trace. Usage: perfetto.py DOCUMENT TRACE.json [TRACE.pftrace]"""
import collections, csv, decimal, io, json, re, sqlite3, subprocess, sys, tempfile


def tables(path):
    """slice, thread_track and thread, as the documentation of Perfetto has them."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE slice (id, ts, dur, track_id, category, name, depth, parent_id, arg_set_id)")
    base.execute("CREATE TABLE thread_track (id, utid, name)")
    base.execute("CREATE TABLE thread (utid, tid, upid, name)")
    args, tracks, names, rows = [], {}, {}, []
    opened = collections.defaultdict(list)
    for event in json.load(open(path), parse_float=decimal.Decimal)["traceEvents"]:
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
        if event["ph"] not in "BEi":
            continue
        track = tracks.setdefault(event["tid"], len(tracks) + 1)
        stack, ts = opened[track], int(event["ts"] * 1000)
        if event["ph"] == "E":
            row = stack.pop()
            row[2] = ts - row[1]
            continue
        args.append({("source." + {"file": "file_name", "line": "line_number"}[key]) if key in ("file", "line") else "debug." + key: value
                     for key, value in event.get("args", {}).items()})
        rows.append([len(rows), ts, 0, track, event.get("cat"), event["name"], len(stack), stack[-1][0] if stack else None, len(args) - 1])
        if event["ph"] == "B":
            stack.append(rows[-1])
    base.executemany("INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    base.executemany("INSERT INTO thread_track VALUES (?, ?, NULL)", [(track, tid) for tid, track in tracks.items()])
    base.executemany("INSERT INTO thread VALUES (?, ?, 1, ?)", [(tid, tid, names.get(tid)) for tid in tracks])
    base.create_function("EXTRACT_ARG", 2, lambda number, key: args[number].get(key))
    return base


def by_trace_processor(query, path):
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(query)
        file.flush()
        text = subprocess.run(["trace_processor", "-q", file.name, path], check=True, capture_output=True, text=True).stdout
    return [list(row.values()) for row in csv.DictReader(io.StringIO(text))]


def main(document, json_path, pftrace=None):
    queries = re.findall(r"```sql\n(.*?)```", open(document).read(), re.S)
    assert len(queries) == 10, len(queries)
    base = tables(json_path)
    run = (lambda query: by_trace_processor(query, pftrace)) if pftrace else (lambda query: base.execute(query).fetchall())
    results = [run(query) for query in queries]
    # What the trace says, without SQL.
    events = json.load(open(json_path), parse_float=decimal.Decimal)["traceEvents"]
    calls, totals, selfs, edges, stack = collections.Counter(), collections.Counter(), collections.Counter(), collections.Counter(), collections.defaultdict(list)
    hits, at_hits, ended = 0, 0, []
    first_hit = None
    for event in events:
        here = stack[event["tid"]]
        ts = int(event["ts"] * 1000) if "ts" in event else 0
        if event["ph"] == "B":
            if here:
                edges[here[-1][0], event["name"]] += 1
            here.append((event["name"], ts))
            calls[event["name"]] += 1
        elif event["ph"] == "E":
            name, start = here.pop()
            totals[name] += ts - start
            selfs[name] += ts - start
            ended.append((ts, name, event["tid"]))
            if here:
                selfs[here[-1][0]] -= ts - start
        elif event.get("cat") == "hit":
            hits += 1
            at_hits += len(here)
            first_hit = min(first_hit or (ts, event["tid"]), (ts, event["tid"]))
    assert hits and len(results[0]) == hits and all(str(row[2]).startswith("0x") or int(row[2]) for row in results[0]), results[0]
    assert len(results[1]) >= at_hits > hits, (len(results[1]), at_hits)
    before = [end for end in ended if end[0] <= first_hit[0] and end[2] == first_hit[1]]
    assert len(results[2]) == min(20, len(before)) and int(results[2][0][0]) + int(results[2][0][1]) == max(before)[0]
    assert {row[0]: (int(row[1]), int(row[2])) for row in results[3]} == {name: (calls[name], totals[name]) for name in calls}
    assert {row[0]: int(row[1]) for row in results[4]} == dict(selfs)
    assert len(results[5]) == 10 and int(results[5][0][1]) >= int(results[5][9][1])
    assert {(row[0], row[1]): int(row[2]) for row in results[6]} == dict(edges)
    assert any(str(row[2]).endswith(".c") and int(row[3]) for row in results[7])
    assert len(results[8]) == sum(event.get("cat") == "gap" for event in events)
    freed = {event["args"]["allocation"] for event in events if event["ph"] == "i" and event["name"] == "free"}
    live = collections.Counter()
    for event in events:
        if event["ph"] == "i" and event["name"] != "free" and "allocation" in event.get("args", {}) and event["args"]["allocation"] not in freed:
            live[event["name"]] += event["args"]["bytes"]
    assert {row[0]: int(row[2]) for row in results[9]} == dict(live) and live, (results[9], live)


main(*sys.argv[1:])
