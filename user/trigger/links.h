/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups probes into BPF links, and attaches these. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/keeper.h"
#include "trigger/programs.h"
#include "trigger/trigger.h"
#include "trigger/uprobe_multi.h"

/* Probes of one file that run the same program. Strings belong to the triggers. */
struct probe_group {
	const char *path;
	const char *symbol; /* of the first probe: for messages */
	int prog_fd;
	enum uprobe_at at;
	uint64_t *offsets, *cookies, *ref_ctr_offsets;
	size_t cnt, cap;
};

struct links {
	struct probe_group *groups;
	size_t group_cnt, group_cap;
	/* uprobe_multi: of a link per group; perf uprobes: of an event and a link per probe */
	struct keeper keeper;
};

/* Adds a probe that runs a program; its strings are borrowed. 0 or -ENOMEM. */
int links_plan_probe(struct links *links, const struct probe *probe, uint64_t cookie, int prog_fd,
		     enum uprobe_at at);

/*
 * Groups the probes of all triggers. A call's beginning is attached before its return, so that no return
 * comes alone. 0 or -ENOMEM; release `links` (all zero before) in either case.
 */
int links_plan(struct links *links, const struct programs *programs, const struct trigger_config *config);

/*
 * Attach every planned probe (perf: UPROBE_SESSION is not supported) for process pid; 0: for all processes.
 * Errors, each with a sentence: -ENOTSUP: the kernel refuses an instruction; -EPERM: a capability is missing;
 * -ESRCH: no such process; -ECANCELED: a signal that ends this process came; others of the system calls. What
 * was attached before a failure stays until release.
 */
int links_attach_multi(struct links *links, pid_t pid);
int links_attach_perf(struct links *links, pid_t pid);

/* The kernel begins to remove the breakpoints; one of the following is to be called later. */
void links_begin_end(struct links *links);

/* Removes the breakpoints. */
void links_detach(struct links *links);

/* The same, but the kernel removes the last of very many perf uprobes later, by itself. */
void links_let_go(struct links *links);
void links_release(struct links *links);
