/* SPDX-License-Identifier: BSD-2-Clause */
/* The BPF programs of a set of triggers, loaded: the ones of bpf/trigger.bpf.c, and a copy with its condition for each trigger that has one. */
#pragma once

#include "trigger/condition.h"
#include "trigger/trigger.h"

struct trigger_bpf;

enum program_role { PROGRAM_HIT, PROGRAM_CALL_BEGIN, PROGRAM_CALL_END };

struct programs {
	struct trigger_bpf *bpf; /* NULL: nothing loaded */
	int *conditional;	 /* per trigger: its own copy of the program that judges, or -1 */
	size_t trigger_cnt;
};

/*
 * Loads the programs for links of the kind `link` (not AUTO) and writes the rules. -EPERM with a sentence that names what is missing; -ENOMEM;
 * what the kernel says where it accepts no such program. `programs` (all 0 before) is to be released in either case.
 */
int programs_load(struct programs *programs, const struct trigger_config *config, enum trigger_link link);
void programs_release(struct programs *programs);

/* The program that trigger `trigger` needs in a role. */
int programs_fd(const struct programs *programs, size_t trigger, enum program_role role);

/* Our pid namespace; {0, 0} for the initial one. */
struct pid_namespace programs_pid_namespace(void);

/* libbpf writes to stderr unless told otherwise: from here on it is heard with -v only. */
void programs_quiet_libbpf(void);
