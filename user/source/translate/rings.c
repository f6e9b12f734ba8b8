/* SPDX-License-Identifier: BSD-2-Clause */
/* From the rings of threads to the packets of a snapshot. */
#include <stdlib.h>

#include "base/clock.h"
#include "source/encoder_snapshot.h"
#include "source/translate/translate_internal.h"

static int copy_ring(struct translate_thread *thread)
{
	int err;

	if (thread->slot < 0 || thread->copy.words)
		return 0;
	err = arena_read_ring(thread->process->arena, thread->slot, thread->taken, &thread->copy);
	if (err)
		return err;
	thread->copy.epoch_min = thread->epoch;
	thread->copy.since_ns = thread->resumed_ns;
	thread->resumed_ns = 0;
	thread->taken = thread->copy.end;
	thread->epoch = thread->copy.epoch;
	return 0;
}

/* What comes after a thread was given back is not known. */
static void mark_given_back(struct translate_thread *thread)
{
	const struct context *context;

	if (thread->slot < 0 || thread->lost)
		return;
	context = arena_context(thread->process->arena, thread->slot);
	thread->lost = context->why && context->why < GIVE_END;
	if (thread->lost)
		encoder_overflow(&thread->encoder, clock_ns(CLOCK_MONOTONIC), 0);
}

/* What was copied goes to the thread's packets. */
static int encode(struct translate *translate, struct translate_thread *thread)
{
	struct code_changes changes = {0};
	int err = thread->copy.words && thread->process->answers
			  ? answers_changes(thread->process->answers, &changes)
			  : 0;

	translate->clock = tsc_clock_since(&translate->start);
	if (!err && thread->copy.words)
		err = words_encode(thread->process->arena, &thread->copy, &translate->clock, &changes,
				   &thread->encoder);
	free(changes.times);
	ring_copy_release(&thread->copy);
	thread->copy = (struct ring_copy){0};
	return err;
}

int translate_leave_slot(struct translate *translate, struct translate_thread *thread)
{
	int err;

	translate_tell(translate, thread);
	err = encode(translate, thread);
	if (!err)
		err = copy_ring(thread);
	if (!err)
		err = encode(translate, thread);
	mark_given_back(thread);
	if (thread->slot >= 0)
		arena_leave_slot(thread->process->arena, thread->slot);
	thread->slot = -1;
	return err;
}

/* ---- snapshots ---- */

void translate_resume(struct translate *translate)
{
	for (size_t i = 0; i < translate->thread_cnt; i++) {
		struct translate_thread *thread = translate->threads[i];

		if (thread->slot >= 0 && thread->taken &&
		    arena_written(thread->process->arena, thread->slot) == thread->taken)
			thread->resumed_ns = clock_ns(CLOCK_MONOTONIC);
	}
}

static void set_hold(struct translate *translate, uint32_t hold)
{
	for (size_t i = 0; i < translate->process_cnt; i++)
		if (translate->processes[i]->arena)
			arena_hold(translate->processes[i]->arena, hold);
}

void translate_hold(struct translate *translate)
{
	if (!translate->is_held)
		set_hold(translate, ++translate->hold_cnt);
	translate->is_held = true;
}

int translate_stop(struct translate *translate)
{
	int err = 0;

	translate_hold(translate);
	for (size_t i = 0; i < translate->thread_cnt && !err; i++)
		if (!translate->threads[i]->dead)
			err = copy_ring(translate->threads[i]);
	set_hold(translate, 0);
	translate->is_held = false;
	return err;
}

int translate_take(struct translate *translate, struct snapshot *snapshot)
{
	int err = 0;

	for (size_t i = 0; i < translate->thread_cnt && !err; i++) {
		struct translate_thread *thread = translate->threads[i];

		translate_tell(translate, thread);
		err = encode(translate, thread);
		mark_given_back(thread);
		if (!err)
			err = encoder_take(&thread->encoder, snapshot, thread->process->pid, thread->tid,
					   clock_ns(CLOCK_MONOTONIC));
	}
	for (size_t i = 0; i < translate->process_cnt && !err; i++)
		if (translate->processes[i]->answers)
			err = answers_take(translate->processes[i]->answers, translate->sideband);
	if (!err)
		translate_forget_dead(translate);
	return err;
}
