/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that does nothing else sends numbered signals, of several kinds that queue, to one that computes:
 * each comes once. "ready" says that it has begun; "right" comes at the end.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS = 6, NUMBERS_MAX = 1 << 20, AHEAD = 100 };

static volatile unsigned char times[NUMBERS_MAX];
static int *cnt; /* shared: the kernel is slow where many wait */

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	times[info->si_value.sival_int]++;
	__atomic_add_fetch(cnt, 1, __ATOMIC_RELAXED);
}

static void send_all(pid_t to, int all)
{
	for (int i = 0; i < all; i++) {
		while (i - __atomic_load_n(cnt, __ATOMIC_RELAXED) > AHEAD && getppid() == to)
			sched_yield();
		while (sigqueue(to, SIGRTMIN + i % KINDS, (union sigval){.sival_int = i}) && errno == EAGAIN)
			sched_yield();
		for (volatile int j = 0; j < i % 7 * 1000; j++)
			;
	}
	_exit(0);
}

static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	const int all = argc > 1 ? atoi(argv[1]) : 1000;
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	int wrong = 0;
	pid_t child;

	cnt = mmap(NULL, sizeof(*cnt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < KINDS; i++)
		sigaction(SIGRTMIN + i, &action, NULL);
	puts("ready");
	fflush(stdout);
	child = fork();
	if (!child)
		send_all(getppid(), all);
	while (!waitpid(child, NULL, WNOHANG))
		wrong |= fib(15) != 610;
	/* Those that still wait. */
	for (int i = 0; i < 100; i++)
		wrong |= fib(20) != 6765;
	for (int i = 0; i < all; i++)
		wrong |= times[i] != 1;
	puts(wrong ? "wrong" : "right");
	if (wrong)
		printf("%d of %d\n", *cnt, all);
	return wrong;
}
