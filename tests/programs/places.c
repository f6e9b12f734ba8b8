/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions to be named in every way. tests/e2e/where.sh names lines: keep them where they are. */
#include <stdio.h>

#include "user/trailcam.h"

__attribute__((noinline)) static int twin(int x)
{
	__asm__ volatile("");
	return x * 3;
}

__attribute__((noinline)) int parse_head(int x)
{
	int head = twin(x);

	head += 4; /* line 17 */
	return head * x;
}

__attribute__((noinline)) int parse_tail(int x)
{
	__asm__ volatile("");
	return x + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	trailcam_snapshot(0, 5);
	printf("%d\n", parse_head(argc) + parse_tail(argc));
	return 0;
}
