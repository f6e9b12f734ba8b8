/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs of a set of triggers, loaded: the ones of bpf/trigger.bpf.c, and copies for triggers that
 * have a condition, or arguments elsewhere than C has them.
 */
#pragma once

#include "condition/condition.h"
#include "trigger/trigger.h"

struct trigger_bpf;

enum program_role { PROGRAM_HIT, PROGRAM_CALL_BEGIN, PROGRAM_CALL_END, PROGRAM_ROLE_CNT };

/* What a trigger has of its own. */
struct trigger_programs {
	int copies[PROGRAM_ROLE_CNT];	   /* or -1: the program as it is will do */
	const struct arg_layout **layouts; /* those that its probes have, each once */
	size_t layout_cnt, layout_cap;
};

struct programs {
	struct trigger_bpf *bpf; /* NULL: nothing loaded */
	struct trigger_programs *own;
	size_t trigger_cnt;
};

/*
 * Loads the programs for links of the kind `link` (not AUTO) and writes the rules. -EPERM with a sentence
 * that names what is missing; -ENOMEM; what the kernel says where it accepts no such program. `programs` (all
 * 0 before) is to be released in either case.
 */
int programs_load(struct programs *programs, const struct trigger_config *config, enum trigger_link link);
void programs_release(struct programs *programs);

/* The program that trigger `trigger` needs in a role. */
int programs_fd(const struct programs *programs, size_t trigger, enum program_role role);

/* Which of the trigger's argument layouts the probe has: for its cookie (bpf/rule.h). */
uint32_t programs_layout(const struct programs *programs, size_t trigger, const struct probe *probe);

/* Whether probes of that layout are at the beginning of a function. */
bool programs_is_entry(const struct programs *programs, size_t trigger, uint32_t layout);

/* Our pid namespace; {0, 0} for the initial one. */
struct pid_namespace programs_pid_namespace(void);

/* libbpf writes to stderr unless told otherwise: from here on it is heard with -v only. */
void programs_quiet_libbpf(void);
