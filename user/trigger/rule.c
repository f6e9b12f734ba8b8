/* SPDX-License-Identifier: BSD-2-Clause */
/* What a rule asks of the probes it is for. */
#include "trigger/condition.h"
#include "trigger/trigger.h"

bool trigger_at_return(const struct trigger *trigger)
{
	const struct trigger_rule *rule = &trigger->rule;

	return rule->slower_than_ns || (rule->condition && condition_asks_return(rule->condition));
}
