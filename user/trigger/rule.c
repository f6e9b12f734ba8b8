/* SPDX-License-Identifier: BSD-2-Clause */
/* What a rule asks of the probes it is for. */
#include <string.h>

#include "base/error.h"
#include "image/elf_file.h"
#include "trigger/arg_layout.h"
#include "trigger/condition.h"
#include "trigger/trigger.h"

bool trigger_at_return(const struct trigger *trigger)
{
	const struct trigger_rule *rule = &trigger->rule;

	return rule->slower_than_ns || (rule->condition && condition_asks_return(rule->condition));
}

/* A return probe replaces the return address on the stack. Go's runtime walks and moves stacks, and dies of one it does not know. */
static int check_not_go(const struct probe *probe)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	int err = elf_file_open(&file, probe->path);

	if (err || !elf_file_is_go(file))
		return err;
	return fail(-EINVAL,
		    "--slower-than, ret and elapsed put a probe on the return of %s, which crashes Go "
		    "programs such as %s",
		    probe->symbol, probe->path);
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

int trigger_check_rule(const struct trigger *trigger)
{
	int err = check_args(trigger);

	for (size_t i = 0; i < trigger->probe_cnt && !err && trigger_at_return(trigger); i++) {
		const struct probe *probe = &trigger->probes[i];

		if (probe->layout->convention == ARGS_USDT || probe->layout->convention == ARGS_WITHIN)
			return fail(-EINVAL,
				    "--slower-than, ret and elapsed judge a call when it returns, but %s is "
				    "%s: name a function",
				    probe->symbol,
				    probe->layout->convention == ARGS_USDT ? "a place that no call begins at"
									   : "in the middle of a function");
		/* Those of one file stand together. */
		if (!i || strcmp(probe->path, trigger->probes[i - 1].path))
			err = check_not_go(probe);
	}
	return err;
}
