/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that allocate and free: which ones a program has, where they are, and what their arguments
 * mean.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bpf/alloc_probe.h"
#include "elf/elf_file.h"
#include "source/alloc/recorder.h"
#include "trigger/trigger.h"

struct alloc_function {
	char *name; /* demangled */
	struct probe probe;
	struct alloc_role role;
	bool is_dear; /* the kernel single-steps the probed instruction, and calls are many */
	struct usdt_arg args[ALLOC_USDT_ARGS]; /* of a USDT probe */
};

struct alloc_functions {
	struct alloc_range ranges[ALLOC_RANGES_MAX]; /* role.range is an index into these */
	size_t range_cnt;
	struct alloc_function *items; /* role.function is the index */
	size_t cnt, cap;
	struct probe *exits; /* return instructions, of the functions with role.exits */
	size_t exit_cnt, exit_cap;
};

/*
 * Appends the functions of the file; *ret_any: whether it has any. Leaves out functions that only jump to
 * another of them, and marks those that may call others (role.nests). -ENOTSUP with a sentence: one cannot be
 * probed; -ENOMEM.
 */
int alloc_functions_of_file(struct alloc_functions *functions, struct elf_file *file, bool *ret_any);

/* Whether one of them is called `name`. */
bool alloc_functions_has(const struct alloc_functions *functions, const char *name);

/*
 * Appends mmap(), mremap() and munmap() of the file; *ret_any: whether it has any. `is_library`: the file is
 * the C library, and calls from inside it do not count. Errors as above.
 */
int alloc_mappings_of_file(struct alloc_functions *functions, struct elf_file *file, bool is_library,
			   bool *ret_any);

/*
 * Appends the USDT probes with which an allocator reports its samples, if the file has any; with `ours` only
 * those of libtrailcam-alloc.so. Errors as above, and those of usdt_args_parse().
 */
int alloc_usdts_of_file(struct alloc_functions *functions, struct elf_file *file, bool ours, bool *ret_any);

/*
 * Appends the functions of a program. `allocator` is a name ("jemalloc", "tcmalloc", "mimalloc"), looked up
 * in the program and its libraries, or a library, or a path. NULL: what the program calls as malloc: its own,
 * or that of the first library in the loader's order ($LD_PRELOAD first); and allocators that the program has
 * under other names. `pid`: of the running process; 0: it is not started yet. `sampler` says whether to find
 * functions or USDT probes. -ENOENT with a sentence: there are none; else as alloc_functions_of_file().
 */
int alloc_functions_find(struct alloc_functions *functions, const char *exe, pid_t pid, const char *allocator,
			 enum alloc_sampler sampler);

/*
 * Whether these are USDT probes of an allocator that samples by itself; such probes are never mixed with
 * functions.
 */
static inline bool alloc_functions_tell(const struct alloc_functions *functions)
{
	return functions->cnt && functions->items[0].role.call >= ALLOC_USDT_ALLOC;
}

/*
 * Appends mmap(), mremap() and munmap() of the program or its C library; calls inside the C library do not
 * count. -ENOENT with a sentence: there are none.
 */
int alloc_functions_find_mappings(struct alloc_functions *functions, const char *exe, pid_t pid);

void alloc_functions_release(struct alloc_functions *functions);
