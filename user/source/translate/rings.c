/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the rings of threads to the packets of a snapshot. Copying the rings takes milliseconds, making
 * packets of millions of words seconds: a thread of our own does that while the program goes on.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "source/encoder_snapshot.h"
#include "source/translate/entries.h"
#include "source/translate/translate_internal.h"

const char *const give_back_reasons[] = {
	[GIVE_NOTHING] = "",
	[GIVE_UNKNOWN] = "it has come to an instruction that cannot be translated",
	[GIVE_REACH] = "its code refers to memory that is too far from the code cache",
	[GIVE_VSYSCALL] = "it calls the vsyscall page, whose calls the kernel makes in its place",
	[GIVE_MEMORY] = "there is no memory left for the code cache",
	[GIVE_GS] = "it uses the gs register",
	[GIVE_SECCOMP] = GIVE_SECCOMP_REASON,
	[GIVE_UNMAPPED] = "it has jumped to where there is no code",
	[GIVE_THREADS] = "the program has too many threads",
	[GIVE_TSC] = GIVE_TSC_REASON,
	[GIVE_PLACE] = "it maps memory in the place of trailcam's",
	[GIVE_TRAP] = "it single-steps itself",
	[GIVE_END] = "",
};
_Static_assert(ARRAY_SIZE(give_back_reasons) == GIVE_CNT, "one for each");

/* What the packet maker does next for a thread, or with an arena. */
struct packet_work {
	struct packet_work *next;
	struct thread_packets *packets; /* NULL: nothing needs the arena any more */
	struct arena *arena;
	struct ring_copy copy; /* NULL words: nothing to make packets of */
	struct code_changes changes;
	struct tsc_clock clock;
	bool begins;		   /* the words are of another program than those before */
	uint64_t ends_ns;	   /* CLOCK_MONOTONIC: what came behind them is not known; 0: it is */
	struct snapshot *snapshot; /* that takes the packets then; NULL: they are kept */
	pid_t pid, tid;		   /* of the thread */
};

static void work_free(struct packet_work *work)
{
	ring_copy_release(&work->copy);
	free(work->changes.times);
	free(work);
}

static struct packet_work *work_new(const struct translate_thread *thread)
{
	struct packet_work *work = calloc(1, sizeof(*work));

	if (work)
		*work = (struct packet_work){.packets = thread->packets,
					     .arena = thread->process->arena,
					     .pid = thread->process->pid,
					     .tid = thread->tid};
	return work;
}

/* ---- rings ---- */

/* What comes after a thread was given back is not known. */
static bool is_given_back(struct translate_thread *thread)
{
	const struct context *context = arena_context(thread->process->arena, thread->slot);

	if (thread->lost || !context->why || context->why >= GIVE_END)
		return false;
	thread->lost = true;
	return true;
}

static int note_reason(const struct translate *translate, const struct translate_thread *thread, uint64_t ns)
{
	const enum give_back why = arena_context(thread->process->arena, thread->slot)->why;
	char text[160];

	snprintf(text, sizeof(text), "it runs natively: %s", give_back_reasons[why]);
	return snapshot_add_gap_reason(translate->sideband, &(struct gap_reason){thread->tid, ns, text});
}

static int copy_ring(struct translate *translate, struct translate_thread *thread, struct packet_work *work)
{
	struct ring_copy *copy = &work->copy;
	int err;

	if (thread->slot < 0)
		return 0;
	err = arena_read_ring(thread->process->arena, thread->slot, thread->taken, copy);
	if (err)
		return err;
	copy->epoch_min = thread->epoch;
	copy->since_ns = thread->resumed_ns;
	thread->resumed_ns = 0;
	thread->taken = copy->end;
	thread->epoch = copy->epoch;
	work->begins = thread->begins;
	thread->begins = false;
	work->ends_ns = is_given_back(thread) ? clock_kernel_ns() : 0;
	if (work->ends_ns && note_reason(translate, thread, work->ends_ns))
		return -ENOMEM;
	work->clock = translate->clock = tsc_clock_since(&translate->start);
	return thread->process->answers ? answers_changes(thread->process->answers, &work->changes) : 0;
}

/* ---- priority ---- */

/*
 * While a thread of the target waits for us, we go before those that do not, if we may (CAP_SYS_NICE).
 * Returns the nice value before; setpriority(2) takes a thread's id.
 */
static int hurry(pid_t tid)
{
	enum { FIRST = -20 };
	int before = getpriority(PRIO_PROCESS, (id_t)tid);

	setpriority(PRIO_PROCESS, (id_t)tid, FIRST);
	return before;
}

/* ---- packets ---- */

enum { SHARED_LEAST = 1 << 16 }; /* words: some milliseconds */

/* Some work that is done side by side: of different threads. */
struct batch {
	struct packet_work *items[64];
	size_t cnt;
	struct word_sharing sharing;
};

static int make_packets(void *ctx, size_t i)
{
	const struct batch *batch = ctx;
	const struct packet_work *work = batch->items[i];
	struct encoder *encoder = &work->packets->encoder;
	int err = 0;

	if (work->begins) {
		encoder->psb_wanted = true;
		work->packets->end = (struct words_end){0};
	}
	if (work->copy.words)
		err = words_encode(work->arena, &work->copy, &work->clock, &work->changes, &batch->sharing,
				   &work->packets->end, encoder);
	if (work->ends_ns)
		encoder_overflow(encoder, work->ends_ns, 0);
	return err;
}

/* The next that can be done together; while nobody waits for it, the target needs the processors more. */
static void next_batch(const struct packet_maker *maker, struct batch *batch)
{
	size_t max = maker->is_waited_for ? ARRAY_SIZE(batch->items) : 1;

	batch->cnt = 0;
	batch->sharing.is_wanted = &maker->is_waited_for;
	batch->sharing.least = SHARED_LEAST;
	for (struct packet_work *work = maker->first; work && batch->cnt < max; work = work->next) {
		if (!work->packets || work->packets->in_batch)
			break;
		work->packets->in_batch = true;
		batch->items[batch->cnt++] = work;
	}
	batch->sharing.threads = parallel_cpu_cnt() / (batch->cnt ? batch->cnt : 1);
}

static int do_batch(struct batch *batch)
{
	int err = 0;

	for (size_t i = 0; i < batch->cnt && !err; i++)
		err = batch->items[i]->copy.words ? arena_index(batch->items[i]->arena) : 0;
	if (!err)
		err = parallel_for(batch->cnt, 0, make_packets, batch);
	for (size_t i = 0; i < batch->cnt; i++) {
		const struct packet_work *work = batch->items[i];

		if (!err && work->snapshot)
			err = encoder_take(&work->packets->encoder, work->snapshot, work->pid, work->tid,
					   clock_kernel_ns());
		work->packets->in_batch = false;
		__atomic_fetch_sub(&work->packets->pending, 1, __ATOMIC_RELEASE);
	}
	return err;
}

static size_t work_bytes(const struct packet_work *work)
{
	return work->copy.cnt * sizeof(uint32_t);
}

static bool frees_arena(const struct packet_work *work)
{
	return !work->packets;
}

/*
 * What is being done stays in the list until it is done. Work that is no thread's frees an arena. The
 * lock is held before and after.
 */
static void do_next(struct packet_maker *maker)
{
	struct batch batch;
	int err = 0;

	next_batch(maker, &batch);
	pthread_mutex_unlock(&maker->lock);
	if (batch.cnt)
		err = do_batch(&batch);
	else
		arena_free(maker->first->arena);
	pthread_mutex_lock(&maker->lock);
	maker->err = maker->err ? maker->err : err;
	for (size_t i = 0; i < batch.cnt || !i; i++) {
		struct packet_work *work = maker->first;

		maker->bytes -= work_bytes(work);
		maker->arena_cnt -= frees_arena(work);
		maker->first = work->next;
		work_free(work);
	}
	if (!maker->first)
		maker->end = &maker->first;
	pthread_cond_broadcast(&maker->changed);
}

static void *work_on(void *ctx)
{
	struct packet_maker *maker = ctx;

	pthread_mutex_lock(&maker->lock);
	maker->tid = gettid();
	while (maker->first || !maker->ends) {
		if (maker->first)
			do_next(maker);
		else
			pthread_cond_wait(&maker->changed, &maker->lock);
	}
	pthread_mutex_unlock(&maker->lock);
	return NULL;
}

void packet_maker_init(struct packet_maker *maker)
{
	pthread_mutex_init(&maker->lock, NULL);
	pthread_cond_init(&maker->changed, NULL);
	maker->end = &maker->first;
}

void packet_maker_release(struct packet_maker *maker)
{
	pthread_mutex_lock(&maker->lock);
	maker->ends = true;
	pthread_cond_broadcast(&maker->changed);
	pthread_mutex_unlock(&maker->lock);
	if (maker->runs)
		pthread_join(maker->thread, NULL);
	pthread_cond_destroy(&maker->changed);
	pthread_mutex_destroy(&maker->lock);
}

/* Signals are the main thread's, which they wake. */
static bool start_maker(struct packet_maker *maker)
{
	sigset_t all, before;

	if (maker->runs)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	maker->runs = !pthread_create(&maker->thread, NULL, work_on, maker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return maker->runs;
}

/* The target waits while there is more than that to be done. */
static bool is_full(const struct packet_maker *maker, const struct packet_work *work)
{
	enum { PENDING_MAX = 256 << 20, ARENAS_MAX = 16 };

	return maker->first && (maker->bytes + work_bytes(work) > PENDING_MAX ||
				(frees_arena(work) && maker->arena_cnt >= ARENAS_MAX));
}

static void hand_over(struct packet_maker *maker, struct packet_work *work)
{
	bool has_maker = start_maker(maker);

	if (work->packets)
		__atomic_fetch_add(&work->packets->pending, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&maker->lock);
	while (is_full(maker, work))
		pthread_cond_wait(&maker->changed, &maker->lock);
	*maker->end = work;
	maker->end = &work->next;
	maker->bytes += work_bytes(work);
	maker->arena_cnt += frees_arena(work);
	maker->makes_snapshot |= !!work->snapshot;
	if (!has_maker)
		do_next(maker);
	pthread_cond_broadcast(&maker->changed);
	pthread_mutex_unlock(&maker->lock);
}

int translate_settle(struct translate *translate)
{
	struct packet_maker *maker = &translate->maker;
	pid_t tid;
	int nice, err;

	pthread_mutex_lock(&maker->lock);
	tid = maker->first ? maker->tid : 0;
	nice = tid ? hurry(tid) : 0;
	__atomic_store_n(&maker->is_waited_for, true, __ATOMIC_RELAXED);
	while (maker->first)
		pthread_cond_wait(&maker->changed, &maker->lock);
	if (tid)
		setpriority(PRIO_PROCESS, (id_t)tid, nice);
	maker->is_waited_for = maker->makes_snapshot = false;
	err = maker->err;
	maker->err = 0;
	pthread_mutex_unlock(&maker->lock);
	translate_forget_dead(translate);
	return err;
}

int translate_leave_slot(struct translate *translate, struct translate_thread *thread)
{
	struct packet_work *work;
	int err;

	translate_tell(translate, thread);
	if (thread->next_slot >= 0 && thread->process->arena)
		arena_leave_slot(thread->process->arena, thread->next_slot);
	thread->next_slot = -1;
	if (thread->slot < 0)
		return 0;
	work = work_new(thread);
	err = work ? copy_ring(translate, thread, work) : -ENOMEM;
	if (work)
		hand_over(&translate->maker, work);
	arena_leave_slot(thread->process->arena, thread->slot);
	thread->slot = -1;
	return err;
}

int translate_leave_arena(struct translate *translate, struct arena *arena)
{
	struct packet_work *work = calloc(1, sizeof(*work));

	arena_let_go(arena);
	if (!work)
		return -ENOMEM;
	work->arena = arena;
	hand_over(&translate->maker, work);
	return 0;
}

/* ---- snapshots ---- */

void translate_resume(struct translate *translate)
{
	for (size_t i = 0; i < translate->thread_cnt; i++) {
		struct translate_thread *thread = translate->threads[i];

		if (thread->slot >= 0 && thread->taken &&
		    arena_written(thread->process->arena, thread->slot) == thread->taken)
			thread->resumed_ns = clock_kernel_ns();
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
	int nice = hurry(0), err = 0;

	translate_hold(translate);
	if (translate->maker.makes_snapshot)
		err = translate_settle(translate);
	setpriority(PRIO_PROCESS, 0, nice);
	return err;
}

/*
 * The work for the threads, in their order. Where more is to be recorded, threads of the target still wait.
 */
static int copy_rings(struct translate *translate, struct snapshot *snapshot, struct packet_work **works)
{
	int nice = hurry(0), err = 0;

	for (size_t i = 0; i < translate->thread_cnt && !err; i++) {
		struct translate_thread *thread = translate->threads[i];

		works[i] = work_new(thread);
		err = works[i] ? copy_ring(translate, thread, works[i]) : -ENOMEM;
		if (works[i])
			works[i]->snapshot = snapshot;
		thread->is_over = thread->dead;
	}
	set_hold(translate, 0);
	translate->is_held = false;
	setpriority(PRIO_PROCESS, 0, nice);
	return err;
}

int translate_take(struct translate *translate, struct snapshot *snapshot)
{
	CLEANUP(freep) struct packet_work **works = calloc(translate->thread_cnt + 1, sizeof(*works));
	int err = works ? copy_rings(translate, snapshot, works) : -ENOMEM;

	for (size_t i = 0; i < translate->thread_cnt; i++)
		translate_tell(translate, translate->threads[i]);
	for (size_t i = 0; i < translate->process_cnt && !err; i++)
		if (translate->processes[i]->answers)
			err = answers_take(translate->processes[i]->answers, translate->sideband);
	for (size_t i = 0; works && i < translate->thread_cnt && works[i]; i++)
		hand_over(&translate->maker, works[i]);
	return err;
}
