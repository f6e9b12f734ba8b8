#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs tests, given as programs (cmocka) and scripts (tests/e2e/lib.sh), shows what fails and what is skipped, and counts.
# Usage: tests/run.sh TEST...		V=1: show everything
set -u
passed=0 failed=0 skipped=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# cmocka names what it skips or fails twice.
count() {
	grep "$1" "$out" | sort -u | wc -l
}

for test; do
	timeout 600 "$test" >"$out" 2>&1 </dev/null
	status=$?
	ok=$(($(count '^\[       OK \]') + $(count '^ok - ')))
	bad=$(($(count '^\[  FAILED  \] test_.*[^)]$') + $(count '^not ok - ')))
	skip=$(($(count '^\[  SKIPPED \] test_') + $(count '^skip - ')))
	# A test that dies, hangs or runs nothing has failed, whatever it printed.
	if [ $status -ne 0 ] && [ $bad -eq 0 ]; then bad=1; fi
	if [ $((ok + bad + skip)) -eq 0 ]; then bad=1; fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	printf '  %-44s %3d passed' "${test#build/}" "$ok"
	[ $skip -eq 0 ] || printf ', %d skipped' "$skip"
	[ $bad -eq 0 ] || printf ', %d FAILED (status %d)' "$bad" "$status"
	printf '\n'
	grep -E '^skip - |^skipped: ' "$out" | sed 's/^/      /'
	if [ -n "${V:-}" ]; then
		sed 's/^/      | /' "$out" | tail -60
	elif [ $bad -ne 0 ]; then
		grep -vE '^ok - |^\[       OK \]|^\[ RUN' "$out" | sed 's/^/      | /' | head -60
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
