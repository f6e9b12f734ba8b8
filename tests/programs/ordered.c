/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that compute are sent numbered signals by the one before them and by a timer, faster than they
 * can take them: into queues that are full, while they fault on purpose. Those of a sender come once each
 * and in order. Prints "right".
 */
#define _GNU_SOURCE /* pthread_sigqueue */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 3, KINDS = 2, AHEAD = 20 };

struct worker {
	pthread_t thread;
	int came[KINDS];
	int wrong, faults;
};

static struct worker workers[THREADS];
static __thread struct worker *self;
static __thread sigjmp_buf back;
static pthread_barrier_t barrier;
static int all;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	int kind = signal - SIGRTMIN;

	(void)context;
	self->wrong |= info->si_value.sival_int != self->came[kind] || info->si_pid != getpid();
	__atomic_store_n(&self->came[kind], info->si_value.sival_int + 1, __ATOMIC_RELAXED);
}

static void on_tick(int signal)
{
	(void)signal;
}

extern const char divides[], undefined[], trapped[];

/* Each tells where it was, and the breakpoint is passed once. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	const void *ip = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	self->faults++;
	self->wrong |= signal == SIGSEGV   ? info->si_addr != (void *)8
		       : signal == SIGTRAP ? ip != trapped
					   : info->si_addr != (signal == SIGFPE ? divides : undefined) ||
						     ip != info->si_addr;
	if (signal != SIGTRAP)
		siglongjmp(back, 1);
}

static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline, noclone)) static void fault(int kind)
{
	if (sigsetjmp(back, 1))
		return;
	switch (kind) {
	case 0:
		*(volatile int *)8 = 1;
		break;
	case 1:
		__asm__ volatile("xor %%ecx, %%ecx\n"
				 "divides: div %%ecx"
				 :
				 :
				 : "rax", "rcx", "rdx");
		break;
	case 2:
		__asm__ volatile("undefined: ud2");
		break;
	default:
		__asm__ volatile("int3\n"
				 "trapped:");
	}
}

static void *work(void *ctx)
{
	struct worker *next;
	sigset_t none;

	self = ctx;
	next = &workers[(self - workers + 1) % THREADS];
	sigemptyset(&none);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < all; i++) {
		for (int kind = 0; kind < KINDS; kind++) {
			while (i - __atomic_load_n(&next->came[kind], __ATOMIC_RELAXED) > AHEAD)
				sched_yield();
			while (pthread_sigqueue(next->thread, SIGRTMIN + kind,
						(union sigval){.sival_int = i}) == EAGAIN)
				sched_yield();
		}
		self->wrong |= fib(i % 10) != (int[]){0, 1, 1, 2, 3, 5, 8, 13, 21, 34}[i % 10];
		fault(i % 4);
	}
	for (int kind = 0; kind < KINDS; kind++)
		while (__atomic_load_n(&self->came[kind], __ATOMIC_RELAXED) < all)
			sched_yield();
	self->wrong |= pthread_sigmask(SIG_SETMASK, NULL, &none) || sigismember(&none, SIGTERM) ||
		       self->faults != all;
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	const struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART},
			       broken = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	const int faults[] = {SIGSEGV, SIGFPE, SIGILL, SIGTRAP};
	const struct itimerval often = {{0, 150}, {0, 150}};
	const struct rlimit few = {24, 24};
	int wrong = 0;

	all = argc > 1 ? atoi(argv[1]) : 1000;
	for (int kind = 0; kind < KINDS; kind++)
		sigaction(SIGRTMIN + kind, &action, NULL);
	sigaction(SIGALRM, &tick, NULL);
	for (int i = 0; i < 4; i++)
		sigaction(faults[i], &broken, NULL);
	setrlimit(RLIMIT_SIGPENDING, &few);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	puts("ready");
	fflush(stdout);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		wrong |= workers[i].wrong;
	}
	puts(wrong ? "wrong" : "right");
	return wrong;
}
