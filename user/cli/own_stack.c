/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libdw recurses over debug information, and stacks have the size of `ulimit -s`. If that is small,
 * everything runs in a second thread with a larger stack. The first thread only waits, with all signals
 * blocked, so that the other one receives them.
 */
#include "cli/own_stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

enum { STACK_BYTES = 8 << 20 };

struct call {
	int (*fn)(int argc, char **argv);
	int argc, status;
	char **argv;
	sigset_t mask;
};

static void *run(void *arg)
{
	struct call *call = arg;

	pthread_sigmask(SIG_SETMASK, &call->mask, NULL);
	call->status = call->fn(call->argc, call->argv);
	return NULL;
}

static bool is_large_enough(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_BYTES;
}

int own_stack_run(int (*fn)(int argc, char **argv), int argc, char **argv)
{
	struct call call = {.fn = fn, .argc = argc, .argv = argv};
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	int err;

	if (is_large_enough())
		return fn(argc, argv);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_setattr_default_np(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &call.mask);
	err = pthread_create(&thread, &attributes, run, &call);
	pthread_attr_destroy(&attributes);
	if (!err) {
		pthread_join(thread, NULL);
		return call.status;
	}
	/* Without memory for that, uses the current stack. */
	pthread_sigmask(SIG_SETMASK, &call.mask, NULL);
	return fn(argc, argv);
}
