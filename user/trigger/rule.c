/* SPDX-License-Identifier: BSD-2-Clause */
/* What a rule asks of the probes it is for. */
#include <string.h>

#include "base/error.h"
#include "trigger/condition.h"
#include "trigger/trigger.h"

bool trigger_at_return(const struct trigger *trigger)
{
	const struct trigger_rule *rule = &trigger->rule;

	return rule->slower_than_ns || (rule->condition && condition_asks_return(rule->condition));
}

int trigger_check_rule(const struct trigger *trigger)
{
	for (size_t i = 0; i < trigger->probe_cnt && trigger_at_return(trigger); i++) {
		const struct probe *probe = &trigger->probes[i];

		if (strchr(probe->symbol, '+'))
			return fail(-EINVAL,
				    "--slower-than, ret and elapsed judge a call when it returns, but %s is "
				    "in the middle of a "
				    "function: name the function itself",
				    probe->symbol);
	}
	return 0;
}
