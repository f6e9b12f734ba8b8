/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes probes from symbols. */
#pragma once

#include "elf/elf_file.h"
#include "model/trigger.h"

/*
 * Fills *ret_probe (release with probe_release()) for the instruction at addr in `file`; messages call it
 * `name`. -ENOTSUP with a sentence: no uprobe can be set there; -ENOEXEC with a sentence: the file has no
 * bytes there; -ENOMEM.
 */
int probe_init(struct probe *ret_probe, struct elf_file *file, uint64_t addr, const char *name);

/* The same for a function, at its best place (boundary_best_entry()). */
int probe_init_function(struct probe *ret_probe, struct elf_file *file, const struct elf_symbol *symbol);

/* The same for a USDT probe, with its semaphore. */
int probe_init_usdt(struct probe *ret_probe, struct elf_file *file, const struct elf_usdt *usdt);
void probe_release(struct probe *probe);

/* Why the kernel cannot probe the instruction at `code`, as the end of a sentence; NULL: it can. */
const char *probe_obstacle(const uint8_t *code, size_t size);

/*
 * Checks that the breakpoint of `probe` is set: code[0] is the target's byte at the probe. 0, or -ENOTSUP
 * with a sentence: the kernel accepted the probe but set no breakpoint on this instruction.
 */
int probe_verify(const struct probe *probe, const uint8_t *code, size_t size);
