/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A separate process that holds descriptors of probes. Linux fails to remove a breakpoint on behalf of a
 * process with a pending SIGKILL, except during its exit. So the process that holds probes closes them only
 * by ending.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* All zero: there is no such process. */
struct keeper {
	int *fds; /* the descriptors that it keeps, as numbers in its own table */
	size_t fd_cnt, fd_cap;
	char *stack;
	int pidfd;
	bool is_ending;
	volatile sig_atomic_t is_cancelled; /* a signal will end this process: open no more probes */
};

/*
 * Runs work(keeper, ctx) in the new process, while this one waits. The new process shares our memory, and has
 * a copy of our descriptors. `work` opens descriptors and calls keeper_keep() for each; it must not create
 * threads. The process then keeps those descriptors, and no others, until keeper_end(), or until this process
 * ends for any reason. Returns what `work` returned; -errno with a sentence: the process could not be
 * created. Call keeper_end() in any case.
 */
int keeper_start(struct keeper *keeper, int (*work)(struct keeper *keeper, void *ctx), void *ctx);

/* To be called by `work`. 0 or -ENOMEM; even then the descriptor is closed at the end. */
int keeper_keep(struct keeper *keeper, int fd);

/*
 * The process begins to close all descriptors, for which the kernel waits some 100 ms; keeper_end() is to be
 * called later. Warns if somebody else killed the process.
 */
void keeper_begin_end(struct keeper *keeper);

/*
 * Returns when all descriptors are closed, or after this time (negative: no limit). False: the kernel is
 * still closing them, and will finish by itself. Warns as keeper_begin_end() does.
 */
bool keeper_end(struct keeper *keeper, int timeout_ms);
