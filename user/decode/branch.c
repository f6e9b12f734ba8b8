/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branches are plain data; here are only their names, in tables that grow with the enums.
 */
#include "decode/branch.h"

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
	[BRANCH_GAP] = "gap",
};
_Static_assert(ARRAY_SIZE(kind_names) == BRANCH_KIND_CNT, "a name for every kind");

static const char *const gap_names[] = {
	[GAP_NONE] = "none",	       [GAP_OVERFLOW] = "overflow",	 [GAP_NO_CODE] = "no code",
	[GAP_BAD_TRACE] = "bad trace", [GAP_SNAPSHOT] = "next snapshot",
};
_Static_assert(ARRAY_SIZE(gap_names) == GAP_CNT, "a name for every gap");

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
