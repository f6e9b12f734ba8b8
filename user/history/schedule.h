/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose bytes an AUX trace holds, over time: those of one thread, or on a processor's ring of whoever ran
 * there. For the decoder it is a list of code versions; each belongs to a turn of a thread.
 */
#pragma once

#include "history/history.h"

struct schedule_turn {
	struct history_process *process; /* NULL: nothing is known of it */
	int32_t pid, tid;
	size_t nth; /* which turn; a turn may have several versions */
};

struct schedule {
	struct code_version *versions; /* of the history's images */
	struct schedule_turn *turns;   /* of each version */
	size_t cnt, version_cap, turn_cap;
};

/* 0 or -ENOMEM. `history` must outlive it. */
int schedule_make(struct schedule *ret_schedule, struct history *history, const struct aux_trace *aux);
void schedule_release(struct schedule *schedule);
