/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that the kernel puts into a process with uprobes. The process can execute it, but nobody can read it.
 * Its content is fixed (arch/x86/kernel/uprobes.c: uretprobe_trampoline_entry, Linux 6.11;
 * uprobe_trampoline_entry, Linux 6.18).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the mapping of return probes is, unless something else was there before it (get_xol_area()). */
#define UPROBE_PAGE 0x7fffffffe000ull

/*
 * Whether the mapping of this name is that of return probes. It also has slots, in which probed instructions
 * execute that the kernel does not emulate; the processor traces where each begins and ends. The instruction
 * in the slot is never a branch, so a decoder may read one-byte nops in its place.
 */
bool uprobe_page_is(const char *mapping_name);

/* Fills `page` with the code of the mapping of this name. False: it is not such a mapping. */
bool uprobe_page_fill(const char *mapping_name, uint8_t *page, size_t size);
