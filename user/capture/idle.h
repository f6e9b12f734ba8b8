/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting while the target runs at full speed: for a hit, a change of the target's state, or a signal to us, whichever is first. */
#pragma once

#include "trigger/trigger.h"

/* To be called once, before the target can change its state: from then on SIGCHLD is blocked but for idle_wait(). */
void idle_prepare(void);

/*
 * Returns when one of these has happened, perhaps earlier. `set` may be NULL. `spin`: never sleeps, which is two orders of magnitude quicker and
 * costs a processor.
 */
void idle_wait(struct trigger_set *set, bool spin, int timeout_ms);
