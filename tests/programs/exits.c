/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends in the way its first argument says; copies its input before, if told to. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t got;

static void on_signal(int signal)
{
	got = signal;
}

__attribute__((noinline)) void marker(long value)
{
	__asm__ volatile("" ::"r"(value) : "memory");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "cat")) {
		int c;

		while ((c = getchar()) != EOF)
			putchar(c);
		fputs("to stderr\n", stderr);
		return 42;
	}
	if (!strcmp(how, "kill")) {
		raise(SIGKILL);
	} else if (!strcmp(how, "segv")) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	} else if (!strcmp(how, "mark")) {
		marker(12345);
		puts("after the mark");
		return 5;
	} else if (!strcmp(how, "wait")) {
		/*
		 * Ends by the signal that comes, and says which. None can slip in between the test and the
		 * wait.
		 */
		sigset_t mask, before;

		sigemptyset(&mask);
		sigaddset(&mask, SIGINT);
		sigaddset(&mask, SIGTERM);
		sigprocmask(SIG_BLOCK, &mask, &before);
		signal(SIGINT, on_signal);
		signal(SIGTERM, on_signal);
		puts("ready");
		fflush(stdout);
		while (!got)
			sigsuspend(&before);
		printf("signal %d\n", (int)got);
		return 6;
	} else if (!strcmp(how, "spin")) {
		/* Long enough to be caught in the middle. */
		volatile long sum = 0;

		puts("ready");
		fflush(stdout);
		for (long i = 0; i < atol(argv[2]); i++)
			sum = sum + i;
		printf("sum %ld\n", sum);
		return 7;
	}
	return 0;
}
