#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The intel_pt and samples sources in a virtual machine with Linux 6.12.
. tests/vm/lib.sh
if vm_missing 6.12; then
	skip 'intel_pt in a virtual machine (Linux 6.12)' "$reason"
	finish
fi
check 'the virtual machine runs' boot 6.12
for name in whole low high custom; do
	check "$name: every instruction executed, and no other" exact $name 30000
	check "$name: no gap" no_gap $name
	check "$name: perf decodes the same" perf_agrees $name
done
check 'whole: every call' true_calls whole
check 'hit: every instruction up to the stop' exact hit 60000
check 'hit: every call' true_calls hit
check 'paused: every instruction up to the hit' exact paused 25000
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
# Where the reader was too slow there is a gap. Behind the last packet before it a decoder walks on as far as
# it can, into what was not logged any more.
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
check 'refused: more filters than there are' refusal filters 125 'names 3 functions, but this processor can filter only 2'
check 'refused: a period that there is not' refusal resolution 125 'no mtc_period=4; it has: 3 6 9'
check 'the room for a whole execution' refusal room 0 'has reached --max-size (16 KiB)'
check 'refused: somebody else traces' refusal busy 125 'Intel PT is in use'
check 'many: three snapshots hold every instruction, and none twice' exact many 60000
check 'many: every call' true_calls many
check 'overflows: every instruction that was not lost' exact overflows 30000
check 'overflows: perf decodes the same' perf_agrees overflows
check 'stack samples, switches, wake-ups' true_samples sampled
check 'the same in a pid namespace' true_samples inside
finish
