/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF links of the kind "uprobe_multi": many probes of one file, for one process (Linux 6.6). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The attach type that the program must be loaded with: BPF_TRACE_UPROBE_MULTI. */
enum { UPROBE_MULTI_ATTACH_TYPE = 48 };

/* NULL where the kernel has such links, else the reason why they cannot be used. `prog_fd` is of a program loaded for them. */
const char *uprobe_multi_obstacle(int prog_fd);

struct uprobe_multi {
	int prog_fd;
	const char *path;
	const uint64_t *offsets, *cookies, *ref_ctr_offsets;
	size_t cnt;
	pid_t pid; /* 0: all processes */
	bool at_return;
};

/* Probes at offsets[] of the file `path`. *ret_fd holds them in place. A negative errno of bpf(2). */
int uprobe_multi_open(int *ret_fd, const struct uprobe_multi *multi);
