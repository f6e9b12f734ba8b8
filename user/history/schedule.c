/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A turn of a thread on a processor begins with the switch to it and lasts until the next; within it, its
 * process's image may change. Its tracing may begin once the thread before it was switched out.
 *
 *	switches	A           B     A
 *	image of A	1      2                3
 *	versions	A1     A2   B1    A2    A3
 */
#include "history/schedule.h"

#include <stdlib.h>

#include "base/array.h"

static int add(struct schedule *schedule, const struct schedule_turn *turn, uint64_t start_tsc,
	       uint64_t enable_tsc, size_t image)
{
	size_t turn_cnt = schedule->cnt;
	const struct code_version version = {
		.start_tsc = start_tsc, .enable_tsc = enable_tsc, .image = image};
	int err = ARRAY_PUSH(schedule->turns, turn_cnt, schedule->turn_cap, *turn);

	return err ? err : ARRAY_PUSH(schedule->versions, schedule->cnt, schedule->version_cap, version);
}

/* The turn from `begin` to `end`: the version in force at its beginning, and those that come in it. */
static int add_turn(struct schedule *schedule, const struct schedule_turn *turn, uint64_t enable,
		    uint64_t begin, uint64_t end)
{
	const struct history_process *process = turn->process;
	size_t first = 0;
	int err;

	if (!process || !process->version_cnt)
		return add(schedule, turn, begin, enable, HISTORY_NO_IMAGE);
	while (first + 1 < process->version_cnt && process->versions[first + 1].start_tsc <= begin)
		first++;
	err = add(schedule, turn, begin, enable, process->versions[first].image);
	for (size_t i = first + 1; i < process->version_cnt && !err; i++) {
		const struct code_version *next = &process->versions[i];

		if (next->start_tsc < end)
			err = add(schedule, turn, next->start_tsc, next->enable_tsc, next->image);
	}
	return err;
}

static int add_processor(struct schedule *schedule, struct history *history, int32_t cpu)
{
	struct schedule_turn turn = {.pid = -1, .tid = -1};
	uint64_t begin = 0, enable = 0, out = 0;
	int err = 0;

	/* The first version also serves what was before it. */
	for (size_t i = 0; i < history->switch_cnt && !err; i++) {
		const struct history_switch *now = &history->switches[i];

		if (now->cpu != cpu)
			continue;
		if (now->out) {
			out = now->tsc;
			continue;
		}
		if (turn.nth)
			err = add_turn(schedule, &turn, enable, begin, now->tsc);
		begin = now->tsc;
		enable = out ? out : begin;
		out = 0;
		turn.process = history_process(history, now->pid);
		turn.pid = now->pid;
		turn.tid = now->tid;
		turn.nth++;
	}
	return err ? err : add_turn(schedule, &turn, enable, begin, UINT64_MAX);
}

int schedule_make(struct schedule *ret_schedule, struct history *history, const struct aux_trace *aux)
{
	const struct history_thread *thread = history_thread(history, aux->tid);
	int32_t pid = aux->pid < 0 && thread ? thread->pid : aux->pid;
	const struct schedule_turn turn = {
		.process = history_process(history, pid), .pid = pid, .tid = aux->tid};
	int err;

	*ret_schedule = (struct schedule){0};
	err = aux->cpu < 0 ? add_turn(ret_schedule, &turn, 0, 0, UINT64_MAX)
			   : add_processor(ret_schedule, history, aux->cpu);
	if (err)
		schedule_release(ret_schedule);
	return err;
}

void schedule_release(struct schedule *schedule)
{
	free(schedule->versions);
	free(schedule->turns);
	*schedule = (struct schedule){0};
}
