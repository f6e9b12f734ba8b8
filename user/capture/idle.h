/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits while the target runs at full speed: for a hit, a change of the target's state, or a signal to us,
 * whichever comes first.
 */
#pragma once

#include <signal.h>

#include "trigger/trigger.h"

/* How SIGCHLD was handled before. All 0: unchanged. */
struct idle_signals {
	struct sigaction action;
	sigset_t mask;
	bool is_known;
};

/*
 * To be called before the target can change its state: from then on SIGCHLD is blocked, except during
 * idle_wait().
 */
void idle_prepare(struct idle_signals *ret_before);
void idle_restore(struct idle_signals *before);

/*
 * Returns when one of these has happened, or `fd` (-1: none) is readable; perhaps earlier. `set` may be NULL.
 * `spin`: never sleeps; reacts two orders of magnitude faster, and occupies a processor.
 */
void idle_wait(struct trigger_set *set, int fd, bool spin, int timeout_ms);
