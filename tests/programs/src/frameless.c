/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be built without frame pointers, which are used for other things: calls to a depth, through a library
 * that calls back, and a crash there if one is wanted.
 */
#include <stdlib.h>
#include <string.h>

static volatile int sum, wants_crash;

int leaf(int n);
int __attribute__((noinline)) leaf(int n)
{
	sum += n;
	__asm__ volatile("mov $0x1234567, %%rbp" ::: "rbp");
	return wants_crash ? *(volatile int *)16 : sum;
}

static int __attribute__((noinline)) middle(int n)
{
	char bytes[300];

	memset(bytes, n, sizeof(bytes));
	__asm__ volatile("xor %%ebp, %%ebp" ::"r"(bytes) : "memory", "rbp");
	return leaf(n) + bytes[5];
}

static int __attribute__((noinline)) recurse(int n)
{
	return n ? recurse(n - 1) + 1 : middle(n) * 2;
}

static int compare(const void *a, const void *b)
{
	return recurse(2) + *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int numbers[2] = {3, 1};

	wants_crash = argc > 1 && !strcmp(argv[1], "crash");
	qsort(numbers, 2, sizeof(*numbers), compare);
	return 0;
}
