/* SPDX-License-Identifier: BSD-2-Clause */
/* Where calls of an allocation function end that an exception may pass, and which those functions are. */
#pragma once

#include <stdbool.h>

#include "source/alloc/allocators.h"

/*
 * Whether a C++ exception may end a call of the function with that linker name (std::bad_alloc, or what a new
 * handler throws).
 */
bool alloc_exits_throws(const char *name);

/*
 * Appends probes on all return instructions by which calls of the function at addr come back, its own and
 * those of functions that it jumps to. -ENOTSUP with a sentence: they are not all known; what was appended
 * before is harmless. Else as probe_init().
 */
int alloc_exits_add(struct alloc_functions *functions, struct elf_file *file, uint64_t addr);

/*
 * Whether the program, or a library that it needs and that is no allocator itself, calls operator new of
 * another file.
 */
bool alloc_exits_are_called(const char *exe);
