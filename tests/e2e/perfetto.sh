#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The queries of docs/perfetto.md give what the trace says without SQL.
. tests/e2e/lib.sh

if bpf_missing; then
	skip 'the queries for Perfetto' "$bpf_reason"
	finish
fi

"$trailcam" run --source step --step-from main -t table_grow --skip 1 --memtrace=1 -o "$tmp/q.json" -o "$tmp/q.pftrace" -- "$programs/wordcount" >/dev/null 2>"$tmp/err"
queries() {
	python3 tests/e2e/perfetto.py docs/perfetto.md "$tmp/q.json" "$@"
}
check 'in SQLite, on tables of the same columns' queries
if command -v trace_processor >/dev/null; then
	check 'in trace_processor' queries "$tmp/q.pftrace"
else
	skip 'the queries in trace_processor' 'no trace_processor in $PATH'
fi
finish
