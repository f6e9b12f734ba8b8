#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Three decoders agree on every instruction: the step log (what was executed), libipt and perf (what the packets say).
. tests/e2e/lib.sh

# Sorts by thread, each thread's instructions in order.
by_thread() {
	sort -s -n -k1,1
}

# record NAME OPTION... -- PROGRAM ARG...: leaves $tmp/NAME and $tmp/NAME.log
record() {
	name=$1
	shift
	${prefix:-} "$trailcam" run --source step --snapshot-size 64M --step-log "$tmp/$name.log" --keep-recording "$tmp/$name" \
		-o "$tmp/$name.fxt.gz" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err"
	echo "exit status $?" >>"$tmp/$name.err"
	[ -e "$tmp/$name/data" ] || {
		cat "$tmp/$name.err"
		return 1
	}
	grep -v lost "$tmp/$name.log" | cut -d' ' -f1,2 | by_thread >"$tmp/$name.truth"
}

log_is_long() {
	lines=$(wc -l <"$tmp/$1.truth")
	[ "$lines" -gt "$2" ] || {
		echo "only $lines instructions"
		cat "$tmp/$1.err"
		return 1
	}
}

libipt_agrees() {
	"$trailcam" dump --instructions "$tmp/$1" | grep -v gap | by_thread | cmp - "$tmp/$1.truth"
}

perf_agrees() {
	perf script -f -i "$tmp/$1" --itrace=i1i -F tid,ip --ns 2>"$tmp/$1.perf.err" | awk '{ print $1, $2 }' | by_thread |
		cmp - "$tmp/$1.truth" || {
		cat "$tmp/$1.perf.err"
		return 1
	}
}

no_gaps() {
	"$trailcam" dump --slices "$tmp/$1" >"$tmp/$1.slices" || return 1
	! grep -F '[gap' "$tmp/$1.slices"
}

# agree NAME MINIMUM [OPTION...] -- PROGRAM...
agree() {
	name=$1 minimum=$2
	shift 2
	check "$name: recorded" record "$name" "$@"
	check "$name: at least $minimum instructions" log_is_long "$name" "$minimum"
	check "$name: libipt gives the executed instructions" libipt_agrees "$name"
	if command -v perf >/dev/null; then
		check "$name: perf script gives the executed instructions" perf_agrees "$name"
	else
		skip "$name: perf script" "perf is not installed (package linux-perf)"
	fi
	check "$name: no gap" no_gaps "$name"
	rm -rf "${tmp:?}/$name" "$tmp/$name".*
}

# Go's runtime takes millions of instructions to start: some seconds of it, with all its threads, are enough.
agree_go() {
	# shellcheck disable=SC2209
	prefix="timeout --signal=INT 6"
	agree go 50000 -- /usr/sbin/runc --version
	prefix=
}

agree throws 1000 --step-from main -- "$programs/throws"
agree torture 100000 -- "$programs/torture"
agree torture-exec 200000 -- "$programs/torture" exec
agree wordcount 100000 -- "$programs/wordcount"
agree jit 50000 -- "$programs/jit"
if bpf_missing; then
	skip "programs of the distribution" "$bpf_reason"
else
	start=libc.so.6:__libc_start_main
	agree ls 50000 --step-from $start -- /bin/ls -l /etc/apt
	head -c 3000 Makefile >"$tmp/input"
	agree gzip 50000 --step-from $start -- /bin/gzip -c "$tmp/input"
	printf "if\nelse\nwhile\nfor\nreturn\n" >"$tmp/keywords"
	agree cxx 50000 --step-from $start -- /usr/bin/gperf "$tmp/keywords"
	agree rust 50000 --step-from $start -- /usr/bin/hexyl -n 64 "$tmp/input"
	agree_go
fi
finish
