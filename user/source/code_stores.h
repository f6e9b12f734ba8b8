/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of all processes of a recording, one store (source/code_store.h) for each. What a process had is
 * kept after its end, also where its number is given to another one.
 */
#pragma once

#include "base/cleanup.h"
#include "source/code_store.h"

struct code_stores;

int code_stores_new(struct code_stores **ret_stores, const struct code_store_config *config);
void code_stores_free(struct code_stores *stores);

/* The store of the process that lives under this number, made if it is new; it stays the stores'. -ENOMEM. */
int code_stores_get(struct code_stores *stores, pid_t pid, struct code_store **ret_store);

/* As code_store_set_maps(), of the process. */
int code_stores_set_maps(struct code_stores *stores, pid_t pid, const struct maps *before,
			 const struct maps *now);

/* As code_store_keep_private(), of the process. */
int code_stores_keep_private(struct code_stores *stores, pid_t pid, uint64_t now);

/* The process has ended. */
void code_stores_end(struct code_stores *stores, pid_t pid);

/*
 * Appends the code that cannot be had from files, and the files that JIT compilers describe theirs in. With
 * `now` (0: not) it looks first for what nobody saw executed, in processes that live; they stand still, or
 * run into what may be missed. -ENOMEM, or another -errno with a sentence.
 */
int code_stores_export(struct code_stores *stores, uint64_t now, struct snapshot *snapshot);

DEFINE_CLEANUP(struct code_stores *, code_stores_free)
