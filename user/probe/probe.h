/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a probe out of a symbol. */
#pragma once

#include "elf/elf_file.h"
#include "model/trigger.h"

/*
 * Fills *ret_probe (release with probe_release()) for the instruction at addr in `file`, which is called
 * `name` in messages. -ENOTSUP with a sentence where no uprobe can be put on it; -ENOEXEC: the file has no
 * bytes there; -ENOMEM.
 */
int probe_init(struct probe *ret_probe, struct elf_file *file, uint64_t addr, const char *name);

/* The same for a function, whose first instruction may be better left alone (boundary_best_entry()). */
int probe_init_function(struct probe *ret_probe, struct elf_file *file, const struct elf_symbol *symbol);

/* The same for a USDT probe, with its semaphore. */
int probe_init_usdt(struct probe *ret_probe, struct elf_file *file, const struct elf_usdt *usdt);
void probe_release(struct probe *probe);

/*
 * What keeps the kernel from probing the instruction that `code` begins with, as the end of a sentence; NULL
 * where nothing does.
 */
const char *probe_obstacle(const uint8_t *code, size_t size);

/*
 * Whether the breakpoint of `probe` is really in place: code[0] is the byte the target has in memory at the
 * probe. 0, or
 * -ENOTSUP with a sentence: the kernel accepted the probe but cannot put a breakpoint on this instruction.
 */
int probe_verify(const struct probe *probe, const uint8_t *code, size_t size);
