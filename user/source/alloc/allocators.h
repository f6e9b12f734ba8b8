/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that allocate and free: which a program has, where, and what their arguments mean. */
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
	bool is_dear; /* the kernel single-steps at the probe, and programs call it all the time */
	struct usdt_arg args[ALLOC_USDT_ARGS]; /* of a USDT probe */
};

struct alloc_functions {
	struct alloc_range ranges[ALLOC_RANGES_MAX]; /* what role.range means */
	size_t range_cnt;
	struct alloc_function *items; /* role.function is the index */
	size_t cnt, cap;
	struct probe *exits; /* return instructions, of the functions with role.exits */
	size_t exit_cnt, exit_cap;
};

/*
 * Appends the functions of the file; *ret_any: whether there are some. A function that does nothing but hand
 * over to another of them is left out; one that may call others is marked (role.nests). -ENOTSUP with a
 * sentence: one that cannot be probed; -ENOMEM.
 */
int alloc_functions_of_file(struct alloc_functions *functions, struct elf_file *file, bool *ret_any);

/*
 * Appends the probes by which an allocator tells of what it samples, if the file has some; with `ours` only
 * those of libtrailcam-alloc.so. As above, and what usdt_args_parse() says.
 */
int alloc_usdts_of_file(struct alloc_functions *functions, struct elf_file *file, bool ours, bool *ret_any);

/*
 * Appends those of a program. `allocator` is the name of one ("jemalloc", "tcmalloc", "mimalloc"), whose
 * functions are sought in the program and its libraries, or a library or a path; NULL: what the program calls
 * when it calls malloc: its own, or that of the first library that has one, in the order in which the loader
 * would look ($LD_PRELOAD first); beside it allocators that the program has under names of their own. `pid`:
 * of the running process; 0: it is to be started. `sampler` says whether functions or USDT probes are wanted.
 * -ENOENT with a sentence: there are none; else as alloc_functions_of_file().
 */
int alloc_functions_find(struct alloc_functions *functions, const char *exe, pid_t pid, const char *allocator,
			 enum alloc_sampler sampler);

/* Whether they are the probes of an allocator that samples for itself; such are never among others. */
static inline bool alloc_functions_tell(const struct alloc_functions *functions)
{
	return functions->cnt && functions->items[0].role.call >= ALLOC_USDT_ALLOC;
}

/*
 * Appends mmap(), mremap() and munmap() of the program or its C library, whose own calls of them do not
 * count. -ENOENT with a sentence: there are none.
 */
int alloc_functions_find_mappings(struct alloc_functions *functions, const char *exe, pid_t pid);

void alloc_functions_release(struct alloc_functions *functions);
