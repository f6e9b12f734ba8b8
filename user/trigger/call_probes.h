/* SPDX-License-Identifier: BSD-2-Clause */
/* The probes that see calls of functions begin and end. */
#pragma once

#include "trigger/trigger.h"

/*
 * Adds to the trigger's probes, which are at functions' beginnings, those at their ends (probe/exits.h), and
 * at the ends of functions that they end in a jump to. Of many functions those whose ends are not known are
 * left out; -ENOTSUP with a sentence where none is left, as exits_find(); -EINVAL with a sentence: it never
 * returns; else as probe_init(). Calls that end in a jump to where nothing can be probed are told by
 * log_warn().
 */
int call_probes_add(struct trigger *trigger);
