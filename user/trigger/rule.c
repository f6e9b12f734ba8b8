/* SPDX-License-Identifier: BSD-2-Clause */
/* What a rule asks of the probes it is for. */
#include "base/error.h"
#include "trigger/arg_layout.h"
#include "trigger/call_probes.h"
#include "trigger/condition.h"
#include "trigger/trigger.h"

bool trigger_at_return(const struct trigger *trigger)
{
	const struct trigger_rule *rule = &trigger->rule;

	return rule->slower_than_ns || (rule->condition && condition_asks_return(rule->condition));
}

/* Where some of its places have them all, the others are no hits. */
static int check_args(const struct trigger *trigger)
{
	uint32_t asked = trigger->rule.condition ? condition_asks_args(trigger->rule.condition) : 0;
	uint32_t missing;

	for (size_t i = 0; i < trigger->probe_cnt; i++)
		if (!(asked & ~trigger->probes[i].layout->known))
			return 0;
	if (!asked || !trigger->probe_cnt)
		return 0;
	missing = asked & ~trigger->probes[0].layout->known;
	return arg_layout_fail(&trigger->probes[0], (unsigned int)__builtin_ctz(missing));
}

static int check_beginnings(const struct trigger *trigger)
{
	for (size_t i = 0; i < trigger->probe_cnt; i++) {
		const struct probe *probe = &trigger->probes[i];

		if (probe->layout->convention == ARGS_USDT || probe->layout->convention == ARGS_WITHIN)
			return fail(-EINVAL,
				    "--slower-than, ret and elapsed judge a call when it returns, but %s is "
				    "%s: name a function",
				    probe->symbol,
				    probe->layout->convention == ARGS_USDT ? "a place that no call begins at"
									   : "in the middle of a function");
	}
	return 0;
}

int trigger_apply_rule(struct trigger *trigger)
{
	int err = check_args(trigger);

	if (err || !trigger_at_return(trigger))
		return err;
	err = check_beginnings(trigger);
	return err ? err : call_probes_add(trigger);
}
