/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways that are taken often, and left now and then: "hot ROUNDS" calculates with loops in loops,
 * recursion, calls through pointers, returns to several callers and long jumps, and prints a number
 * that depends on all of it.
 *
 *	hot ROUNDS faults	now and then memory is read that is not there, in the middle of such a way
 *	hot ROUNDS ticks	a timer interrupts it every 300 us
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { PAGE = 4096, CELLS = 64 };

static uint64_t state = 88172645463325252u;
static volatile uint64_t *page;
static volatile sig_atomic_t ticks, faults;
static sigjmp_buf out;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

__attribute__((noinline)) static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b;
}

__attribute__((noinline)) static uint64_t mix(uint64_t a, uint64_t b)
{
	return (a ^ b) * 0x9e3779b97f4a7c15u;
}

__attribute__((noinline)) static uint64_t rare(uint64_t a, uint64_t b)
{
	return a % (b | 1);
}

static uint64_t (*volatile const operations[])(uint64_t, uint64_t) = {add, mix, rare};

__attribute__((noinline)) static uint64_t fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* An interpreter: mostly the same few in a row. */
__attribute__((noinline)) static uint64_t interpret(const uint8_t *code, unsigned int cnt, uint64_t value)
{
	for (unsigned int i = 0; i < cnt; i++) {
		switch (code[i]) {
		case 0:
			value += i;
			break;
		case 1:
			value ^= value >> 3;
			break;
		case 2:
			value *= 5;
			break;
		case 3:
			value = operations[i % 2](value, i);
			break;
		case 4:
			value = add(value, i);
			break;
		default:
			value = operations[2](value, i);
			break;
		}
	}
	return value;
}

__attribute__((noinline)) static uint64_t sort(uint64_t *cells)
{
	for (unsigned int i = 0; i < CELLS; i++)
		cells[i] = next() >> 40;
	for (unsigned int i = 1; i < CELLS; i++)
		for (unsigned int j = i; j && cells[j - 1] > cells[j]; j--) {
			uint64_t cell = cells[j];

			cells[j] = cells[j - 1];
			cells[j - 1] = cell;
		}
	return cells[CELLS / 2];
}

__attribute__((noinline)) static uint64_t read_page(unsigned int i)
{
	return page[i % 8];
}

/* A function that is one jump, to an instruction that may fault. */
uint64_t hop(const volatile uint64_t *from);
__asm__("	.text\nhop:	jmp behind_hop\n	ud2\nbehind_hop:	mov (%rdi), %rax\n	"
	"ret\n");
static uint64_t (*volatile const hops[])(const volatile uint64_t *) = {hop};

__attribute__((noinline)) static void leap(void)
{
	siglongjmp(out, 1);
}

__attribute__((noinline)) static void come_back(void)
{
	if (!sigsetjmp(out, 0))
		leap();
}

__attribute__((noinline)) static uint64_t round_of(unsigned int i, bool faulty)
{
	static const uint8_t code[] = {0, 1, 3, 2, 4, 3, 0, 1, 4, 4, 2, 5};
	uint64_t cells[CELLS], value = i;

	if (i % 97 == 0)
		come_back();
	value = interpret(code, i % 31 ? sizeof(code) - 1 : sizeof(code), value);
	if (i % 16 == 0)
		value += fibonacci(8 + i % 3);
	if (i % 64 == 0)
		value ^= sort(cells);
	for (unsigned int j = 0; j < 20; j++)
		value = operations[(i + j) % 50 == 0 ? 2 : j & 1](value,
								  i % 2 ? hops[0](page + j) : read_page(j));
	if (faulty && i % 25 == 23)
		mprotect((void *)page, PAGE, PROT_NONE);
	return value;
}

static void on_fault(int signal)
{
	(void)signal;
	faults++;
	mprotect((void *)page, PAGE, PROT_READ);
}

static void on_tick(int signal)
{
	(void)signal;
	ticks++;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 1000;
	bool faulty = argc > 2 && !strcmp(argv[2], "faults");
	const struct itimerval often = {{0, 300}, {0, 300}};
	uint64_t sum = 0;

	page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, on_fault);
	signal(SIGALRM, on_tick);
	if (argc > 2 && !faulty)
		setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned int i = 0; i < rounds; i++)
		sum = mix(sum, round_of(i, faulty));
	printf("%016llx, %d faults\n", (unsigned long long)sum, (int)faults);
	return ticks || argc < 3 || faulty ? 0 : 1;
}
