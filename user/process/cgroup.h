/* SPDX-License-Identifier: BSD-2-Clause */
/* Control groups of the unified hierarchy (cgroups(7)), as the kernel numbers them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The id of the cgroup at the path text[0..len), from the root of the hierarchy
 * ("/system.slice/ssh.service"), and how many levels below the root it is. -ENOENT: there is none, or no
 * unified hierarchy is mounted, with a sentence.
 */
int cgroup_find(const char *text, size_t len, uint64_t *ret_id, int *ret_level);

/*
 * What the process may still take of memory: as much as the machine has, or one of the limits of its cgroups
 * leaves, in the unified hierarchy (memory.max) or an old one.
 */
struct memory_left {
	uint64_t bytes; /* UINT64_MAX: not known */
	uint64_t limit; /* that leaves so few; UINT64_MAX: none does */
};

struct memory_left cgroup_memory_left(pid_t pid);

/* Where memory runs out, the kernel kills this process before all others: trailcam before its targets. */
void memory_give_way(void);
