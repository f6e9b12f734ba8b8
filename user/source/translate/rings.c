/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the rings of threads to the packets of a snapshot. Copying the rings takes milliseconds, making packets of
 * millions of words seconds: a thread of our own does that while the program goes on.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* ---- priority ---- */

/*
 * While a thread of the target waits for us, we go before those that do not, if we may (CAP_SYS_NICE). Returns the
 * nice value before; setpriority(2) takes a thread's id.
 */
static int hurry(pid_t tid)
{
	enum { FIRST = -20 };
	int before = getpriority(PRIO_PROCESS, (id_t)tid);

	setpriority(PRIO_PROCESS, (id_t)tid, FIRST);
	return before;
}

/* ---- packets ---- */

/* Of the threads that there were at the snapshot; nobody else touches these until it is done. */
static void *make_packets(void *ctx)
{
	struct translate *translate = ctx;
	struct packet_maker *maker = &translate->maker;

	__atomic_store_n(&maker->tid, gettid(), __ATOMIC_RELAXED);
	for (size_t i = 0; i < maker->cnt && !maker->err; i++) {
		struct translate_thread *thread = maker->threads[i];

		maker->err = encode(translate, thread);
		mark_given_back(thread);
		if (!maker->err)
			maker->err = encoder_take(&thread->encoder, maker->snapshot, thread->process->pid,
						  thread->tid, clock_ns(CLOCK_MONOTONIC));
	}
	return NULL;
}

static int start_maker(struct translate *translate, struct snapshot *snapshot)
{
	struct packet_maker *maker = &translate->maker;
	sigset_t all, before;

	*maker = (struct packet_maker){.snapshot = snapshot, .cnt = translate->thread_cnt};
	maker->threads = calloc(maker->cnt + 1, sizeof(struct translate_thread *));
	if (!maker->threads)
		return -ENOMEM;
	memcpy(maker->threads, translate->threads, maker->cnt * sizeof(struct translate_thread *));
	/* Signals are the main thread's, which they wake. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	maker->runs = !pthread_create(&maker->thread, NULL, make_packets, translate);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!maker->runs)
		make_packets(translate);
	return 0;
}

int translate_settle(struct translate *translate)
{
	struct packet_maker *maker = &translate->maker;
	pid_t tid = __atomic_load_n(&maker->tid, __ATOMIC_RELAXED);
	int err = 0;

	if (maker->runs && tid)
		hurry(tid);
	if (maker->runs)
		pthread_join(maker->thread, NULL);
	if (maker->threads) {
		err = maker->err;
		free(maker->threads);
		translate_forget_dead(translate);
	}
	*maker = (struct packet_maker){0};
	return err;
}

int translate_leave_slot(struct translate *translate, struct translate_thread *thread)
{
	int err = translate_settle(translate);

	translate_tell(translate, thread);
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
	int nice = hurry(0), err;

	translate_hold(translate);
	err = translate_settle(translate);
	setpriority(PRIO_PROCESS, 0, nice);
	return err;
}

/* Where more is to be recorded, threads of the target still wait. */
static int copy_rings(struct translate *translate)
{
	int nice = hurry(0), err = 0;

	for (size_t i = 0; i < translate->thread_cnt && !err; i++)
		if (!translate->threads[i]->dead)
			err = copy_ring(translate->threads[i]);
	set_hold(translate, 0);
	translate->is_held = false;
	setpriority(PRIO_PROCESS, 0, nice);
	return err;
}

int translate_take(struct translate *translate, struct snapshot *snapshot)
{
	int err = copy_rings(translate);

	for (size_t i = 0; i < translate->thread_cnt; i++)
		translate_tell(translate, translate->threads[i]);
	for (size_t i = 0; i < translate->process_cnt && !err; i++)
		if (translate->processes[i]->answers)
			err = answers_take(translate->processes[i]->answers, translate->sideband);
	return err ? err : start_maker(translate, snapshot);
}
