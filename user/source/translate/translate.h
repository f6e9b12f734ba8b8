/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The translate source: a launched program runs from a code cache inside of itself, which records its
 * branches (user/translate). This side puts the runtime there, sees to what the runtime leaves to it
 * (signals, threads, the next exec), and turns what was recorded into Intel PT packets.
 *
 * ptrace stops a thread only for these rare events. Children that are processes of their own run natively,
 * untraced. A program, or a thread, that cannot be translated any further goes on natively, untraced from
 * there on.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "model/snapshot.h"

struct translate;

struct translate_config {
	/* of each thread's packets: a power of two, a page at least. More than that: the newest are kept. */
	size_t trace_size;
	/* A thread goes on natively; `why` is a sentence without a full stop. Or NULL. */
	void (*gave_back)(void *ctx, pid_t tid, const char *why);
	void *ctx;
};

int translate_new(struct translate **ret_translate, const struct translate_config *config);

/*
 * The child `pid`, which has not exec'd yet. 0, or -errno with a sentence; -EPERM: ptrace is not allowed
 * here.
 */
int translate_launch(struct translate *translate, pid_t pid);

/* Until the program has ended. 0, or -errno with a sentence. */
int translate_run(struct translate *translate);

/*
 * After the end: moves the traces and the sideband to `snapshot`, and fills parameters, clock and source. 0,
 * or -errno with a sentence.
 */
int translate_snapshot(struct translate *translate, struct snapshot *snapshot);

/* The program's wait status (waitpid(2)). */
int translate_wait_status(const struct translate *translate);

/* What is still there goes on natively. */
void translate_free(struct translate *translate);

DEFINE_CLEANUP(struct translate *, translate_free)
