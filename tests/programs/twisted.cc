// SPDX-License-Identifier: BSD-2-Clause
// Call stacks that are hard to follow. Each leaf is called in one way only, which its name says
// (tests/e2e/twisted.sh has the whole of it), and burns some time.
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNCTION extern "C" __attribute__((noinline))

static volatile unsigned long sink;

static long now()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000l + time.tv_nsec;
}

// Hardly any of it is in the clock's code. What it was called by ends with a call's return.
#define LEAF(name)                                              \
	FUNCTION void name()                                    \
	{                                                       \
		for (long end = now() + 40000000; now() < end;) \
			for (int i = 0; i < 20000; i++)         \
				sink += i;                      \
		sink++;                                         \
	}

LEAF(leaf_alloca)
LEAF(leaf_jumped)
LEAF(leaf_coroutine)
LEAF(leaf_handler)
LEAF(leaf_caught)
LEAF(leaf_destructor)
LEAF(leaf_big)
LEAF(leaf_small)
LEAF(leaf_vfork)
LEAF(leaf_even)
LEAF(leaf_deep)
LEAF(leaf_library)
LEAF(leaf_exit)
LEAF(leaf_aligned)

FUNCTION void with_alloca(int bytes)
{
	char *room = (char *)alloca(bytes);

	memset(room, 1, bytes);
	leaf_alloca();
	sink += room[bytes / 2];
}

static jmp_buf back;

FUNCTION void deeper(int depth)
{
	volatile char room[200] = {(char)depth};

	if (depth)
		deeper(depth - 1);
	else if (sink)
		longjmp(back, 1);
	sink += room[0];
}

FUNCTION void jumps()
{
	if (!setjmp(back))
		deeper(20);
	leaf_jumped();
	sink++;
}

static ucontext_t here, there;
static char room_of_coroutine[1 << 16];

FUNCTION void coroutine()
{
	for (int i = 0; i < 2; i++) {
		leaf_coroutine();
		swapcontext(&there, &here);
	}
}

FUNCTION void switches()
{
	getcontext(&there);
	there.uc_stack.ss_sp = room_of_coroutine;
	there.uc_stack.ss_size = sizeof(room_of_coroutine);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < 2; i++)
		swapcontext(&here, &there);
	sink++;
}

FUNCTION void handler(int)
{
	leaf_handler();
	sink++;
}

FUNCTION void signalled()
{
	stack_t stack = {};
	struct sigaction action = {};

	stack.ss_sp = malloc(1 << 16);
	stack.ss_size = 1 << 16;
	sigaltstack(&stack, nullptr);
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	raise(SIGUSR1);
	sink++;
}

struct guard {
	__attribute__((noinline)) ~guard()
	{
		leaf_destructor();
		sink++;
	}
};

FUNCTION void throws(int depth)
{
	if (!depth)
		throw std::runtime_error("thrown");
	throws(depth - 1);
	sink++;
}

FUNCTION void guarded()
{
	guard guard;

	throws(10);
	sink++;
}

FUNCTION void catches()
{
	try {
		guarded();
	} catch (std::exception &) {
		leaf_caught();
	}
	sink++;
}

FUNCTION void with_big_frame()
{
	volatile char room[200000];

	memset((void *)room, 3, sizeof(room));
	leaf_big();
	sink += room[1000];
}

static void *small(void *)
{
	leaf_small();
	sink++;
	return nullptr;
}

FUNCTION void small_threads()
{
	pthread_attr_t attributes;
	pthread_t threads[3];

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	for (pthread_t &thread : threads)
		pthread_create(&thread, &attributes, small, nullptr);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	sink++;
}

FUNCTION void vforks()
{
	pid_t pid = vfork();
	int status;

	if (!pid) {
		leaf_vfork();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	sink++;
}

FUNCTION void odd(int depth);

FUNCTION void even(int depth)
{
	if (depth)
		odd(depth - 1);
	else
		leaf_even();
	sink++;
}

FUNCTION void odd(int depth)
{
	even(depth - 1);
	sink += 2;
}

// Deeper than what is copied of a stack.
FUNCTION void deep(int depth)
{
	volatile char room[800] = {(char)depth};

	if (depth)
		deep(depth - 1);
	else
		leaf_deep();
	sink += room[0];
}

// What its code pushes no table tells.
FUNCTION void pushes()
{
	for (long end = now() + 40000000; now() < end;)
		asm volatile("sub $128, %%rsp\n"
			     "push %%rax\n"
			     "push %%rcx\n"
			     "mov $50000, %%ecx\n"
			     "1: dec %%ecx\n"
			     "jnz 1b\n"
			     "pop %%rcx\n"
			     "pop %%rax\n"
			     "add $128, %%rsp\n" ::
				     : "memory", "cc");
	sink++;
}

static int compare(const void *a, const void *b)
{
	leaf_library();
	return *(const int *)a - *(const int *)b;
}

FUNCTION void sorts()
{
	int numbers[] = {2, 1};

	qsort(numbers, 2, sizeof(*numbers), compare);
	sink++;
}

FUNCTION void aligned()
{
	alignas(64) volatile char room[64] = {1};

	leaf_aligned();
	sink += room[0];
}

FUNCTION void at_exit()
{
	leaf_exit();
	sink++;
}

int main()
{
	atexit(at_exit);
	for (int i = 0; i < 2; i++) {
		with_alloca(3000 + i);
		jumps();
		switches();
		aligned();
		signalled();
		catches();
		with_big_frame();
		small_threads();
		vforks();
		even(40);
		deep(60);
		pushes();
		sorts();
	}
	return 0;
}
