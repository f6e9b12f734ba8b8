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
 * Bytes of memory that the process may still take: what the machine has, and what the limits of its cgroups
 * leave (memory.max). UINT64_MAX: not known.
 */
uint64_t cgroup_memory_left(pid_t pid);
