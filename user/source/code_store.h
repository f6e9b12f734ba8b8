/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code a target has executed, as the step source saw it: instructions by address for stepping, and the
 * pages that hold something else than their file, for the recording.
 */
#pragma once

#include <sys/types.h>

#include "model/snapshot.h"
#include "process/maps.h"
#include "source/insn.h"

struct code_store;

struct code_store_config {
	/*
	 * Puts back what our own breakpoints hide: `bytes` are `size` bytes of the target's memory at addr,
	 * which lie in `mapping`. May be NULL.
	 */
	void (*unpatch)(void *ctx, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
			size_t size);
	void *ctx;
};

int code_store_new(struct code_store **ret_store, const struct code_store_config *config);
void code_store_free(struct code_store *store);

/*
 * The process has the mappings *now, where it had *before (read again after an exec or a system call that
 * changes them). *now is the caller's, and is looked at until the next such call, or code_store_free(). What
 * was known of ranges that changed counts no longer. -errno with a sentence where the memory cannot be opened.
 */
int code_store_set_maps(struct code_store *store, pid_t pid, const struct maps *before,
			const struct maps *now);

/*
 * The instruction at ip, now; INSN_UNKNOWN where it cannot be read. Code that the process can write is read
 * anew each time. Times are nanoseconds.
 */
struct insn code_store_insn(struct code_store *store, uint64_t ip, uint64_t now);

/*
 * What stands at ip has turned out to be a breakpoint of the program's own, where its file has something
 * else: no uprobe, as it seemed.
 */
void code_store_found_break(struct code_store *store, uint64_t ip, uint64_t now);

/* Where the process has its vDSO; 0 where it is another one than ours. */
uint64_t code_store_own_vdso(const struct code_store *store);

/* How often code that was executed has been found to be other code: a decoder must be told of each change. */
uint64_t code_store_change_cnt(const struct code_store *store);

/*
 * For a source that does not see what is executed: takes in every page of code that holds something else than
 * its file, of which there may be many. To be called while the process stands still. What is not as it was at
 * the last call counts as changed right after that: the traces in between end now. 0 or -ENOMEM; what cannot
 * be read is left out.
 */
int code_store_keep_private(struct code_store *store, uint64_t now);

/*
 * Appends a copy of this process's vDSO, which is also that of every other 64-bit process, under pid -1. 0 or
 * -ENOMEM.
 */
int code_store_add_own_vdso(struct snapshot *snapshot);

/* The process has ended: nothing more is read of it, and only what code_store_export() needs is kept. */
void code_store_end(struct code_store *store);

/* Appends to snapshot->copies the code that cannot be had from files, old before new. 0 or -ENOMEM. */
int code_store_export(const struct code_store *store, struct snapshot *snapshot);
