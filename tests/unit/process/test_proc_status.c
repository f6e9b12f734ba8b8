/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/proc_status.h"

enum { THREADS = 3 };

struct waiters {
	pthread_barrier_t begun, done;
	pid_t tids[THREADS];
	int cnt;
};

static void *wait_for_end(void *ctx)
{
	struct waiters *waiters = ctx;

	waiters->tids[__atomic_fetch_add(&waiters->cnt, 1, __ATOMIC_RELAXED)] = gettid();
	pthread_barrier_wait(&waiters->begun);
	pthread_barrier_wait(&waiters->done);
	return NULL;
}

static int count_in(DIR *dir, const pid_t *ids, int cnt)
{
	int found = 0;

	for (pid_t id; (id = proc_next(dir));)
		for (int i = 0; i < cnt; i++)
			found += id == ids[i];
	return found;
}

TEST(test_threads)
{
	CLEANUP(closedirp) DIR *threads = NULL;
	struct waiters waiters = {0};
	pthread_t handles[THREADS];
	pid_t self = getpid();

	pthread_barrier_init(&waiters.begun, NULL, THREADS + 1);
	pthread_barrier_init(&waiters.done, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&handles[i], NULL, wait_for_end, &waiters), 0);
	pthread_barrier_wait(&waiters.begun);
	threads = proc_threads(self);
	assert_non_null(threads);
	assert_int_equal(count_in(threads, waiters.tids, THREADS), THREADS);
	rewinddir(threads);
	assert_int_equal(count_in(threads, &self, 1), 1);
	pthread_barrier_wait(&waiters.done);
	for (int i = 0; i < THREADS; i++)
		pthread_join(handles[i], NULL);
}

TEST(test_processes)
{
	CLEANUP(closedirp) DIR *processes = opendir("/proc");
	const pid_t self = getpid();

	assert_int_equal(count_in(processes, &self, 1), 1);
}

/* A process that has ended has no threads, and none come after the last. */
TEST(test_ended)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_null(proc_threads(pid));
	assert_int_equal(proc_next(NULL), 0);
}

TEST_MAIN(NULL, NULL)
