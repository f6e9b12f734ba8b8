/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that the kernel itself puts into a process with uprobes: it can be executed there, but not read by anybody else. What is in it is fixed
 * (arch/x86/kernel/uprobes.c: uretprobe_trampoline_entry, Linux 6.11; uprobe_trampoline_entry, Linux 6.18).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills `page` with the code of the mapping of this name. False: it is none of these. */
bool uprobe_page_fill(const char *mapping_name, uint8_t *page, size_t size);
