/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of a condition replaces the function judge() in the loaded program. judge() is the last function
 * in the program's instructions and the only one that is called, so no jump needs to be fixed.
 */
#include "trigger/programs.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "bpf/own_id.h"
#include "bpf/rule.h"
#include "bpf/trigger.skel.h"
#include "condition/condition.h"
#include "condition/prints.h"
#include "probe/args/arg_layout.h"
#include "trigger/own_namespace.h"
#include "trigger/privilege.h"
#include "trigger/uprobe_multi.h"

_Static_assert((int)TRIGGER_MAX == (int)RULE_MAX, "a rule for each trigger");

DEFINE_CLEANUP(struct trigger_bpf *, trigger_bpf__destroy)

/* ---- the programs as they are ---- */

/* libbpf writes to stderr unless told otherwise. */
static int __attribute__((format(printf, 2, 0)))
log_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	CLEANUP(freep) char *text = NULL;
	int len;

	/* Every map and relocation: nothing a user could want to know. */
	if (level == LIBBPF_DEBUG)
		return 0;
	len = vasprintf(&text, fmt, ap);
	if (len < 0)
		return 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		log_debug("%s", line);
	return len;
}

void programs_quiet_libbpf(void)
{
	libbpf_set_print(log_libbpf);
}

static int fail_load(int err, const struct trigger_bpf *bpf)
{
	if (err == -EPERM)
		return privilege_fail_bpf();
	if (privilege_is_descriptors(err))
		return privilege_fail_descriptors();
	if (err == -ENOMEM)
		return fail(err, "no memory for the BPF ring buffer of %u KiB",
			    bpf_map__max_entries(bpf->maps.hits) / 1024);
	return fail_errno(err, "the kernel does not accept the BPF program (-v shows why)");
}

static bool any_at_return(const struct trigger_config *config)
{
	for (size_t i = 0; i < config->trigger_cnt; i++)
		if (trigger_at_return(&config->triggers[i]))
			return true;
	return false;
}

/* What no trigger needs is not loaded: it costs time and memory. */
static void choose(struct trigger_bpf *bpf, const struct trigger_config *config)
{
	bool at_return = any_at_return(config);

	bpf_program__set_autoload(bpf->progs.call_begin, at_return);
	bpf_program__set_autoload(bpf->progs.call_end, at_return);
	if (!at_return)
		bpf_map__set_max_entries(bpf->maps.calls, 1);
	if (config->pid)
		bpf_map__set_max_entries(bpf->maps.targets, 1);
}

static uint32_t value_bytes(const struct trigger_config *config)
{
	uint32_t most = 0;

	for (size_t i = 0; i < config->trigger_cnt; i++) {
		const struct prints *prints = config->triggers[i].rule.prints;

		if (prints && prints_bytes(prints) > most)
			most = prints_bytes(prints);
	}
	return most;
}

/* Room for some thousand hits. */
static void size_ring(struct trigger_bpf *bpf, const struct trigger_config *config)
{
	enum { PLAIN = 1 << 20, WITH_COPIES = 32 << 20, WAKE_AT = 4 };
	uint32_t bytes = config->stack_bytes || value_bytes(config) ? WITH_COPIES : PLAIN;

	bpf_map__set_max_entries(bpf->maps.hits, bytes);
	bpf->rodata->wake_bytes = bytes / WAKE_AT;
	bpf->rodata->copy_bytes = config->stack_bytes;
	bpf->rodata->value_bytes = value_bytes(config);
}

static int load(struct programs *programs, const struct trigger_config *config, enum trigger_link link)
{
	CLEANUP(trigger_bpf__destroyp) struct trigger_bpf *bpf = trigger_bpf__open();
	struct bpf_program *program;
	int err;

	if (!bpf)
		return fail_errno(-errno, "cannot open the BPF program");
	choose(bpf, config);
	bpf->rodata->only_targets = !config->pid;
	bpf->rodata->pause = config->pause;
	bpf->rodata->freeze = config->freeze;
	bpf->rodata->own = own_namespace();
	bpf->bss->stop_at = config->stop_at;
	size_ring(bpf, config);
	if (link == TRIGGER_LINK_UPROBE_MULTI)
		bpf_object__for_each_program(program, bpf->obj) bpf_program__set_expected_attach_type(
			program, (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);
	err = trigger_bpf__load(bpf);
	if (err)
		return fail_load(err, bpf);
	programs->bpf = TAKE_PTR(bpf);
	return 0;
}

static void write_rules(struct programs *programs, const struct trigger_config *config)
{
	for (size_t i = 0; i < config->trigger_cnt; i++) {
		const struct trigger_rule *rule = &config->triggers[i].rule;

		programs->bpf->bss->rules[i] = (struct rule){
			.slower_than_ns = rule->slower_than_ns,
			.skip = rule->skip,
			.every_ns = rule->every_ns,
			.held = config->hold && config->triggers[i].action & HIT_STOP,
			.asks_result = (rule->condition && condition_asks_result(rule->condition)) ||
				       (rule->prints && prints_ask_result(rule->prints)),
		};
	}
}

/* ---- where arguments are ---- */

static bool is_same_layout(const struct arg_layout *a, const struct arg_layout *b)
{
	return a == b || (a->convention == b->convention && !memcmp(a->args, b->args, sizeof(a->args)));
}

static size_t find_layout(const struct trigger_programs *own, const struct arg_layout *layout)
{
	size_t i = 0;

	while (i < own->layout_cnt && !is_same_layout(own->layouts[i], layout))
		i++;
	return i;
}

static int add_layouts(struct trigger_programs *own, const struct trigger *trigger)
{
	for (size_t i = 0; i < trigger->probe_cnt; i++) {
		const struct arg_layout *layout = trigger->probes[i].layout;

		if (find_layout(own, layout) == own->layout_cnt &&
		    ARRAY_PUSH(own->layouts, own->layout_cnt, own->layout_cap, layout))
			return -ENOMEM;
	}
	return 0;
}

static bool any_layout(const struct trigger_programs *own)
{
	for (size_t i = 0; i < own->layout_cnt; i++)
		if (own->layouts[i]->convention != ARGS_C)
			return true;
	return false;
}

static bool layouts_read_memory(const struct trigger_programs *own)
{
	for (size_t i = 0; i < own->layout_cnt; i++)
		for (size_t arg = 0; arg < HIT_ARG_CNT; arg++)
			if (own->layouts[i]->args[arg].kind == USDT_ARG_MEMORY)
				return true;
	return false;
}

uint32_t programs_layout(const struct programs *programs, size_t trigger, const struct probe *probe)
{
	return (uint32_t)find_layout(&programs->own[trigger], probe->layout);
}

bool programs_is_entry(const struct programs *programs, size_t trigger, uint32_t layout)
{
	const struct trigger_programs *own = &programs->own[trigger];

	return layout < own->layout_cnt && own->layouts[layout]->convention <= ARGS_GO_STACK;
}

/* ---- copies ---- */

/* Where the called function begins; `cnt` where there is none. */
static size_t find_callee(const struct bpf_insn *insns, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && insns[i].src_reg == BPF_PSEUDO_CALL)
			return i + 1 + (size_t)insns[i].imm;
	return cnt;
}

static int join(const struct bpf_program *program, const struct bpf_insn *condition, size_t condition_cnt,
		struct bpf_insn **ret_insns, size_t *ret_cnt)
{
	size_t kept = find_callee(bpf_program__insns(program), bpf_program__insn_cnt(program));
	struct bpf_insn *insns = calloc(kept + condition_cnt, sizeof(*insns));

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), kept * sizeof(*insns));
	memcpy(insns + kept, condition, condition_cnt * sizeof(*insns));
	*ret_insns = insns;
	*ret_cnt = kept + condition_cnt;
	return 0;
}

/* The verifier's words go to -v: what it can object to is a defect of ours. */
static int load_insns(const struct bpf_insn *insns, size_t cnt, enum trigger_link link, bool may_sleep)
{
	static const size_t log_size = 1 << 20;
	CLEANUP(freep) char *log = calloc(1, log_size);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log, .log_size = log ? (__u32)log_size : 0,
		    .log_level = 0);
	int fd;

	if (link == TRIGGER_LINK_UPROBE_MULTI)
		opts.expected_attach_type = (enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE;
	if (may_sleep)
		opts.prog_flags = BPF_F_SLEEPABLE;
	fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "condition", "Dual BSD/GPL", insns, cnt, &opts);
	if (fd >= 0 || !log)
		return fd;
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
		log_debug("%s", line);
	return fd;
}

static const struct bpf_program *program_of(const struct trigger_bpf *bpf, enum program_role role)
{
	return role == PROGRAM_HIT	    ? bpf->progs.trigger_hit
	       : role == PROGRAM_CALL_BEGIN ? bpf->progs.call_begin
					    : bpf->progs.call_end;
}

/* Arguments are read when a call begins; the condition is judged when all is known that it asks for. */
static int load_copy(struct programs *programs, const struct trigger *trigger, enum trigger_link link,
		     enum program_role role, struct trigger_programs *own)
{
	struct condition_code wanted = {
		.condition = role == PROGRAM_CALL_BEGIN ? NULL : trigger->rule.condition,
		.prints = role == PROGRAM_CALL_BEGIN ? NULL : trigger->rule.prints,
		.layouts = own->layouts,
		.layout_cnt = role == PROGRAM_CALL_END ? 0 : own->layout_cnt,
		.args_may_miss = any_layout(own),
	};
	bool may_sleep = (wanted.condition && condition_reads_memory(wanted.condition)) ||
			 (wanted.prints && prints_read_memory(wanted.prints)) ||
			 (wanted.layout_cnt && layouts_read_memory(own));
	CLEANUP(freep) struct bpf_insn *code = NULL;
	CLEANUP(freep) struct bpf_insn *insns = NULL;
	size_t code_cnt, cnt;
	int fd, err = condition_emit(&wanted, &code, &code_cnt);

	if (!err)
		err = join(program_of(programs->bpf, role), code, code_cnt, &insns, &cnt);
	if (err)
		return err;
	fd = load_insns(insns, cnt, link, may_sleep);
	if (fd < 0 && privilege_is_descriptors(fd))
		return privilege_fail_descriptors();
	if (fd < 0)
		return fail_errno(fd, "the kernel does not accept the condition of %s (-v shows why)",
				  trigger->name);
	own->copies[role] = fd;
	return 0;
}

static int load_copies(struct programs *programs, const struct trigger *trigger, enum trigger_link link,
		       struct trigger_programs *own)
{
	bool elsewhere, condition = trigger->rule.condition || trigger->rule.prints;
	int err = add_layouts(own, trigger);

	if (err)
		return err;
	elsewhere = any_layout(own);
	if (!trigger_at_return(trigger))
		return condition || elsewhere ? load_copy(programs, trigger, link, PROGRAM_HIT, own) : 0;
	if (elsewhere)
		err = load_copy(programs, trigger, link, PROGRAM_CALL_BEGIN, own);
	return err || !condition ? err : load_copy(programs, trigger, link, PROGRAM_CALL_END, own);
}

/* ---- all of them ---- */

static int make_room(struct programs *programs, size_t trigger_cnt)
{
	programs->own = calloc(trigger_cnt + 1, sizeof(*programs->own));
	if (!programs->own)
		return -ENOMEM;
	programs->trigger_cnt = trigger_cnt;
	for (size_t i = 0; i < trigger_cnt; i++)
		for (enum program_role role = 0; role < PROGRAM_ROLE_CNT; role++)
			programs->own[i].copies[role] = -1;
	return 0;
}

int programs_load(struct programs *programs, const struct trigger_config *config, enum trigger_link link)
{
	int err = make_room(programs, config->trigger_cnt);

	if (!err)
		err = load(programs, config, link);
	if (err)
		return err;
	write_rules(programs, config);
	for (size_t i = 0; i < config->trigger_cnt && !err; i++)
		err = load_copies(programs, &config->triggers[i], link, &programs->own[i]);
	return err;
}

void programs_release(struct programs *programs)
{
	for (size_t i = 0; i < programs->trigger_cnt; i++) {
		for (enum program_role role = 0; role < PROGRAM_ROLE_CNT; role++)
			if (programs->own[i].copies[role] >= 0)
				close(programs->own[i].copies[role]);
		free(programs->own[i].layouts);
	}
	free(programs->own);
	trigger_bpf__destroy(programs->bpf);
	*programs = (struct programs){0};
}

int programs_fd(const struct programs *programs, size_t trigger, enum program_role role)
{
	int copy = programs->own[trigger].copies[role];

	return copy >= 0 ? copy : bpf_program__fd(program_of(programs->bpf, role));
}
