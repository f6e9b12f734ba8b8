#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Sampled stacks that are hard to follow (tests/programs/twisted.cc): each leaf is called in one way only.
. tests/e2e/lib.sh
if bpf_missing; then
	skip 'twisted stacks' "$bpf_reason"
	exit 0
fi

# All that each leaf is found within. A stack that is another one does not show who called the function that
# leads to it, which may have been seen or not; nor does one that is longer than what is copied of it.
cat >"$tmp/ways" <<'EOF2'
leaf_alloca main;with_alloca
leaf_jumped main;jumps
leaf_coroutine main;(switches;)?(swapcontext;)?libc.so.6[^;]*;coroutine
leaf_aligned main;aligned
leaf_handler main;(signalled;)?(raise;)?(\[unknown\];)?[a-z_]*kill[^;]*;libc.so.6[^;]*;handler
leaf_caught main;catches
leaf_destructor main;catches;guarded[^;]*;guard::~guard\(\)
leaf_big main;(\[unknown\];)?with_big_frame
leaf_vfork main;vforks
leaf_even main;(even;odd;){20}even
leaf_deep main;(\[unknown\];)?(deep;)+deep
pushes main
leaf_library main;sorts;qsort[^;]*;msort[^;]*;compare[^;]*
leaf_exit exit;__run_exit_handlers;at_exit
EOF2
twisted() {
	g++ "$@" -fno-optimize-sibling-calls -pthread -o "$tmp/twisted" tests/programs/twisted.cc &&
		"$trailcam" run --source samples --follow-forks -o "$tmp/t.folded" -- "$tmp/twisted" 2>"$tmp/err" || return 1
	while read -r leaf way; do
		grep -E ";$leaf[; ]" "$tmp/t.folded" >"$tmp/stacks"
		[ -s "$tmp/stacks" ] && ! grep -vE "^twisted;_start;__libc_start_main;__libc_start_call_main;$way;$leaf[; ]" "$tmp/stacks" || return 1
	done <"$tmp/ways"
	grep ';leaf_small[; ]' "$tmp/t.folded" >"$tmp/stacks"
	[ -s "$tmp/stacks" ] && ! grep -vE '^twisted;clone3?;start_thread;small[^;]*;leaf_small[; ]' "$tmp/stacks"
}
check 'twisted stacks' twisted -O2
check 'twisted stacks, without frame pointers' twisted -O1 -fomit-frame-pointer
check 'twisted stacks, with frame pointers' twisted -O2 -fno-omit-frame-pointer
check 'twisted stacks of small code' twisted -Os
finish
