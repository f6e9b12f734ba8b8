#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs tests, given as programs (cmocka) and scripts (tests/e2e/lib.sh), shows what fails and what is skipped, and counts.
# Usage: tests/run.sh TEST...		V=1: show everything; JOBS=2: so many at a time (what each shows stays together)
set -u

# cmocka names what it skips or fails twice.
count() {
	grep "$1" "$out" | sort -u | wc -l
}

# show TEST: what became of it, from $out and $status; adds "PASSED FAILED SKIPPED" to the counts.
show() {
	ok=$(($(count '^\[       OK \]') + $(count '^ok - ')))
	bad=$(($(count '^\[  FAILED  \] test_.*[^)]$') + $(count '^not ok - ')))
	skip=$(($(count '^\[  SKIPPED \] test_') + $(count '^skip - ')))
	# A test that dies, hangs or runs nothing has failed, whatever it printed.
	if [ $status -ne 0 ] && [ $bad -eq 0 ]; then bad=1; fi
	if [ $((ok + bad + skip)) -eq 0 ]; then bad=1; fi
	echo "$ok $bad $skip" >>"$RUN_DIR/counts"
	printf '  %-44s %3d passed' "${1#build/}" "$ok"
	[ $skip -eq 0 ] || printf ', %d skipped' "$skip"
	[ $bad -eq 0 ] || printf ', %d FAILED (status %d)' "$bad" "$status"
	printf '\n'
	grep -E '^skip - |^skipped: ' "$out" | sed 's/^/      /'
	if [ -n "${V:-}" ]; then
		sed 's/^/      | /' "$out" | tail -60
	elif [ $bad -ne 0 ]; then
		grep -vE '^ok - |^\[       OK \]|^\[ RUN' "$out" | sed 's/^/      | /' | head -60
	fi
}

# Called by itself, for one test.
if [ -n "${RUN_DIR:-}" ]; then
	out=$RUN_DIR/$$.out
	(unset RUN_DIR && exec timeout 600 "$1") >"$out" 2>&1 </dev/null
	status=$?
	show "$1" >"$out.shown"
	flock "$RUN_DIR" cat "$out.shown"
	exit 0
fi

RUN_DIR=$(mktemp -d)
export RUN_DIR
trap 'rm -rf "$RUN_DIR"' EXIT
: >"$RUN_DIR/counts"
[ $# -eq 0 ] || printf '%s\0' "$@" | xargs -0 -n 1 -P "${JOBS:-1}" "$0"
awk -v tests=$# '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		failed += tests - NR
		print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"
		exit failed != 0
	}' "$RUN_DIR/counts"
