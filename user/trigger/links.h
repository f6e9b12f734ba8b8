/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes grouped by the file they are in, and the links that hold them in place. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trigger/trigger.h"

struct bpf_program;
struct bpf_link;

/* The probes of one file. Borrows strings from the triggers. */
struct probed_file {
	const char *path;
	const char *symbol; /* of the first probe: for messages */
	uint64_t *offsets, *cookies;
	size_t cnt;
};

struct links {
	struct probed_file *files;
	size_t file_cnt, file_cap;
	int *multi; /* uprobe_multi: one descriptor per file */
	size_t multi_cnt, multi_cap;
	struct bpf_link **perf; /* perf uprobes: one link per probe */
	size_t perf_cnt, perf_cap;
};

/* Groups the probes of all triggers. 0 or -ENOMEM; `links` (all zero before) is to be released in either case. */
int links_plan(struct links *links, const struct trigger *triggers, size_t trigger_cnt);

/*
 * Attach every planned probe for process pid. -ENOTSUP: the kernel refuses an instruction; -EPERM: a capability is missing; -ESRCH: no
 * such process; others of the system calls; each with a sentence. What was attached before the failure stays until release.
 */
int links_attach_multi(struct links *links, const struct bpf_program *program, pid_t pid);
int links_attach_perf(struct links *links, const struct bpf_program *program, pid_t pid);

/* Removes the breakpoints. */
void links_detach(struct links *links);
void links_release(struct links *links);
