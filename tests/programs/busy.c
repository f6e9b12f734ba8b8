/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * busy FILE [THREADS [forks]]: threads that never stop working, and show it in FILE's counters, which it
 * maps: those of the threads, 8 bytes each; then how many children were forked (by the main thread, with
 * `forks`) and how many of them did not end as they should. It ends by a signal, or once FILE is gone.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 16, CHILD_STATUS = 7 };

static volatile uint64_t *counters;
static int thread_cnt = 1;

__attribute__((noinline)) uint64_t work(uint64_t number)
{
	for (int i = 0; i < 50; i++)
		number = number * 6364136223846793005u + 1442695040888963407u;
	return number;
}

__attribute__((noinline)) void rarely(uint64_t number)
{
	volatile uint64_t here = number;

	(void)here;
}

static void *turn(void *arg)
{
	const struct timespec moment = {.tv_nsec = 200000};
	uintptr_t nth = (uintptr_t)arg;
	uint64_t number = nth;

	for (;;) {
		char *text = malloc(200 + nth);

		number = work(number);
		sprintf(text, "%llu", (unsigned long long)number);
		free(text);
		counters[nth]++;
		if (counters[nth] % 16 == 0)
			nanosleep(&moment, NULL);
		if (counters[nth] % 256 == 0)
			rarely(counters[nth]);
	}
	return NULL;
}

static void fork_one(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(work(1) ? CHILD_STATUS : 0);
	waitpid(pid, &status, 0);
	counters[thread_cnt]++;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != CHILD_STATUS)
		counters[thread_cnt + 1]++;
}

int main(int argc, char **argv)
{
	const struct timespec moment = {.tv_nsec = 2000000};
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	size_t bytes;

	thread_cnt = argc > 2 ? atoi(argv[2]) : 1;
	bytes = (size_t)(thread_cnt + 2) * sizeof(*counters);
	if (fd < 0 || thread_cnt < 1 || thread_cnt > THREADS_MAX || ftruncate(fd, (off_t)bytes))
		return 2;
	counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counters == MAP_FAILED)
		return 2;
	for (uintptr_t i = 0; i < (uintptr_t)thread_cnt; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, turn, (void *)i))
			return 2;
	}
	while (!access(argv[1], F_OK)) {
		if (argc > 3)
			fork_one();
		nanosleep(&moment, NULL);
	}
	return 0;
}
