/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that end in all the ways there are, for triggers that judge them by their end. What is printed must
 * be the same with and without probes.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#define PLAIN extern "C" __attribute__((noinline, noclone))

static void nap(long ms)
{
	struct timespec time = {0, ms * 1000000};

	nanosleep(&time, nullptr);
}

/* ---- exceptions and longjmp ---- */

PLAIN int throws(int x)
{
	if (x % 3 == 0)
		throw std::runtime_error("x");
	return x + 1;
}

static jmp_buf way_back;

PLAIN int jumps(int x)
{
	if (x % 2)
		longjmp(way_back, 1);
	return x;
}

static int try_exceptions()
{
	volatile int sum = 0;

	for (int i = 0; i < 10; i++) {
		try {
			sum = sum + throws(i);
		} catch (const std::exception &) {
			sum = sum + 100;
		}
	}
	for (volatile int i = 0; i < 10; i = i + 1)
		sum = sum + (setjmp(way_back) ? 1000 : jumps(i));
	return sum;
}

/* ---- recursion, and frames ---- */

PLAIN int recurse(int depth)
{
	volatile char frame[200];

	memset((void *)frame, depth, sizeof(frame));
	return depth ? recurse(depth - 1) + (frame[7] == depth) : 0;
}

/* ---- tail calls: by code that says so, since compilers may do otherwise ---- */

PLAIN int slow_end(int ms)
{
	nap(ms);
	return ms + 1;
}

PLAIN int tail(int ms);
PLAIN int tail_if(int ms);
PLAIN int tail_by_pointer(int ms, int (*function)(int));
PLAIN int thunk(int ms);
PLAIN int loops(int count);
__asm__(".text\n"
	".macro begin name\n .globl \\name\n .type \\name, @function\n\\name:\n .cfi_startproc\n .endm\n"
	".macro end name\n .cfi_endproc\n .size \\name, . - \\name\n .endm\n"
	"begin tail\n inc %edi\n jmp slow_end\n end tail\n"
	"begin tail_if\n test %edi, %edi\n jg slow_end\n mov $-1, %eax\n ret\n end tail_if\n"
	"begin tail_by_pointer\n inc %edi\n jmp *%rsi\n end tail_by_pointer\n"
	"begin thunk\n jmp tail\n end thunk\n"
	/* It goes back to its own beginning, with one call. */
	"begin loops\n push %rdi\n .cfi_adjust_cfa_offset 8\n mov $1, %edi\n call slow_end\n pop %rdi\n .cfi_adjust_cfa_offset -8\n"
	" dec %edi\n jnz loops\n ret\n end loops\n");

static int try_tails()
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += tail(i == 2 ? 30 : 0) + thunk(i == 1 ? 30 : 0) + tail_if(i - 1) +
		       tail_by_pointer(0, slow_end);
	return sum + loops(30);
}

/* ---- an alternate stack, below or above the other one ---- */

static volatile int handled;

PLAIN int in_handler(int x)
{
	__asm__ volatile("");
	return x + 1;
}

static void handler(int)
{
	handled = in_handler(handled);
}

PLAIN int interrupted(int x)
{
	in_handler(x);
	raise(SIGUSR1);
	return in_handler(x);
}

static int try_signals()
{
	static char stack[1 << 16];
	stack_t alternate = {};
	struct sigaction action = {};

	alternate.ss_sp = stack;
	alternate.ss_size = sizeof(stack);
	sigaltstack(&alternate, nullptr);
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	for (int i = 0; i < 5; i++)
		interrupted(10);
	return handled;
}

/* ---- threads: each has calls in progress; one of them ends inside a call ---- */

PLAIN long threaded(long number, long ms)
{
	nap(ms);
	if (number == 3)
		pthread_exit(nullptr);
	return number;
}

static void *thread_main(void *number)
{
	long sum = 0;

	for (int i = 0; i < 4; i++)
		sum += threaded((long)number, (long)number == 2 && i == 3 ? 200 : 1);
	return (void *)sum;
}

static int try_threads()
{
	pthread_t threads[4];
	long sum = 0;

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], nullptr, thread_main, (void *)i);
	for (auto thread : threads) {
		void *result;

		pthread_join(thread, &result);
		sum += (long)result;
	}
	return (int)sum;
}

PLAIN __attribute__((noreturn)) void never(int status)
{
	exit(status);
}

/* ---- between two places ---- */

PLAIN void query_start(long number)
{
	__asm__ volatile("" ::"r"(number));
}

PLAIN void query_done(long number)
{
	__asm__ volatile("" ::"r"(number + 1));
}

static void *query_main(void *number)
{
	for (long i = 0; i < 5; i++) {
		query_start((long)number * 10 + i);
		nap((long)number == 1 && i == 2 ? 40 : 1);
		query_done(100 + i);
	}
	return nullptr;
}

static int try_queries()
{
	pthread_t threads[2];

	query_done(99);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], nullptr, query_main, (void *)i);
	for (auto thread : threads)
		pthread_join(thread, nullptr);
	return 2;
}

int main()
{
	printf("exceptions %d\n", try_exceptions());
	printf("recursion %d\n", recurse(20));
	printf("tails %d\n", try_tails());
	printf("signals %d\n", try_signals());
	printf("threads %d\n", try_threads());
	printf("queries %d\n", try_queries());
	fflush(stdout);
	never(7);
}
