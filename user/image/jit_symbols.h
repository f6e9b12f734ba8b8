/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that no ELF file describes: those that a JIT compiler made, by what it wrote about them, and the
 * kernel's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/symbol.h"

struct jit_function {
	struct symbol symbol;
	uint64_t since;	      /* CLOCK_MONOTONIC, in nanoseconds, of its being there; 0: not known */
	uint64_t code_offset; /* where the file has its code; 0: it has none */
};

struct jit_symbols {
	struct jit_function *items; /* in the order in which they were read: the later is the newer */
	size_t cnt, cap;
	uint32_t *by_start; /* indices, once they are sorted */
};

void jit_symbols_release(struct jit_symbols *symbols);

/*
 * Append the functions of a file; what is damaged is left out. perf-PID.map: a line "START SIZE NAME" each,
 * in hexadecimal (tools/perf/Documentation/jit-interface.txt). jitdump: records of code loaded and moved
 * (jitdump-specification.txt). 0, -ENOMEM, or the error of open(2), without a sentence.
 */
int jit_symbols_read_map(struct jit_symbols *symbols, const char *path);
int jit_symbols_read_dump(struct jit_symbols *symbols, const char *path);

/*
 * Appends the functions of a kallsyms (kernel/kallsyms.c, s_show()): a line "ADDR TYPE NAME" each, with
 * "[MODULE]" behind it. Each ends where the next begins. 0, -ENOMEM, or the error of open(2), without a
 * sentence.
 */
int jit_symbols_read_kernel(struct jit_symbols *symbols, const char *path);

/* To be called when all are read, before the first jit_symbols_find(). 0 or -ENOMEM. */
int jit_symbols_sort(struct jit_symbols *symbols);

/* The newest function before `until` (a CLOCK_MONOTONIC) that covers the address, or NULL. Thread-safe. */
const struct symbol *jit_symbols_find(const struct jit_symbols *symbols, uint64_t ip, uint64_t until);
