/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that no ELF file describes: those of JIT compilers, from the files that these write, and the
 * kernel's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/symbol.h"

/*
 * How to find the caller. Bytes from the stack pointer to where the caller's was, from this offset of the
 * function on: below it stand the return address and, below that, the caller's frame pointer. 0: not known.
 */
struct jit_frame {
	uint32_t bytes, complete;
	bool is_interpreter; /* the caller's stack pointer is a word below the frame pointer */
};

struct jit_function {
	struct symbol symbol;
	uint64_t since;	      /* CLOCK_MONOTONIC ns of its creation; 0: unknown */
	uint64_t code_offset; /* offset of its code in the file; 0: none */
	struct jit_frame frame;
};

struct jit_symbols {
	struct jit_function *items; /* in file order: a later one is newer */
	size_t cnt, cap;
	uint32_t *by_start; /* indices, sorted by address */
};

void jit_symbols_release(struct jit_symbols *symbols);

/*
 * Append the functions of a file; damaged entries are left out. perf-PID.map: lines "START SIZE NAME" in
 * hexadecimal (tools/perf/Documentation/jit-interface.txt). jitdump: records of loaded and moved code
 * (jitdump-specification.txt). 0, -ENOMEM, or the error of open(2), without a sentence.
 */
int jit_symbols_read_map(struct jit_symbols *symbols, const char *path);
int jit_symbols_read_dump(struct jit_symbols *symbols, const char *path);

/* The same of the lines of source/jvm_code.h, which have frames, too. */
int jit_symbols_read_jvm(struct jit_symbols *symbols, const char *path);

/*
 * Appends the functions of a kallsyms file (kernel/kallsyms.c, s_show()): lines "ADDR TYPE NAME", with
 * "[MODULE]" after it. Each function ends where the next begins. 0, -ENOMEM, or the error of open(2), without
 * a sentence.
 */
int jit_symbols_read_kernel(struct jit_symbols *symbols, const char *path);

/* Sorts the functions; call it before jit_symbols_find(). 0 or -ENOMEM. */
int jit_symbols_sort(struct jit_symbols *symbols);

/*
 * The newest function that covers the address and was created before `until` (CLOCK_MONOTONIC), or NULL.
 * Thread-safe.
 */
const struct jit_function *jit_symbols_find(const struct jit_symbols *symbols, uint64_t ip, uint64_t until);
