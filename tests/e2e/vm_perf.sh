#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What perf records in its many forms, on the kernel's own driver in a virtual machine.
. tests/vm/lib.sh
if vm_missing 6.12; then
	skip 'what perf records in a virtual machine' "$reason"
	finish
fi
boot_perf() {
	VM_CPU=Haswell,level=22 boot_vm 6.12 perf_records "$(command -v perf)"
}
check 'perf: the virtual machine runs' boot_perf
for name in file thread snapshot compressed directory threads cyc pipe; do
	check "perf: $name: every instruction" exact $name 30000
	check "perf: $name: no gap" no_gap $name
done
check 'perf: file: every call' true_calls file
check 'perf: directory: a way through the code of the kernel' kernel_walk "$out/directory"
finish
