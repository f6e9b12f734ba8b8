/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children do what their parent did before it forked them: `marks`, `nop` (a five-byte one, at the symbol
 * five_byte_nop) or `mallocs`. Says how many died.
 */
#include "user/trailcam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 200, TIMES = 20 };

static void mark(void)
{
	trailcam_snapshot(trailcam_mark_start(), 1);
}

__attribute__((noinline)) static void pass_nop(void)
{
	__asm__ volatile(".globl five_byte_nop\n"
			 "five_byte_nop: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" ::
				 : "memory");
}

static void allocate(void)
{
	void *volatile some = malloc(4000);

	free(some);
}

static int fork_one(void (*act)(void))
{
	int status = 0;
	pid_t child;

	for (int i = 0; i < TIMES; i++)
		act();
	child = fork();
	if (!child) {
		for (int i = 0; i < TIMES; i++)
			act();
		_exit(3);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "mallocs";
	void (*act)(void) = !strcmp(what, "marks") ? mark : !strcmp(what, "nop") ? pass_nop : allocate;
	int died = 0;

	for (int i = 0; i < CHILDREN; i++)
		died += !fork_one(act);
	printf("%d of %d children died\n", died, CHILDREN);
	return died != 0;
}
