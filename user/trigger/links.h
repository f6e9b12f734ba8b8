/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes grouped by what one link can hold, and the links that hold them in place. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/keeper.h"
#include "trigger/programs.h"
#include "trigger/trigger.h"
#include "trigger/uprobe_multi.h"

/* Probes of one file that run one program. Borrows strings from the triggers. */
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
	struct keeper
		keeper; /* uprobe_multi: of a link per group; perf uprobes: of an event and a link per probe */
};

/* Adds a probe that runs a program. The probe's strings are borrowed. 0 or -ENOMEM. */
int links_plan_probe(struct links *links, const struct probe *probe, uint64_t cookie, int prog_fd,
		     enum uprobe_at at);

/*
 * Groups the probes of all triggers. The beginning of a call is probed before its return, so that no return
 * is seen alone. 0 or
 * -ENOMEM; `links` (all zero before) is to be released in either case.
 */
int links_plan(struct links *links, const struct programs *programs, const struct trigger *triggers,
	       size_t trigger_cnt);

/*
 * Attach every planned probe (perf: none of UPROBE_SESSION) for process pid; 0: for all processes. -ENOTSUP:
 * the kernel refuses an instruction; -EPERM: a capability is missing; -ESRCH: no such process; others of the
 * system calls; -ECANCELED: a signal that ends this process came; each with a sentence. What was attached
 * before the failure stays until release.
 */
int links_attach_multi(struct links *links, pid_t pid);
int links_attach_perf(struct links *links, pid_t pid);

/* Removes the breakpoints. */
void links_detach(struct links *links);

/* The same, but the kernel removes the last of very many perf uprobes later, by itself. */
void links_let_go(struct links *links);
void links_release(struct links *links);
