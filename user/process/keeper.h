/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of its own that holds descriptors. Linux fails to take a breakpoint out on behalf of a process
 * that SIGKILL is waiting for, except in the course of its exit: so who holds probes closes them by ending,
 * and by nothing else.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* All zero: there is none. */
struct keeper {
	int *fds; /* that it keeps, numbers of its own table */
	size_t fd_cnt, fd_cap;
	char *stack;
	int pidfd;
	volatile sig_atomic_t is_cancelled; /* a signal that ends this process has come: open no more */
};

/*
 * Runs work(keeper, ctx) in the new process, which has our memory and a copy of our descriptors, while this
 * one waits. `work` opens descriptors and calls keeper_keep() with each; it creates no thread. The process
 * then keeps those, and nothing else, until keeper_end(), or until this process ends in whatever way. Returns
 * what `work` returned; -errno with a sentence: there is no such process. To be ended in any case.
 */
int keeper_start(struct keeper *keeper, int (*work)(struct keeper *keeper, void *ctx), void *ctx);

/* To be called by `work`. 0 or -ENOMEM, and the descriptor is closed at the end all the same. */
int keeper_keep(struct keeper *keeper, int fd);

/*
 * Returns when all is closed, or after so long a time (negative: there is no limit). False: the kernel is
 * still at it, and goes on by itself. Warns if somebody else had killed the process.
 */
bool keeper_end(struct keeper *keeper, int timeout_ms);
