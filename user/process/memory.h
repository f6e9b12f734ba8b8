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
