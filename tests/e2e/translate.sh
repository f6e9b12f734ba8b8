#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Translated programs do what they do natively, and every instruction is recorded: as the step log has it,
# with addresses that are the same each time.
. tests/e2e/lib.sh
translated=$PWD/$BUILD/tests/oracle/translate_run
# The one system call that a translated program is refused (rseq) changes how it starts; its environment must
# be the same, too.
GLIBC_TUNABLES=glibc.pthread.rseq=0
export GLIBC_TUNABLES

# same STATUS PROGRAM...: status and output are those of the native run, and nothing was given back.
same() {
	want=$1
	shift
	"$@" >"$tmp/native" 2>&1 </dev/null
	native=$?
	timeout 120 "$translated" -- "$@" >"$tmp/translated" 2>"$tmp/said" </dev/null
	status=$?
	cat "$tmp/said" >>"$tmp/translated"
	[ $native -eq "$want" ] && [ $status -eq "$want" ] && diff "$tmp/native" "$tmp/translated"
}

# agree NAME MINIMUM PROGRAM...
agree() {
	name=$1 minimum=$2
	shift 2
	setarch -R "$trailcam" run --source step --snapshot-size 64M --step-log "$tmp/$name.log" -o "$tmp/$name.fxt.gz" -- "$@" >/dev/null 2>&1
	setarch -R "$translated" -o "$tmp/$name" -- "$@" >/dev/null || return 1
	cut -d' ' -f2 "$tmp/$name.log" >"$tmp/$name.stepped"
	"$trailcam" dump --instructions "$tmp/$name" | cut -d' ' -f2 >"$tmp/$name.recorded"
	[ "$(wc -l <"$tmp/$name.stepped")" -ge "$minimum" ] && cmp "$tmp/$name.stepped" "$tmp/$name.recorded"
}

check 'a static program: every instruction' agree calls 40 "$programs/calls"
check 'a dynamic program from its loader on: every instruction' agree wordcount 100000 "$programs/wordcount"
check 'signals, faults, breakpoints, forks, threads: the same output and exit status' same 3 "$programs/torture"
check 'the next program' same 3 "$programs/torture" exec
check 'exceptions' same 0 "$programs/throws"
check 'coroutines' same 0 "$programs/coroutines"
check 'a program of the distribution' same 0 /bin/ls -l /etc/apt
check 'code made at run time goes on natively' sh -c "$translated -- $programs/jit 2>&1 | grep 'makes code at run time'"
finish
