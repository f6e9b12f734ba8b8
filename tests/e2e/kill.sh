#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SIGKILL of any process of trailcam's, at any moment: the target lives and runs, with no probe and no stop
# left. KILL_ROUNDS: how often (default: 24).
. tests/e2e/lib.sh

if bpf_missing; then
	skip 'killed with probes in place' "$bpf_reason"
	finish
fi
check 'killed at random moments' python3 tests/e2e/kill.py "$trailcam" "$programs/busy" "$tmp" "${KILL_ROUNDS:-24}"
finish
