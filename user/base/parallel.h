/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>

/* Online processors this process may run on, at least 1. */
unsigned int parallel_cpu_cnt(void);

/*
 * Calls job(ctx, i) for every i in [0, cnt) on up to `threads` threads (0: parallel_cpu_cnt()), each i once,
 * in no promised order. Returns 0, or the error of the job with the lowest index that failed (with its
 * sentence, see base/error.h); jobs not yet begun when one fails are skipped. -EAGAIN/-ENOMEM where no thread
 * can be made.
 */
int parallel_for(size_t cnt, unsigned int threads, int (*job)(void *ctx, size_t i), void *ctx);
