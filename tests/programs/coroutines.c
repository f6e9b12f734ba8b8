/* SPDX-License-Identifier: BSD-2-Clause */
/* Two coroutines and main take turns, each on a stack of its own. */
#include <stdio.h>
#include <ucontext.h>

enum { TURNS = 3, STACK_BYTES = 64 << 10 };

static ucontext_t main_context, contexts[2];
static char stacks[2][STACK_BYTES];

__attribute__((noinline)) static void yield(int who)
{
	swapcontext(&contexts[who], &main_context);
}

__attribute__((noinline)) static void produce(int turn)
{
	printf("produce %d\n", turn);
	yield(0);
}

__attribute__((noinline)) static void producer(void)
{
	for (int turn = 0; turn < TURNS; turn++)
		produce(turn);
}

__attribute__((noinline)) static void consumer(void)
{
	for (int turn = 0; turn < TURNS; turn++) {
		printf("consume %d\n", turn);
		yield(1);
	}
}

__attribute__((noinline)) static void resume(int who)
{
	swapcontext(&main_context, &contexts[who]);
}

static void prepare(int who, void (*function)(void))
{
	getcontext(&contexts[who]);
	contexts[who].uc_stack.ss_sp = stacks[who];
	contexts[who].uc_stack.ss_size = STACK_BYTES;
	contexts[who].uc_link = &main_context;
	makecontext(&contexts[who], function, 0);
}

int main(void)
{
	prepare(0, producer);
	prepare(1, consumer);
	for (int turn = 0; turn <= TURNS; turn++) {
		resume(0);
		resume(1);
	}
	return 0;
}
