#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Pipes in place of files, other people's files in /tmp, and a small stack.
. tests/e2e/lib.sh
"$trailcam" run --source step --step-from main --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$programs/wordcount" >/dev/null 2>&1

# --- standard input and pipes
same_from_pipe() {
	cat "$tmp/rec/data" | "$trailcam" decode - -o "$tmp/piped.fxt" 2>/dev/null && cmp "$tmp/t.fxt" "$tmp/piped.fxt" &&
		"$trailcam" decode -o "$tmp/piped2.fxt" <(cat "$tmp/rec/data") 2>/dev/null && cmp "$tmp/t.fxt" "$tmp/piped2.fxt"
}
check 'decode: a recording through a pipe' same_from_pipe
report_from_pipe() {
	"$trailcam" report "$tmp/t.fxt" | sed 1d >"$tmp/by-name" && gzip -c "$tmp/t.fxt" | "$trailcam" report - | sed 1d | cmp - "$tmp/by-name" &&
		"$trailcam" report - <"$tmp/t.fxt" | sed 1d | cmp - "$tmp/by-name"
}
check 'report: a trace from standard input' report_from_pipe
says_standard_input() {
	echo nothing | status_is 1 "$trailcam" decode - -o "$tmp/none.fxt" 2>"$tmp/err" && says "$tmp/err" 'the recording standard input: it is not a recording'
}
check 'what is wrong with standard input' says_standard_input

# --- pipes that nobody writes into
ends() {
	timeout -k 20 500 "$@" >"$tmp/out" 2>"$tmp/err"
	[ $? -lt 124 ]
}
pipe_in() {
	rm -rf "$tmp/pipes" && cp -r "$tmp/rec" "$tmp/pipes" && rm -rf "${tmp:?}/pipes/$1" && mkdir -p "$(dirname "$tmp/pipes/$1")" && mkfifo "$tmp/pipes/$1" &&
		ends "$trailcam" decode "$tmp/pipes" -o "$tmp/pipes.fxt" && ends "$trailcam" dump --slices "$tmp/pipes"
}
copy=$(basename "$(find "$tmp/rec" -name 'code.*' | head -1)")
check 'a pipe as data' pipe_in data
check 'a pipe as a copy of code' pipe_in "$copy"
check "a pipe as the kernel's code" pipe_in kcore_dir/kcore
check "a pipe as the kernel's names" pipe_in kcore_dir/kallsyms
mkfifo "$tmp/pipe"
# has_open PID: the pipe
has_open() {
	readlink "/proc/$1/fd/"* | grep -qx "$tmp/pipe"
}
view_ends() {
	"$trailcam" view "$tmp/pipe" >"$tmp/out" 2>"$tmp/err" &
	wait_until has_open $! && kill -TERM $! && status_is 130 wait $!
}
check 'view: a pipe that nobody writes into, ended by TERM' view_ends

# --- a map of names in /tmp is its owner's word
map_is_taken() {
	"$trailcam" run --source step --keep-recording "$tmp/map" -o "$tmp/map.fxt" -- \
		sh -c "echo '400000 1000 poison' >/tmp/perf-\$\$.map; chown $1 /tmp/perf-\$\$.map; echo \$\$ >$tmp/pid; exec '$programs/calls'" >/dev/null 2>&1
	rm -f "/tmp/perf-$(cat "$tmp/pid").map"
	grep -qs poison "$tmp"/map/code.*
}
not() { ! "$@"; }
if [ "$(id -u)" -eq 0 ]; then
	check "a map of names that is the target's own" map_is_taken 0
	check "another user's is not believed" not map_is_taken 65534
else
	skip "another user's map of names" 'not root'
fi

# --- a small stack
same_stack() {
	(
		ulimit -s 128
		"$trailcam" decode "$tmp/rec" -o "$tmp/small.fxt" 2>/dev/null
		"$trailcam" run --source none --on-exit 0 -o "$tmp/small.tsv" -- bash -c 'ulimit -s' 2>/dev/null
		"$trailcam" run --source step --step-from main -t table_grow -o "$tmp/grow.fxt" -- "$programs/wordcount" 2>&1
	) >"$tmp/limit"
	cmp "$tmp/t.fxt" "$tmp/small.fxt" && [ "$(head -1 "$tmp/limit")" = 128 ] && says "$tmp/limit" 'hit table_grow'
}
bpf_missing || check 'a stack of 128 KiB: trailcam has its own, the program what it had' same_stack
exit "$([ "$failures" -eq 0 ] && echo 0 || echo 1)"
