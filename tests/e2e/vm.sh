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

# boot KERNEL: makes all captures there; leaves $out
boot() {
	out=$tmp/$1
	tests/vm/boot.sh "$vm/$1" tests/vm/captures "$out" "$trailcam" "$programs/wordcount" "$programs/torture" "$programs/server" "$programs/jit" \
		"$(command -v perl)" "$(command -v setpriv)" && [ ! -s "$out/dmesg" ] || {
		tail -n 15 "$out/console" "$out/dmesg"
		return 1
	}
}

by_thread() {
	sort -s -n -k1,1
}

# A probed instruction that is executed in the kernel's slots is known by its beginning and its end only.
no_slots() {
	grep -v ' 7fffffffe'
}

# The instructions decoded: all that were executed and not lost.
exact() {
	grep -v lost "$out/$1.log" | cut -d' ' -f1,2 | no_slots | by_thread >"$tmp/truth"
	[ "$(wc -l <"$tmp/truth")" -gt "$2" ] || {
		echo "only $(wc -l <"$tmp/truth") instructions"
		cat "$out/$1.err"
		return 1
	}
	"$trailcam" dump --instructions "$out/$1" | grep -v gap | no_slots | by_thread | cmp - "$tmp/truth"
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
	[ -s "$out/$1" ] && [ "$(gap_cnt "$1")" = 0 ]
}

# Every call is what the stack pointers of the log say.
true_calls() {
	no_slots <"$out/$1.log" >"$tmp/log" && "$oracle" "$out/$1" "$tmp/log"
}

# The trace ends where the probed instruction was hit last: behind it the thread may only have been let in and out again.
ends_at_hit() {
	ip=$("$trailcam" dump --hits "$out/$1" | awk '$1 == "rip" { print $2; exit }')
	"$trailcam" dump --branches "$out/$1" | sort -s -n -k1,1 | awk -F'\t' -v ip="$ip" '
		$3 == "interrupt+end" && $4 == ip { hit = 1; bad = ""; next }
		$3 == "none+start" { at = $5; next }
		$3 != "interrupt+end" || $4 != at { bad = bad $0 "\n" }
		END { printf "%s", bad; exit bad != "" || !hit }'
}

# --- Linux 6.12

if vm_missing 6.12; then
	skip 'intel_pt in a virtual machine (Linux 6.12)' "$reason"
	finish
fi
check 'the virtual machine runs' boot 6.12
for name in whole low high custom; do
	check "$name: every instruction executed, and no other" exact $name 100000
	check "$name: no gap" no_gap $name
	check "$name: perf decodes the same" perf_agrees $name
done
check 'whole: every call' true_calls whole
check 'hit: every instruction up to the stop' exact hit 60000
check 'hit: every call' true_calls hit
check 'paused: every instruction up to the hit' exact paused 60000
check 'paused: nothing behind it' ends_at_hit paused
check 'paused: it was the hit itself' says "$out/paused.err" 'stopped by AUX pause in the hit itself, 0 ns after it'
check 'frozen: every instruction up to the hit' exact frozen 60000
check 'frozen: nothing behind it' ends_at_hit frozen
check 'stepped: an instruction that the kernel executes elsewhere costs no gap' no_gap stepped
check 'stepped: every instruction up to the hit' exact stepped 60000
check 'several: every call' true_calls several
check 'several: every instruction' exact several 60000
check 'wrapped: the end of what was executed' exact_end wrapped 2000
check 'wrapped: perf decodes the same' perf_agrees wrapped
check 'jit: every instruction, of code that is gone, too' exact jit 50000
check 'jit: no gap' no_gap jit
check 'filtered: every instruction of the two functions' exact filtered 5000
only_the_two() {
	"$trailcam" dump --slices "$out/filtered" | awk -F'\t' '!/^#/ && $4 !~ /^\[/ { print $4 }' | sort -u | tr '\n' ' ' |
		grep -qx 'hash_word table_find '
}
check 'filtered: no other function' only_the_two
check 'threads: every instruction of every thread and child' exact threads 150000
check 'threads: no gap' no_gap threads
# The program sleeps twice, and waits for its children.
off_cpu() {
	"$trailcam" dump --slices "$out/threads" | awk -F'\t' '$4 == "[off-cpu]" { cnt++; if ($2 - $1 > 20000000) long = 1 } END { exit cnt < 10 || !long }'
}
check 'threads: where they did not run' off_cpu
check 'threads: perf decodes the same' perf_agrees threads
for name in own ownhit ownfilter; do
	check "$name ring: every instruction" exact $name 3000
	check "$name ring: no gap" no_gap $name
done
check 'own ring: perf decodes the same' perf_agrees own
check 'ownhit ring: nothing behind the hit' ends_at_hit ownhit
check 'wide: every instruction of every process' exact wide 500000
check 'wide: no gap' no_gap wide
several_programs() {
	"$trailcam" dump --slices "$out/wide" | awk -F'\t' '!/^#/ { print $5 }' | sort -u | wc -l | grep -qv '^[012]$'
}
check 'wide: several programs' several_programs
check 'kernel: every instruction of the program' exact kernel 100000
kernel_walk() {
	"$BUILD/tests/oracle/kernel_walk" "$1" "$tmp/walk" && "$trailcam" dump --instructions "$tmp/walk" | grep -v gap | cmp - "$tmp/walk.log" || return 1
	[ "$(wc -l <"$tmp/walk.log")" -gt 100000 ] && "$trailcam" dump --slices "$tmp/walk" >"$tmp/walk.slices" && ! grep '\[gap' "$tmp/walk.slices"
}
check 'kernel: a way through its code' kernel_walk "$out/kernel"
perf_walk() {
	perf script -f -i "$tmp/walk" --itrace=i1i -F tid,ip --ns 2>"$tmp/perf.err" | awk '{ print $1, $2 }' | cmp - "$tmp/walk.log"
}
check 'kernel: perf decodes the same' perf_walk
# The system call's code is on top of the function that made it.
kernel_names() {
	awk -F'\t' '!/^#/ { open[$3] = $4 }
		$4 == "do_syscall_64" { cnt++; if (open[$3 - 1] != "entry_SYSCALL_64_after_hwframe" || open[0] ~ /SYSCALL/) { print; bad++ } }
		END { exit cnt < 100 || bad }' "$tmp/walk.slices"
}
check 'kernel: its functions by name' kernel_names
check 'full: every instruction' exact full 1000000
check 'full: no gap' no_gap full
# Where the reader was too slow there is a gap. Behind the last packet before it a decoder walks on as far as it can, into what was not logged any more.
lossy() {
	losses=$(grep -c 'trace lost' "$out/losing.err")
	gaps=$(gap_cnt losing)
	cut -d' ' -f2 "$out/losing.log" | sort -u >"$tmp/truth"
	"$trailcam" dump --instructions "$out/losing" | grep -v gap | cut -d' ' -f2 >"$tmp/decoded"
	strange=$(sort -u "$tmp/decoded" | comm -23 - "$tmp/truth" | wc -l)
	echo "$losses losses, $gaps gaps, $(wc -l <"$tmp/decoded") instructions, $strange of them never logged"
	[ "$losses" -gt 0 ] && [ "$gaps" -gt 0 ] && [ "$(wc -l <"$tmp/decoded")" -gt 1000 ] && [ "$strange" -le $((losses * 30)) ]
}
check 'losing: gaps for what could not be read in time' lossy
check 'attached: every instruction of every thread and child' exact attached 30000
check 'attached: no gap' no_gap attached
check 'attached: it is let go' says "$out/attached.err" "the target's exit status 9"

other_tree() {
	"$trailcam" dump --sideband "$out/jailed" | grep -q ' mmap .* /proc/[0-9]*/root/server$'
}
check 'jailed: files are named by a way that leads there' other_tree

# refusal NAME STATUS TEXT: what came of a command that cannot do all it is asked for.
refusal() {
	sed -n "/^$1:/,/^exit status/p" "$out/refused.err" >"$tmp/refusal"
	says "$tmp/refusal" "$3" && says "$tmp/refusal" "exit status $2"
}
check 'refused: a strict kernel' refusal paranoid 125 'kernel.perf_event_paranoid is 3'
check 'refused: more memory than a user may lock' refusal size 125 'use a smaller --snapshot-size'
check 'refused: the kernel to an ordinary user' refusal kernel 125 'the kernel does not let this user trace it (kernel.perf_event_paranoid is 2)'
check 'an ordinary user is allowed what fits' refusal allowed 0 'wrote /tmp/nobody.fxt'
check 'refused: more filters than there are' refusal filters 125 'these are 3 functions, and this processor can filter 2'
check 'refused: a period that there is not' refusal resolution 125 'no mtc_period=4; it has: 3 6 9'
check 'the room for a whole execution' refusal room 0 'has reached --max-size (16 KiB)'
check 'refused: somebody else traces' refusal busy 125 'Intel PT is in use'
check 'perl: every instruction' exact perl 1000000
check 'perl: no gap' no_gap perl
check 'many: three snapshots hold every instruction, and none twice' exact many 60000
check 'many: every call' true_calls many
check 'overflows: every instruction that was not lost' exact overflows 100000
check 'overflows: perf decodes the same' perf_agrees overflows

# --- what perf records there, on the same driver

check 'perf: the virtual machine runs' env VM_CPU=Haswell,level=22 tests/vm/boot.sh "$vm/6.12" tests/vm/perf_records "$tmp/perf" "$trailcam" \
	"$programs/wordcount" "$programs/torture" "$(command -v perf)"
out=$tmp/perf
for name in file thread snapshot compressed directory threads cyc pipe; do
	check "perf: $name: every instruction" exact $name 100000
	check "perf: $name: no gap" no_gap $name
done
check 'perf: file: every call' true_calls file
check 'perf: directory: a way through the code of the kernel' kernel_walk "$out/directory"

# --- Linux 6.1: no uprobe_multi, no AUX pause

if vm_missing 6.1; then
	skip 'intel_pt in a virtual machine (Linux 6.1)' "$reason"
	finish
fi
check 'Linux 6.1: the virtual machine runs' boot 6.1
check 'Linux 6.1: no AUX pause, but TraceStop' says "$out/hit.err" 'stopped by TraceStop at the probed instruction, 0 ns after it'
check 'Linux 6.1: or neither' says "$out/paused.err" 'stopped by a reader that was woken'
for name in whole hit paused frozen stepped several threads many attached; do
	check "Linux 6.1: $name: every instruction" exact $name 30000
	check "Linux 6.1: $name: no gap" no_gap $name
done
for name in whole hit several many; do
	check "Linux 6.1: $name: every call" true_calls $name
done
finish
