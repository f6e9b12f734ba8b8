/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory a translated program has for what is ours. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct room {
	uint64_t ring_size; /* bytes of each thread's ring, a power of two */
	uint32_t slot_cnt;
	bool is_limited; /* by the memory limit of a cgroup */
};

/* Whether a program that the process executes would have any. */
bool room_is_there(pid_t pid);

/* Rings of `wanted` bytes, or fewer, which is told. -ENOMEM, with a sentence: there is no room. */
int room_find(pid_t pid, uint64_t wanted, struct room *ret_room);
