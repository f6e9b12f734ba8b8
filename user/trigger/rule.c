/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks and adjusts a trigger's probes for its rule. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/rule.h"
#include "condition/condition.h"
#include "condition/prints.h"
#include "elf/elf_file.h"
#include "probe/args/arg_layout.h"
#include "trigger/call_probes.h"
#include "trigger/trigger.h"

bool trigger_at_return(const struct trigger *trigger)
{
	const struct trigger_rule *rule = &trigger->rule;

	return rule->is_span || rule->slower_than_ns ||
	       (rule->condition && condition_asks_return(rule->condition)) ||
	       (rule->prints && prints_ask_return(rule->prints));
}

/* Where some of its places have them all, the others are no hits. */
static int check_args(const struct trigger *trigger)
{
	const struct trigger_rule *rule = &trigger->rule;
	uint32_t asked = (rule->condition ? condition_asks_args(rule->condition) : 0) |
			 (rule->prints ? prints_ask_args(rule->prints) : 0);
	const struct probe *first = NULL;
	uint32_t missing;

	for (size_t i = 0; i < trigger->probe_cnt; i++) {
		const struct probe *probe = &trigger->probes[i];

		if (probe->at == PROBE_CALL_END)
			continue;
		if (!(asked & ~probe->layout->known))
			return 0;
		first = first ? first : probe;
	}
	if (!asked || !first)
		return 0;
	missing = asked & ~first->layout->known;
	return arg_layout_fail(first, (unsigned int)__builtin_ctz(missing));
}

static int check_beginnings(const struct trigger *trigger)
{
	for (size_t i = 0; i < trigger->probe_cnt; i++) {
		const struct probe *probe = &trigger->probes[i];

		if (probe->layout->convention == ARGS_USDT || probe->layout->convention == ARGS_WITHIN)
			return fail(-EINVAL,
				    "--slower-than, ret and elapsed need a call's return, but %s is %s: "
				    "name a function",
				    probe->symbol,
				    probe->layout->convention == ARGS_USDT ? "a place where no call begins"
									   : "in the middle of a function");
	}
	return 0;
}

/* ---- from one place to another ---- */

static int add_name(struct trigger *trigger, const struct trigger *from)
{
	char *name;

	if (asprintf(&name, "%s..%s", from->name, trigger->name) < 0)
		return -ENOMEM;
	free(trigger->name);
	trigger->name = name;
	return 0;
}

int trigger_set_from(struct trigger *trigger, struct trigger *from)
{
	int err = add_name(trigger, from);

	for (size_t i = 0; i < trigger->probe_cnt; i++)
		trigger->probes[i].at = PROBE_CALL_END;
	trigger->rule.is_span = true;
	for (; from->probe_cnt && !err; from->probe_cnt--) {
		struct probe *probe = &from->probes[from->probe_cnt - 1];

		probe->at = PROBE_CALL_BEGIN;
		err = ARRAY_PUSH(trigger->probes, trigger->probe_cnt, trigger->probe_cap, *probe);
		if (err)
			break;
	}
	return err;
}

/* *ret_is_go: all places are in Go programs, where goroutines change threads. */
static int check_go(const struct trigger *trigger, bool *ret_is_go)
{
	*ret_is_go = true;
	for (size_t i = 0; i < trigger->probe_cnt && *ret_is_go; i++) {
		CLEANUP(elf_file_closep) struct elf_file *file = NULL;
		int err = elf_file_open(&file, trigger->probes[i].path);

		if (err)
			return err;
		*ret_is_go = elf_file_is_go(file);
	}
	return 0;
}

static int apply_span(struct trigger *trigger)
{
	bool is_go;
	int err = check_go(trigger, &is_go);

	if (err)
		return err;
	if ((trigger->rule.condition && condition_asks_result(trigger->rule.condition)) ||
	    (trigger->rule.prints && prints_ask_result(trigger->rule.prints)))
		return fail(-EINVAL,
			    "ret is a call's return value, and --from and --to are not a call: use elapsed, "
			    "the time between them");
	for (size_t i = 0; i < trigger->probe_cnt; i++)
		trigger->probes[i].place = PLACE_SPAN | (is_go ? PLACE_GO : 0) |
					   (trigger->probes[i].at == PROBE_CALL_END ? PLACE_OTHER : 0);
	return 0;
}

int trigger_apply_rule(struct trigger *trigger)
{
	int err = check_args(trigger);

	if (err || !trigger_at_return(trigger))
		return err;
	if (trigger->rule.is_span)
		return apply_span(trigger);
	err = check_beginnings(trigger);
	return err ? err : call_probes_add(trigger);
}
