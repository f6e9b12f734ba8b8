/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop over independent jobs. Threads take the next index from one counter, so that a long job does not
 * hold up the others; there is no queue. The calling thread works too.
 */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/error.h"

enum { THREADS_MAX = 256 };

struct loop {
	size_t cnt;
	int (*job)(void *ctx, size_t i);
	void *ctx;
	atomic_size_t next;
	pthread_mutex_t lock; /* guards the three below */
	int err;
	size_t err_index;
	char message[1024];
};

unsigned int parallel_cpu_cnt(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set) > 0 ? (unsigned int)CPU_COUNT(&set) : 1;
}

static void loop_failed(struct loop *loop, size_t i, int err)
{
	pthread_mutex_lock(&loop->lock);
	if (!loop->err || i < loop->err_index) {
		loop->err = err;
		loop->err_index = i;
		snprintf(loop->message, sizeof(loop->message), "%s", fail_message(err));
	}
	pthread_mutex_unlock(&loop->lock);
	atomic_store(&loop->next, loop->cnt);
}

static void *loop_work(void *arg)
{
	struct loop *loop = arg;
	size_t i;

	while ((i = atomic_fetch_add(&loop->next, 1)) < loop->cnt) {
		int err;

		fail_reset();
		err = loop->job(loop->ctx, i);
		if (err)
			loop_failed(loop, i, err);
	}
	return NULL;
}

int parallel_for(size_t cnt, unsigned int threads, int (*job)(void *ctx, size_t i), void *ctx)
{
	struct loop loop = {.cnt = cnt, .job = job, .ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t ids[THREADS_MAX];
	unsigned int started = 0;

	if (!threads)
		threads = parallel_cpu_cnt();
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	while (started + 1 < threads && started + 1 < cnt) {
		/* Fewer threads than asked for is slower, not wrong. */
		if (pthread_create(&ids[started], NULL, loop_work, &loop))
			break;
		started++;
	}
	loop_work(&loop);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	pthread_mutex_destroy(&loop.lock);
	if (loop.err)
		return fail(loop.err, "%s", loop.message);
	return 0;
}
