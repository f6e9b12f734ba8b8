#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Three decoders agree on every instruction: the step log (what was executed), libipt and perf (what the
# packets say).
. tests/e2e/lib.sh
sources=$PWD/tests/programs/src

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
	truth "$name"
}

# truth NAME: what the step log tells.
truth() {
	[ -e "$tmp/$1/data" ] || {
		cat "$tmp/$1.err"
		return 1
	}
	grep -v lost "$tmp/$1.log" | cut -d' ' -f1,2 | by_thread >"$tmp/$1.truth"
}

# start NAME PROGRAM...: up to where it says "ready" and waits for a line; $target. Its input ends with this
# script, whatever happens.
start() {
	name=$1
	shift
	mkfifo "$tmp/$name.in"
	"$@" <"$tmp/$name.in" >"$tmp/$name.out" 2>&1 &
	target=$!
	exec 3>"$tmp/$name.in"
	wait_for "$tmp/$name.out" ready
}

# trace NAME: what it does from there on until it ends.
trace() {
	# What a script starts in the background ignores SIGINT otherwise.
	env --default-signal=INT "$trailcam" attach -v --source step --max-stall none --follow-forks --snapshot-size 64M \
		--step-log "$tmp/$1.log" --keep-recording "$tmp/$1" -o "$tmp/$1.fxt.gz" -p $target 2>"$tmp/$1.err" 3>&- &
	tracer=$!
	wait_for "$tmp/$1.err" 'the recording begins' && echo >&3
	wait $tracer
	echo "exit status $?" >>"$tmp/$1.err"
}

end() {
	exec 3>&-
	kill $target 2>/dev/null
	wait $target
}

# attach NAME PROGRAM...: `record` for a program whose start takes millions of instructions, which are left
# out.
attach() {
	name=$1
	start "$@" && trace "$name"
	end
	truth "$name" && says "$tmp/$name.err" 'the target ended'
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

# interrupt NAME DELAY: Ctrl-C came in time.
interrupt() {
	env --default-signal=INT "$trailcam" decode --decoder=reference --threads 1 -o "$tmp/part.tsv" "$tmp/$1" 2>"$tmp/err" &
	sleep "$2"
	kill -INT $! 2>/dev/null
	wait $!
	[ $? -eq 130 ] && says "$tmp/err" 'interrupted'
}
interrupted() {
	"$trailcam" decode -o "$tmp/all.tsv" "$tmp/$1" 2>/dev/null || return 1
	all=$(wc -l <"$tmp/all.tsv")
	for delay in 0.1 0.2 0.4 0.05 0.8 0.02; do
		rm -f "$tmp/part.tsv"
		interrupt "$1" $delay && part=$(wc -l <"$tmp/part.tsv") && [ "$part" -gt 1 ] && [ "$part" -lt "$all" ] && return 0
	done
	return 1
}

# agree_on NAME MINIMUM: about what was recorded.
agree_on() {
	check "$1: at least $2 instructions" log_is_long "$1" "$2"
	check "$1: libipt gives the executed instructions" libipt_agrees "$1"
	if command -v perf >/dev/null; then
		check "$1: perf script gives the executed instructions" perf_agrees "$1"
	else
		skip "$1: perf script" "perf is not installed (package linux-perf)"
	fi
	check "$1: no gap" no_gaps "$1"
	check "$1: the fast decoder gives what libipt does" "$PWD/$BUILD/tests/oracle/decoders" -v "$tmp/$1"
	[ "$1" != python ] || check 'a decode that is interrupted leaves what it has' interrupted "$1"
	rm -rf "${tmp:?}/$1" "$tmp/$1".*
}

# agree NAME MINIMUM [OPTION...] -- PROGRAM...
agree() {
	name=$1 minimum=$2
	shift 2
	check "$name: recorded" record "$name" "$@"
	agree_on "$name" "$minimum"
}

# Go's runtime takes millions of instructions to start: the first ones, with all its threads, are enough.
agree_go() {
	prefix="until_long $tmp/go.log"
	agree go 50000 -- /usr/sbin/runc --version
	prefix=
}

# The command may be a script that looks for the right version.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)

python_recorded() {
	attach python "$python" "$sources/threads.py" && says "$tmp/python.err" 'in 3 threads'
}

node_recorded() {
	attach node node --single-threaded --always-sparkplug "$sources/compiles.js" || return 1
	calls=$("$trailcam" dump --slices "$tmp/node" | cut -f4 | grep -c '^//anon')
	[ "$calls" -ge 50 ] || {
		echo "only $calls calls"
		return 1
	}
}

agree throws 1000 --step-from main -- "$programs/throws"
# Where anybody probes libc, it ends by a signal natively, too.
"$programs/torture" >"$tmp/native" 2>&1
[ $? -eq 3 ] && probed= || probed=probed
agree torture 95000 -- "$programs/torture" $probed
agree torture-exec 190000 -- "$programs/torture" exec $probed
agree wordcount 100000 -- "$programs/wordcount"
agree jit 50000 -- "$programs/jit"
if [ -n "$python" ]; then
	check 'python: recorded, with a thread and a child' python_recorded
	agree_on python 300000
else
	skip python 'it is not installed (package python3)'
fi
if command -v node >/dev/null; then
	check 'node: recorded, with calls of what it has compiled' node_recorded
	agree_on node 400000
else
	skip node 'it is not installed (package nodejs)'
fi
if bpf_missing; then
	skip "programs of the distribution" "$bpf_reason"
else
	start=libc.so.6:__libc_start_main
	agree ls 50000 --step-from $start -- /bin/ls -l /etc/apt
	head -c 300 Makefile >"$tmp/input"
	agree gzip 50000 --step-from $start -- /bin/gzip -c "$tmp/input"
	printf "if\nelse\nwhile\nfor\nreturn\n" >"$tmp/keywords"
	agree cxx 50000 --step-from $start -- /usr/bin/gperf "$tmp/keywords"
	# With its frame and colours it would execute a million instructions more.
	agree rust 50000 --step-from $start -- /usr/bin/hexyl --plain -n 64 "$tmp/input"
	agree_go
fi
finish
