/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that the kernel itself puts into a process with uprobes: it can be executed there, but not read by
 * anybody else. What is in it is fixed (arch/x86/kernel/uprobes.c: uretprobe_trampoline_entry, Linux 6.11;
 * uprobe_trampoline_entry, Linux 6.18).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether the mapping of this name is the one of return probes. It also has slots, in each of which one
 * probed instruction is executed, if the kernel does not emulate it; the processor traces its beginning and
 * its end. Which instruction it is does not matter to a decoder as long as it is no branch, and bytes that
 * lead from one to the other will do: one-byte nops.
 */
bool uprobe_page_is(const char *mapping_name);

/* Fills `page` with the code of the mapping of this name. False: it is none of these. */
bool uprobe_page_fill(const char *mapping_name, uint8_t *page, size_t size);
