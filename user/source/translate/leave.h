/* SPDX-License-Identifier: BSD-2-Clause */
/* Lets processes go. */
#pragma once

#include "session/driver.h"

struct translate;

struct translated_thread {
	struct session_thread base;
	struct translated *translated;
	bool is_asked; /* to stop: to be taken over; from leave() on, to be let go, and it has not stopped */
	bool is_out;   /* it runs natively, and has all that is its own */
	unsigned int turns; /* so often it has stopped inside while it is let go */
};

struct leaving {
	struct translate *translate;
	struct session *session;
	const struct session_process *process; /* NULL: all of them */
};

/*
 * Lets the threads go, of which none need be held. The last one of a process removes our memory from it.
 * Who cannot be stopped, or does not come out, is left.
 */
void leave(const struct leaving *leaving);

/*
 * Behind it, for what it has left of a process, each thread held, and after translate_let_go(). If one is
 * still inside, the runtime stays mapped, and it has no rseq area.
 */
void leave_rest(const struct leaving *leaving);
