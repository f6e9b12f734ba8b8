/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the translate source share. Nobody else includes it. */
#pragma once

#include <sys/user.h>

#include "process/maps.h"
#include "source/encoder.h"
#include "source/translate/arena.h"
#include "source/translate/translate.h"
#include "source/translate/words.h"

struct translate_thread {
	pid_t tid;
	int slot; /* in translate.arena; -1: it runs natively */
	bool dead;
	bool is_new; /* its first stop has not been seen */
	struct encoder encoder;
};

struct translate {
	struct translate_config config;
	struct trace_params params;
	pid_t pid;
	struct arena *arena; /* of the program that is executed now; NULL: it runs natively */
	struct translate_thread **threads;
	size_t thread_cnt, thread_cap;
	pid_t *strangers; /* stopped before we heard of their birth */
	size_t stranger_cnt, stranger_cap;
	struct maps maps; /* that the sideband tells of */
	struct snapshot *sideband;
	uint64_t exec_ns;
	uint64_t tsc, tsc_ns; /* one moment on both clocks, at the start */
	bool ended;
	int wait_status;
};

struct translate_thread *translate_find(struct translate *translate, pid_t tid);

/* Mappings that are new go to the sideband. 0, or -errno with a sentence; a process that is gone has none. */
int translate_read_maps(struct translate *translate, pid_t tid);

/* What the thread's ring holds goes to its packets. 0 or -ENOMEM. */
int translate_encode(struct translate *translate, struct translate_thread *thread);

/* The thread goes on natively at the guest address: sets its registers, with what else they hold. */
void translate_give_back(struct translate *translate, struct translate_thread *thread,
			 struct user_regs_struct *regs, uint64_t guest, const char *why);

/* ---- signals.c ---- */

/*
 * A signal is about to be delivered to the thread, which is stopped for that. Sees to it that a handler finds
 * the state of the program as it would be natively, and lets the thread go on. 0, or -errno.
 */
int translate_deliver(struct translate *translate, struct translate_thread *thread, int signal);
