/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>

/* The number of online processors that this process may run on, at least 1. */
unsigned int parallel_cpu_cnt(void);

/*
 * Calls job(ctx, i) once for every i in [0, cnt), in any order, on up to `threads` threads (0:
 * parallel_cpu_cnt()). Returns 0, or the error of the failed job with the lowest index (with its sentence,
 * base/error.h). After a failure no further job begins. -EAGAIN/-ENOMEM: no thread can be made.
 */
int parallel_for(size_t cnt, unsigned int threads, int (*job)(void *ctx, size_t i), void *ctx);
