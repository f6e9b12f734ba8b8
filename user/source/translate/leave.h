/* SPDX-License-Identifier: BSD-2-Clause */
/* Lets a process go. All its threads are held, each after translate_let_go(). */
#pragma once

#include "session/driver.h"

struct translate;

struct leaving {
	struct translate *translate;
	struct session *session;
	const struct session_process *process;
};

/*
 * Afterwards its threads stand in the program's own code, each with its own state, and our memory is
 * unmapped. If that takes too long, the runtime stays mapped, and a thread that is still in it has no rseq
 * area. Some threads may have been let go already.
 */
void leave_process(const struct leaving *leaving);
