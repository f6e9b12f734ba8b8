#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The intel_pt and samples sources in a virtual machine with Linux 6.1: no uprobe_multi, no AUX pause.
. tests/vm/lib.sh
if vm_missing 6.1; then
	skip 'intel_pt in a virtual machine (Linux 6.1)' "$reason"
	finish
fi
check 'Linux 6.1: the virtual machine runs' boot 6.1 whole,hit,paused,frozen,stepped,several,threads,many,attached,sampled,inside
check 'Linux 6.1: no AUX pause, but TraceStop' says "$out/hit.err" 'stopped by TraceStop at the probed instruction, 0 ns after it'
check 'Linux 6.1: or neither' says "$out/paused.err" 'stopped by a reader that was woken'
for name in whole hit paused frozen stepped several threads many attached; do
	check "Linux 6.1: $name: every instruction" exact $name 15000
	check "Linux 6.1: $name: no gap" no_gap $name
done
# Behind a hit, TraceStop holds only until the thread is switched out and in again: then calls are missing in between.
for name in whole frozen several many; do
	check "Linux 6.1: $name: every call" true_calls $name
done
check 'Linux 6.1: stack samples, switches, wake-ups' true_samples sampled
check 'Linux 6.1: the same in a pid namespace' true_samples inside
finish
