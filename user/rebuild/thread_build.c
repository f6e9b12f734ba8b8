/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/thread_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "history/history.h"
#include "history/schedule.h"
#include "rebuild/decode.h"

void thread_build_free(struct thread_build *thread)
{
	free(thread->known);
	stacks_free(thread->stacks);
	timeline_thread_release(&thread->thread);
	free(thread);
}

/* The stacks that the thread's hits recorded, by time. */
static int learn_stacks(struct thread_build *thread, const struct snapshot *snapshot)
{
	thread->known = calloc(snapshot->hits->cnt + 1, sizeof(*thread->known));
	if (!thread->known)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->hits->cnt; i++) {
		const struct hit *hit = snapshot->hits->hits[i];
		struct known_stack *known = &thread->known[thread->config.known_cnt];

		if ((int32_t)hit->tid != thread->thread.tid || !hit->stack_cnt)
			continue;
		known->tsc = trace_clock_tsc(&snapshot->clock,
					     trace_clock_from_monotonic(&snapshot->clock, hit->time_ns));
		known->ips = hit->stack;
		known->cnt = hit->stack_cnt;
		thread->config.known_cnt++;
	}
	thread->config.known = thread->known;
	return 0;
}

int thread_build_new(struct thread_build **ret_thread, const struct history *history,
		     const struct snapshot *snapshot, const struct decode_config *config,
		     const struct schedule_turn *turn)
{
	struct thread_build *thread = calloc(1, sizeof(*thread));
	const struct history_thread *known = history_thread(history, turn->tid);
	int err;

	if (!thread)
		return -ENOMEM;
	thread->resolver = (struct resolver){
		.snapshot = snapshot, .process = turn->process, .kernel = history->kernel, .tid = turn->tid};
	thread->config = (struct stacks_config){.symbol_at = resolver_symbol_at,
						.time_ns = resolver_time_ns,
						.space_at = resolver_space_at,
						.landing = resolver_landing,
						.gap_text = resolver_gap_text,
						.inlines_at = config->inlines ? resolver_inlines_at : NULL,
						.ctx = &thread->resolver};
	thread->thread = (struct timeline_thread){
		.pid = turn->pid, .tid = turn->tid, .name = strdup(known ? known->name : "?")};
	err = thread->thread.name ? learn_stacks(thread, snapshot) : -ENOMEM;
	if (!err)
		err = stacks_new(&thread->stacks, &thread->config, &thread->thread);
	if (err)
		thread_build_free(thread);
	else
		*ret_thread = thread;
	return err;
}
