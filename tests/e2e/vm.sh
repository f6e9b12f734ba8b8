#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The intel_pt source on the kernel's own driver, which drives a software processor in a virtual machine (tests/vm): what is decoded is judged by the
# log of what that processor executed, and by perf.
. tests/e2e/lib.sh

vm=build/vm
oracle=$PWD/$BUILD/tests/oracle/calls

# What a test machine must have, or the reason why it is skipped.
vm_missing() {
	for command in qemu-system-x86_64 gcc-12 busybox; do
		command -v $command >/dev/null || {
			reason="$command is not installed"
			return 0
		}
	done
	reason=$(tests/vm/kernel.sh "$1" "$vm/$1" 2>&1) && return 1
	[ -n "$reason" ] || reason="tests/vm/kernel.sh $1 fails"
}

# boot KERNEL SCRIPT FILE...: leaves $out
boot() {
	out=$tmp/$1
	kernel=$1 script=$2
	shift 2
	tests/vm/boot.sh "$vm/$kernel" "$script" "$out" "$trailcam" "$@" && [ ! -s "$out/dmesg" ] || {
		cat "$out/console" "$out/dmesg"
		return 1
	}
}

by_thread() {
	sort -s -n -k1,1
}

# The instructions decoded: all that were executed and not lost.
exact() {
	grep -v lost "$out/$1.log" | cut -d' ' -f1,2 | by_thread >"$tmp/truth"
	[ "$(wc -l <"$tmp/truth")" -gt "$2" ] || {
		echo "only $(wc -l <"$tmp/truth") instructions"
		cat "$out/$1.err"
		return 1
	}
	"$trailcam" dump --instructions "$out/$1" | grep -v gap | by_thread | cmp - "$tmp/truth"
}

# The last of them, more than MINIMUM.
exact_end() {
	cut -d' ' -f1,2 "$out/$1.log" >"$tmp/truth"
	"$trailcam" dump --instructions "$out/$1" >"$tmp/decoded"
	cnt=$(wc -l <"$tmp/decoded")
	[ "$cnt" -gt "$2" ] && [ "$cnt" -lt "$(wc -l <"$tmp/truth")" ] && tail -n "$cnt" "$tmp/truth" | cmp - "$tmp/decoded"
}

perf_agrees() {
	"$trailcam" dump --instructions "$out/$1" | grep -v gap | by_thread >"$tmp/decoded"
	perf script -f -i "$out/$1" --itrace=i1i -F tid,ip --ns 2>"$tmp/perf.err" | awk '{ print $1, $2 }' | by_thread |
		cmp - "$tmp/decoded" || {
		cat "$tmp/perf.err"
		return 1
	}
}

gap_cnt() {
	"$trailcam" dump --slices "$out/$1" | grep -c '\[gap'
}

no_gap() {
	[ "$(gap_cnt "$1")" = 0 ]
}

# Every call is what the stack pointers of the log say.
true_calls() {
	"$oracle" "$out/$1" "$out/$1.log"
}

# The trace stops right before the probed instruction.
ends_at_hit() {
	ip=$("$trailcam" dump --hits "$out/$1" | awk '$1 == "rip" { print $2; exit }')
	"$trailcam" dump --branches "$out/$1" | sort -n -k1,1 | tail -1 | cut -f3-4 | grep -qx "interrupt+end	$ip"
}

# --- Linux 6.12

if vm_missing 6.12; then
	skip 'intel_pt in a virtual machine (Linux 6.12)' "$reason"
	finish
fi
check 'the virtual machine runs' boot 6.12 tests/vm/captures "$programs/wordcount" "$programs/torture" "$(command -v perl)"
for name in whole low high custom; do
	check "$name: every instruction executed, and no other" exact $name 100000
	check "$name: no gap" no_gap $name
	check "$name: perf decodes the same" perf_agrees $name
done
check 'whole: every call' true_calls whole
check 'hit: every instruction up to the stop' exact hit 60000
check 'hit: every call' true_calls hit
check 'frozen: every instruction up to the hit' exact frozen 60000
check 'frozen: nothing behind it' ends_at_hit frozen
check 'stepped: an instruction that the kernel executes elsewhere costs no gap' no_gap stepped
check 'stepped: every instruction up to the hit' exact stepped 60000
check 'stepped: nothing behind it' ends_at_hit stepped
check 'wrapped: the end of what was executed' exact_end wrapped 2000
check 'wrapped: perf decodes the same' perf_agrees wrapped
check 'threads: every instruction of every thread and child' exact threads 150000
check 'threads: no gap' no_gap threads
check 'threads: perf decodes the same' perf_agrees threads
check 'perl: every instruction' exact perl 1000000
check 'perl: no gap' no_gap perl
check 'many: three snapshots hold every instruction, and none twice' exact many 60000
check 'many: every call' true_calls many
check 'overflows: every instruction that was not lost' exact overflows 100000
check 'overflows: perf decodes the same' perf_agrees overflows
finish
