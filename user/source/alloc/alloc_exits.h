/* SPDX-License-Identifier: BSD-2-Clause */
/* The ends of calls of allocation functions that may throw, and which functions those are. */
#pragma once

#include <stdbool.h>

#include "source/alloc/allocators.h"

/*
 * Whether a C++ exception may end a call of the function with that linker name (std::bad_alloc, or what a new
 * handler throws).
 */
bool alloc_exits_throws(const char *name);

/*
 * Appends probes on all return instructions of the function at addr, and of functions that it tail-calls.
 * -ENOTSUP with a sentence: not all are known; probes appended so far are harmless. Else as probe_init().
 */
int alloc_exits_add(struct alloc_functions *functions, struct elf_file *file, uint64_t addr);

/*
 * Whether the program, or a library that it needs and that is not an allocator, calls another file's operator
 * new.
 */
bool alloc_exits_are_called(const char *exe);
