#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Somebody else's uprobes: the traced program lives, and what is decoded while they are set is what was
# executed. They stand in a copy of a program, which nobody else runs.
. tests/e2e/lib.sh
cp "$programs/wordcount" "$programs/torture" "$programs/server" "$tmp" || exit 1
probes=
trap 'unprobe; kill -9 ${target:-} 2>/dev/null; rm -rf "$tmp"' EXIT

# probe FILE SITE...: from now on, up to unprobe.
probe() {
	file=$1
	shift
	for site; do
		mkfifo "$tmp/$site.in"
		"$programs/foreign_probe" "$tmp/$file" "$site" <>"$tmp/$site.in" >"$tmp/$site.out" 2>&1 &
		probes="$probes $!"
		rm "$tmp/$site.in"
		wait_for "$tmp/$site.out" ready || return 1
	done
}

unprobe() {
	for pid in $probes; do kill "$pid" && wait "$pid"; done 2>/dev/null
	probes=
}

# sites FILE FUNCTION...: the place of each instruction of them, as FUNCTION+BYTES.
sites() {
	file=$1
	shift
	for function; do
		objdump -d --no-show-raw-insn "--disassemble=$function" "$tmp/$file" |
			sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' | {
			first=
			while read -r at; do
				at=$(printf %d "0x$at")
				first=${first:-$at}
				echo "$function+$((at - first))"
			done
		}
	done
}

if ! "$programs/foreign_probe" "$tmp/wordcount" main </dev/null >"$tmp/try" 2>&1; then
	skip 'foreign probes' "$(cat "$tmp/try")"
	finish
fi

# record NAME PROGRAM...: leaves its status, its output, the recording, what was executed, and two decoders'
# word on it.
record() {
	name=$1
	shift
	"$trailcam" run --source step --step-log "$tmp/$name.log" --keep-recording "$tmp/$name" -o "$tmp/$name.tsv" -- "$@" \
		>"$tmp/$name.out" 2>"$tmp/$name.err"
	echo "exit status $?" >>"$tmp/$name.out"
	sort -s -n -k1,1 "$tmp/$name.log" | cut -d' ' -f1,2 >"$tmp/$name.truth"
	"$trailcam" dump --instructions "$tmp/$name" | grep -v gap | sort -s -n -k1,1 >"$tmp/$name.insn"
}

same_as_alone() {
	record probed "$@" && cmp "$tmp/alone.out" "$tmp/probed.out" && cmp "$tmp/probed.truth" "$tmp/probed.insn" || {
		cat "$tmp/probed.out" "$tmp/probed.err"
		return 1
	}
}

decodes_alike() {
	cut -f4 "$tmp/probed.tsv" | sort | uniq -c >"$tmp/probed.calls"
	cut -f4 "$tmp/alone.tsv" | sort | uniq -c | diff - "$tmp/probed.calls" || return 1
	"$trailcam" decode -o "$tmp/first.tsv" "$tmp/probed" && unprobe &&
		"$trailcam" decode -o "$tmp/second.tsv" "$tmp/probed" && cmp "$tmp/first.tsv" "$tmp/second.tsv"
}

record alone "$tmp/wordcount"
# Every instruction of a function with jumps, calls and returns, which the kernel emulates or executes
# elsewhere. shellcheck disable=SC2046
check 'a probe on each instruction of a function' probe wordcount $(sites wordcount table_find)
check 'a stepped program does not notice them, and each instruction is decoded' same_as_alone "$tmp/wordcount"
check 'calls are the same as without, and as decoded later without' decodes_alike
unprobe

record alone "$tmp/torture" probed
# shellcheck disable=SC2046
check 'probes where signals, threads, forks and int3 are' probe torture deep recurse on_trap on_usr1 thread_main \
	$(sites torture test_traps | sed -n '1~3p')
check 'a program with breakpoints of its own gets each of them' same_as_alone "$tmp/torture" probed
unprobe

# attached DELAY: to a server under probes that come and go; it lives on.
attached() {
	mkfifo "$tmp/in"
	"$tmp/server" <>"$tmp/in" >"$tmp/server.out" 2>&1 &
	target=$!
	wait_for "$tmp/server.out" ready || return 1
	env --default-signal=INT "$trailcam" attach -v --source step -o "$tmp/t.tsv" -p $target 2>"$tmp/err" &
	tracer=$!
	wait_for "$tmp/err" 'debug: attached' || return 1
	for _ in 1 2 3; do
		probe server handle || return 1
		echo work >"$tmp/in"
		echo thread >"$tmp/in"
		unprobe
		rm -f "$tmp/handle.out"
	done
	echo quit >"$tmp/in"
	wait $target
	status=$?
	wait $tracer
	"$tmp/server" >"$tmp/free.out" <<-END
		work
		thread
		work
		thread
		work
		thread
		quit
	END
	[ $? -eq $status ] && diff "$tmp/free.out" "$tmp/server.out"
}
check 'attached to a program while probes come and go: it does what it would' attached

# On what every process calls, as an agent on a host has it.
beside_malloc() {
	ln -sf "$(ldd "$programs/wordcount" | sed -n 's/.*libc\.so.* => \([^ ]*\).*/\1/p')" "$tmp/libc" && probe libc malloc || return 1
	same_as_alone "$tmp/wordcount" && tests/e2e/mark.sh >"$tmp/mark"
	status=$?
	unprobe
	[ $status -eq 0 ] || cat "$tmp/mark"
	return $status
}
record alone "$tmp/wordcount"
check "beside a probe on libc's malloc: a stepped program, and tests of marks" beside_malloc
finish
