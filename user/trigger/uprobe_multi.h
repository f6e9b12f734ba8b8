/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF links of the kinds "uprobe_multi" (Linux 6.6) and "uprobe_session" (6.13): many probes of one file, for
 * one process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* When a probe fires. */
enum uprobe_at {
	UPROBE_ENTRY,
	UPROBE_RETURN,
	UPROBE_SESSION, /* at both; at the return only if the program said 0 at the entry */
};

/*
 * The attach type that the program must be loaded with: BPF_TRACE_UPROBE_MULTI; for UPROBE_SESSION
 * BPF_TRACE_UPROBE_SESSION.
 */
enum { UPROBE_MULTI_ATTACH_TYPE = 48, UPROBE_SESSION_ATTACH_TYPE = 57 };

/*
 * NULL where the kernel has such links, else the reason why they cannot be used. `prog_fd` is of a program
 * loaded for them.
 */
const char *uprobe_multi_obstacle(int prog_fd);

/* The same for sessions. */
const char *uprobe_session_obstacle(int prog_fd);

struct uprobe_multi {
	int prog_fd;
	const char *path;
	const uint64_t *offsets, *cookies, *ref_ctr_offsets;
	size_t cnt;
	pid_t pid; /* 0: all processes */
	enum uprobe_at at;
};

/* Probes at offsets[] of the file `path`. *ret_fd holds them in place. A negative errno of bpf(2). */
int uprobe_multi_open(int *ret_fd, const struct uprobe_multi *multi);
