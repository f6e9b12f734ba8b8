/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of one target: instructions by address, and copies of the pages that differ from their file, for
 * the recording.
 */
#pragma once

#include <sys/types.h>

#include "model/snapshot.h"
#include "process/maps.h"
#include "source/insn.h"

struct code_store;

struct code_store_config {
	/*
	 * Restores the instructions that our own breakpoints replace in `bytes`, a copy of `size` bytes of
	 * the target's memory at addr, in `mapping`. May be NULL.
	 */
	void (*unpatch)(void *ctx, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
			size_t size);
	void *ctx;
};

int code_store_new(struct code_store **ret_store, const struct code_store_config *config);
void code_store_free(struct code_store *store);

/*
 * The mappings of the process have changed from *before to *now, by an exec or a system call. The caller owns
 * *now, which must stay valid until the next such call, code_store_end() or code_store_free(). Forgets what
 * was known of ranges that changed. -errno with a sentence: the memory cannot be opened (-ESRCH: the process
 * has ended).
 */
int code_store_set_maps(struct code_store *store, pid_t pid, const struct maps *before,
			const struct maps *now);

/*
 * The instruction at ip, now; INSN_UNKNOWN if it cannot be read. Code that the process can write is read
 * again each time. Times are nanoseconds.
 */
struct insn code_store_insn(struct code_store *store, uint64_t ip, uint64_t now);

/*
 * The int3 at ip, which the file does not have, is the program's own and not a uprobe.
 */
void code_store_found_break(struct code_store *store, uint64_t ip, uint64_t now);

/* The address of the process's vDSO; 0: its content differs from that of ours. */
uint64_t code_store_own_vdso(const struct code_store *store);

/* How often executed code was found to have changed. A decoder must learn of each change. */
uint64_t code_store_change_cnt(const struct code_store *store);

/* The process's mappings, as they were set last. */
const struct maps *code_store_maps(const struct code_store *store);

/*
 * For a source that does not see each instruction: copies every page of code that differs from its file. To
 * be called while the process is stopped. A page that differs from the last call counts as changed right
 * after that call, because the traces in between end now. 0 or -ENOMEM; pages that cannot be read are left
 * out.
 */
int code_store_keep_private(struct code_store *store, uint64_t now);

/* The process has ended: keeps only what code_store_export() needs, and no maps. 0 or -ENOMEM. */
int code_store_end(struct code_store *store);

/* Appends to snapshot->copies the code that no file has, oldest first. 0 or -ENOMEM. */
int code_store_export(const struct code_store *store, struct snapshot *snapshot);
