/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes for the beginnings and ends of calls. */
#pragma once

#include "trigger/trigger.h"

/*
 * Adds probes at the ends of the trigger's functions (probe/exits/exits.h), and at the ends of functions
 * that they tail-call. A function whose ends are unknown is left out. -ENOTSUP with a sentence: none is left
 * (as exits_find()); -EINVAL with a sentence: it never returns; else as probe_init(). Warns (log_warn()) of
 * tail calls whose target cannot be probed.
 */
int call_probes_add(struct trigger *trigger);
