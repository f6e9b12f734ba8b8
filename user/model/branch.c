/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branches are plain data; here are only their names, in tables that grow with the enums.
 */
#include "model/branch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

static const char *const kind_names[] = {
	[BRANCH_NONE] = "none",
	[BRANCH_CALL] = "call",
	[BRANCH_RETURN] = "return",
	[BRANCH_JUMP] = "jump",
	[BRANCH_COND] = "conditional jump",
	[BRANCH_SYSCALL] = "syscall",
	[BRANCH_SYSRET] = "sysret",
	[BRANCH_INTERRUPT] = "interrupt",
	[BRANCH_TX_ABORT] = "transaction abort",
	[BRANCH_EVENT] = "event",
	[BRANCH_GAP] = "gap",
};
_Static_assert(ARRAY_SIZE(kind_names) == BRANCH_KIND_CNT, "a name for every kind");

static const char *const gap_names[] = {
	[GAP_NONE] = "none",	       [GAP_OVERFLOW] = "overflow",	 [GAP_NO_CODE] = "no code",
	[GAP_BAD_TRACE] = "bad trace", [GAP_SNAPSHOT] = "next snapshot",
};
_Static_assert(ARRAY_SIZE(gap_names) == GAP_CNT, "a name for every gap");

static const char *const event_names[] = {
	[EVENT_PTWRITE] = "ptwrite",	   [EVENT_POWER_ENTRY] = "power entry",
	[EVENT_POWER_EXIT] = "power exit", [EVENT_STOPPED] = "stopped",
	[EVENT_MWAIT] = "mwait",	   [EVENT_FREQUENCY] = "frequency",
};
_Static_assert(ARRAY_SIZE(event_names) == EVENT_CNT, "a name for every event");

void branch_list_release(struct branch_list *list)
{
	free(list->items);
	*list = (struct branch_list){0};
}

const char *branch_kind_to_str(enum branch_kind kind)
{
	return (unsigned int)kind < BRANCH_KIND_CNT ? kind_names[kind] : "unknown";
}

const char *branch_gap_to_str(enum branch_gap gap)
{
	return (unsigned int)gap < GAP_CNT ? gap_names[gap] : "unknown";
}

const char *branch_event_to_str(enum branch_event event)
{
	return (unsigned int)event < EVENT_CNT ? event_names[event] : "unknown";
}

char *branch_gap_text(const struct branch *branch)
{
	const char *name = branch_gap_to_str(branch->gap);
	char *text;
	int len = branch->detail ? asprintf(&text, "[gap: %s (%d)]", name, branch->detail)
				 : asprintf(&text, "[gap: %s]", name);

	return len < 0 ? NULL : text;
}

char *branch_event_text(const struct branch *branch)
{
	const char *name = branch_event_to_str(branch->gap);
	unsigned int state = branch->to >> 4 & 15, other = branch->to & 15;
	char *text;
	int len;

	switch (branch->gap) {
	case EVENT_POWER_ENTRY:
		len = asprintf(&text, "[%s: C%u.%u]", name, state, other);
		break;
	case EVENT_POWER_EXIT:
		len = asprintf(&text, "[%s: C%u, deepest C%u]", name, state, other);
		break;
	case EVENT_STOPPED:
		len = asprintf(&text, "[%s]", name);
		break;
	case EVENT_FREQUENCY:
		len = asprintf(&text, "[%s: %" PRIu64 " x bus clock]", name, branch->to);
		break;
	default:
		len = asprintf(&text, "[%s: 0x%" PRIx64 "]", name, branch->to);
		break;
	}
	return len < 0 ? NULL : text;
}
