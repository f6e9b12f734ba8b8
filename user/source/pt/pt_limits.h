/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of Intel PT the kernel allows this user. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The largest AUX size, a power of two from `min` to `max`, that the kernel allows for the rings of this many
 * processors: kernel.perf_event_mlock_kb for each processor, and RLIMIT_MEMLOCK; no limit with CAP_IPC_LOCK
 * or kernel.perf_event_paranoid=-1 (kernel/events/core.c, perf_mmap()).
 */
size_t pt_ring_size(int cpu_cnt, size_t data_size, size_t max, size_t min);

/* Explains an error of opening or mapping in a sentence with its remedy; returns `err`. */
int pt_explain(int err, size_t aux_size, int cpu_cnt, bool kernel);
