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
	UPROBE_SESSION, /* at both; at the return only if the program returned 0 at the entry */
};

/* The attach type of the program: BPF_TRACE_UPROBE_MULTI; for UPROBE_SESSION BPF_TRACE_UPROBE_SESSION. */
enum { UPROBE_MULTI_ATTACH_TYPE = 48, UPROBE_SESSION_ATTACH_TYPE = 57 };

/* NULL if the kernel supports such links, else the reason why not. `prog_fd` is a program loaded for them. */
const char *uprobe_multi_obstacle(int prog_fd);

/* The same for UPROBE_SESSION. */
const char *uprobe_session_obstacle(int prog_fd);

struct uprobe_multi {
	int prog_fd;
	const char *path;
	const uint64_t *offsets, *cookies, *ref_ctr_offsets;
	size_t cnt;
	pid_t pid; /* 0: all processes */
	enum uprobe_at at;
};

/*
 * Attaches probes at offsets[] of the file `path`; they last as long as *ret_fd. A negative errno of bpf(2).
 */
int uprobe_multi_open(int *ret_fd, const struct uprobe_multi *multi);
