#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The commands of docs/tutorial.md do what it says.
. tests/e2e/lib.sh

if bpf_missing; then
	skip 'the tutorial' "$bpf_reason"
	exit 0
fi
root=$PWD
cd "$tmp" || exit 1
python3 "$root/tests/e2e/tutorial.py" "$root/docs/tutorial.md" "$root/$BUILD" || failures=1
cd "$root" || exit 1
finish
