/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which thread the bytes of an AUX trace come from, over time. A thread's ring holds that thread only; a
 * processor's ring holds every thread that ran there. The decoder gets a list of code versions; each belongs
 * to a turn of a thread.
 */
#pragma once

#include "history/history.h"

struct schedule_turn {
	struct history_process *process; /* NULL: unknown */
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
