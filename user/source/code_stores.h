/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of all processes of a recording, one store (source/code_store.h) for each. A store outlives its
 * process, even if the kernel reuses the process number.
 */
#pragma once

#include "base/cleanup.h"
#include "source/code_store.h"

struct code_stores;

int code_stores_new(struct code_stores **ret_stores, const struct code_store_config *config);
void code_stores_free(struct code_stores *stores);

/* The store of the living process with this number, created if necessary. `stores` owns it. 0 or -ENOMEM. */
int code_stores_get(struct code_stores *stores, pid_t pid, struct code_store **ret_store);

/* As code_store_set_maps(), for the process. */
int code_stores_set_maps(struct code_stores *stores, pid_t pid, const struct maps *before,
			 const struct maps *now);

/* As code_store_keep_private(), for the process; and what a JVM has made (jvm_code.h) is read. */
int code_stores_keep_private(struct code_stores *stores, pid_t pid, uint64_t now);

/*
 * Appends copies of the files that only that process, or with 0 each living one, leads to (maps_only_way()).
 * 0 or -ENOMEM.
 */
int code_stores_keep_files(struct code_stores *stores, pid_t pid, struct snapshot *snapshot);

/*
 * The process has ended. What is kept of the last CODE_STORES_ENDED processes that did is exported; what came
 * before is dropped. 0 or -ENOMEM.
 */
enum { CODE_STORES_ENDED = 4096 };

int code_stores_end(struct code_stores *stores, pid_t pid);

/*
 * Appends the code that no file has, and the files in which JIT compilers describe their code. If `now` is
 * not 0, first calls code_stores_keep_private() for living processes; those that are not stopped may change
 * their code meanwhile, unnoticed. -ENOMEM, or another -errno with a sentence.
 */
int code_stores_export(struct code_stores *stores, uint64_t now, struct snapshot *snapshot);

DEFINE_CLEANUP(struct code_stores *, code_stores_free)
