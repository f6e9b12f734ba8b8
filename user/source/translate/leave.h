/* SPDX-License-Identifier: BSD-2-Clause */
/* How a process is let go whose threads are all held, each after translate_let_go(). */
#pragma once

#include "session/driver.h"

struct translate;

struct leaving {
	struct translate *translate;
	struct session *session;
	const struct session_process *process;
};

/*
 * Its threads stand in the program's own code afterwards, each with all that was taken from it, and nothing of ours is
 * in its memory. Where that cannot be in some time, the runtime stays there, and a thread that is still in it has no
 * rseq area. Some threads may have been let go already.
 */
void leave_process(const struct leaving *leaving);
