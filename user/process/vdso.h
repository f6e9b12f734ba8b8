/* SPDX-License-Identifier: BSD-2-Clause */
/* The vDSO of a process. It has no file, so it is stored completely. */
#pragma once

#include "model/snapshot.h"
#include "process/maps.h"

/* One per exec. */
struct vdso_list {
	struct code_copy *items; /* without those that are the same as ours */
	size_t cnt, cap;
	uint64_t own; /* where it is the same as ours; 0: nowhere */
};

/* Reads the vDSO in `maps` through /proc/PID/mem, if it is new. 0 or -ENOMEM. */
int vdso_list_add(struct vdso_list *list, pid_t pid, const struct maps *maps, int mem_fd);

/* All but `own`. */
void vdso_list_release(struct vdso_list *list);

/*
 * Appends a copy of this process's vDSO under pid -1: every 64-bit process has the same one. 0 or -ENOMEM.
 */
int vdso_add_own(struct snapshot *snapshot);
