/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of another process. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Copies what stands at `at` in the thread's memory, page by page, up to what is not mapped there. How many
 * bytes that were: 0 also where reading is not allowed.
 */
size_t memory_read(pid_t tid, uint64_t at, void *bytes, size_t size);

/*
 * Writes into the memory of the thread, which is in a ptrace stop, word by word, even if it is not writable.
 * 0 or -errno. `size` is a multiple of 8.
 */
int memory_poke(pid_t tid, uint64_t to, const void *bytes, size_t size);
