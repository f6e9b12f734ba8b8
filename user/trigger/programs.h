/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loaded BPF programs of a set of triggers: those of bpf/trigger.bpf.c, and copies for triggers with a
 * condition or with arguments elsewhere than in C.
 */
#pragma once

#include "condition/condition.h"
#include "trigger/trigger.h"

struct trigger_bpf;

enum program_role { PROGRAM_HIT, PROGRAM_CALL_BEGIN, PROGRAM_CALL_END, PROGRAM_ROLE_CNT };

/* The programs and argument layouts of one trigger. */
struct trigger_programs {
	int copies[PROGRAM_ROLE_CNT];	   /* -1: it needs no copy */
	const struct arg_layout **layouts; /* the layouts of its probes, each once */
	size_t layout_cnt, layout_cap;
};

struct programs {
	struct trigger_bpf *bpf; /* NULL: nothing loaded */
	struct trigger_programs *own;
	size_t trigger_cnt;
};

/*
 * Loads the programs for links of the kind `link` (not AUTO) and writes the rules. -EPERM with a sentence
 * that names what is missing; -ENOMEM; the kernel's error if it rejects a program. Release `programs` (all 0
 * before) in either case.
 */
int programs_load(struct programs *programs, const struct trigger_config *config, enum trigger_link link);
void programs_release(struct programs *programs);

/* The program of trigger `trigger` for a role. */
int programs_fd(const struct programs *programs, size_t trigger, enum program_role role);

/* The index of the probe's argument layout, for its cookie (bpf/rule.h). */
uint32_t programs_layout(const struct programs *programs, size_t trigger, const struct probe *probe);

/* Whether probes with this layout are at the beginning of a function. */
bool programs_is_entry(const struct programs *programs, size_t trigger, uint32_t layout);

/* Silences libbpf on stderr; -v shows its messages. */
void programs_quiet_libbpf(void);
