/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd all N: N threads at once, which wait until there is input, or its end; then comes the mark.
 * crowd each N: N threads, one after the other. Says how many did their part.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_BYTES = 64 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t did = PTHREAD_COND_INITIALIZER, over = PTHREAD_COND_INITIALIZER;
static long done;
static int is_over;

__attribute__((noinline)) void marker(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void do_part(void)
{
	pthread_mutex_lock(&lock);
	done++;
	pthread_cond_signal(&did);
	pthread_mutex_unlock(&lock);
}

static void *wait_for_all(void *arg)
{
	do_part();
	pthread_mutex_lock(&lock);
	while (!is_over)
		pthread_cond_wait(&over, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *go_at_once(void *arg)
{
	do_part();
	return arg;
}

static pthread_t start(void *(*run)(void *arg))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (pthread_create(&thread, &attr, run, NULL)) {
		perror("pthread_create");
		exit(1);
	}
	return thread;
}

static void run_all(long cnt)
{
	pthread_t *threads = calloc((size_t)cnt, sizeof(*threads));

	for (long i = 0; i < cnt; i++)
		threads[i] = start(wait_for_all);
	pthread_mutex_lock(&lock);
	while (done < cnt)
		pthread_cond_wait(&did, &lock);
	pthread_mutex_unlock(&lock);
	puts("ready");
	fflush(stdout);
	getchar();
	marker();
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_broadcast(&over);
	pthread_mutex_unlock(&lock);
	for (long i = 0; i < cnt; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

int main(int argc, char **argv)
{
	long cnt = argc > 2 ? atol(argv[2]) : 1;

	if (argc > 1 && !strcmp(argv[1], "all"))
		run_all(cnt);
	for (long i = 0; argc > 1 && !strcmp(argv[1], "each") && i < cnt; i++)
		pthread_join(start(go_at_once), NULL);
	printf("%ld did their part\n", done);
	return 0;
}
