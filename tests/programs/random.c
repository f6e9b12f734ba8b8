/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs random code: "random SEED FUNCTIONS" makes functions of random instructions and branches of all kinds,
 * and prints for each one a hash of the registers and flags behind most of its instructions, which depends on
 * nothing else: all addresses are the same each time. "random SEED FUNCTIONS I" prints those of function I.
 * "random SEED FUNCTIONS I ROUNDS" calls each one so often, with its code in a file: the
 * hash is that of all calls.
 *
 *	CODE_AT	what is called; for each function: routines, the function itself, more routines
 *	DATA_AT	counters of loops, targets of indirect branches, memory to calculate with
 *	LOG_AT	the registers: r15 is where the next ones go
 */
#define _GNU_SOURCE /* memfd_create */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_AT ((uint8_t *)0x30000000)
#define DATA_AT ((uint8_t *)0x31000000)
#define LOG_AT	((uint64_t *)0x32000000)

enum {
	CODE_SIZE = 8 << 20,
	DATA_SIZE = 1 << 20,
	LOG_SIZE = 32 << 20,
	ITEMS = 120,
	ROUTINES = 4,
	SNAPSHOT = 16, /* words */
	PENDING_MAX = 64,
	LABELS = 8,
	SCRATCH = 64,
};

struct pending {
	uint8_t *at; /* a displacement of 32 bits */
	int items;   /* it leads behind so many more; -1: to a routine that is still to come */
	int routine;
};

struct maker {
	uint8_t *at;
	uint8_t *data; /* next free */
	uint64_t state;
	struct pending pending[PENDING_MAX];
	int pending_cnt;
	uint8_t *labels[LABELS]; /* where the newest items begin */
	int item;
	uint8_t *routines[ROUTINES];
};

static unsigned int below(struct maker *maker, unsigned int end)
{
	maker->state ^= maker->state << 13;
	maker->state ^= maker->state >> 7;
	maker->state ^= maker->state << 17;
	return (unsigned int)((maker->state * 0x9e3779b97f4a7c15ull) >> 33) % end;
}

static void put(struct maker *maker, const void *bytes, size_t size)
{
	memcpy(maker->at, bytes, size);
	maker->at += size;
}

#define PUT(maker, ...) put(maker, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_32(struct maker *maker, uint32_t value)
{
	put(maker, &value, sizeof(value));
}

static void put_to(struct maker *maker, const uint8_t *to)
{
	put_32(maker, (uint32_t)(to - (maker->at + 4)));
}

static void set_to(uint8_t *at, const uint8_t *to)
{
	const uint32_t away = (uint32_t)(to - (at + 4));

	memcpy(at, &away, sizeof(away));
}

/* Neither rsp nor r15. */
static unsigned int any_register(struct maker *maker)
{
	unsigned int reg = below(maker, 14);

	return reg >= 4 ? reg + 1 : reg;
}

/* Prefixes, an opcode of two registers (0x100 and above: behind 0f), ModRM. Of 16 to 64 bits. */
static void put_two(struct maker *maker, unsigned int opcode, unsigned int reg, unsigned int rm)
{
	unsigned int size = below(maker, 4);

	if (size == 1)
		PUT(maker, 0x66);
	PUT(maker, (uint8_t)(0x40 | (size >= 2) << 3 | reg >> 3 << 2 | rm >> 3));
	if (opcode >= 0x100)
		PUT(maker, 0x0f);
	PUT(maker, (uint8_t)opcode, (uint8_t)(0xc0 | (reg & 7) << 3 | (rm & 7)));
}

static uint8_t *some_scratch(struct maker *maker)
{
	return DATA_AT + below(maker, SCRATCH) * 8;
}

/* ---- instructions ---- */

static void two_registers(struct maker *maker)
{
	static const unsigned int opcodes[] = {0x01,  0x09,  0x11,  0x19,  0x21,  0x29,	 0x31,	0x39,
					       0x85,  0x87,  0x89,  0x00,  0x10,  0x28,	 0x38,	0x1af,
					       0x1a3, 0x1ab, 0x1b3, 0x1bb, 0x1bc, 0x1bd, 0x1c1, 0x1b1,
					       0x1a5, 0x1ad, 0x1b6, 0x1b7, 0x1be, 0x1bf};

	put_two(maker, opcodes[below(maker, sizeof(opcodes) / sizeof(*opcodes))], any_register(maker),
		any_register(maker));
}

static void conditional(struct maker *maker)
{
	put_two(maker, (below(maker, 2) ? 0x140 : 0x190) + below(maker, 16), any_register(maker),
		any_register(maker));
}

static void one_register(struct maker *maker)
{
	static const uint8_t which[][2] = {{0xf7, 2}, {0xf7, 3}, {0xf7, 4}, {0xf7, 5}, {0xff, 0},
					   {0xff, 1}, {0xd3, 0}, {0xd3, 1}, {0xd3, 4}, {0xd3, 5},
					   {0xd3, 7}, {0xd3, 2}, {0xd1, 3}};
	const uint8_t *one = which[below(maker, sizeof(which) / sizeof(*which))];

	put_two(maker, one[0], one[1], any_register(maker));
}

static void immediate(struct maker *maker)
{
	unsigned int reg = any_register(maker);

	PUT(maker, (uint8_t)(0x48 | reg >> 3), 0x81, (uint8_t)(0xc0 | below(maker, 8) << 3 | (reg & 7)));
	put_32(maker, below(maker, 1u << 31));
}

static void lea(struct maker *maker)
{
	unsigned int reg = any_register(maker), base = any_register(maker), index = any_register(maker);

	PUT(maker, (uint8_t)(0x48 | reg >> 3 << 2 | index >> 3 << 1 | base >> 3), 0x8d,
	    (uint8_t)(0x84 | (reg & 7) << 3),
	    (uint8_t)(below(maker, 4) << 6 | (index & 7) << 3 | (base & 7)));
	put_32(maker, below(maker, 1u << 31));
}

static void flags(struct maker *maker)
{
	static const uint8_t which[] = {0xf5, 0xf8, 0xf9, 0x9e, 0x9f, 0x98, 0x99, 0x90};

	PUT(maker, which[below(maker, sizeof(which))]);
}

static void push_pop(struct maker *maker)
{
	unsigned int from = any_register(maker), to = any_register(maker);

	PUT(maker, (uint8_t)(0x40 | from >> 3), (uint8_t)(0x50 | (from & 7)), (uint8_t)(0x40 | to >> 3),
	    (uint8_t)(0x58 | (to & 7)));
}

/* Relative to rip. */
static void memory(struct maker *maker)
{
	static const uint8_t opcodes[] = {0x01, 0x03, 0x11, 0x1b, 0x29, 0x33, 0x39, 0x87, 0x89, 0x8b};
	unsigned int reg = any_register(maker);

	PUT(maker, (uint8_t)(0x48 | reg >> 3 << 2), opcodes[below(maker, sizeof(opcodes))],
	    (uint8_t)((reg & 7) << 3 | 5));
	put_to(maker, some_scratch(maker));
}

/* Below rsp. */
static void red_zone(struct maker *maker)
{
	unsigned int reg = any_register(maker);

	PUT(maker, (uint8_t)(0x48 | reg >> 3 << 2), below(maker, 2) ? 0x89 : 0x8b,
	    (uint8_t)((reg & 7) << 3 | 0x44), 0x24, (uint8_t)(-8 * (int)(1 + below(maker, 16))));
}

static void strings(struct maker *maker)
{
	PUT(maker, 0x48, 0x8d, 0x3d); /* lea rdi, [rip + ...] */
	put_to(maker, some_scratch(maker));
	PUT(maker, 0x48, 0x8d, 0x35); /* lea rsi */
	put_to(maker, some_scratch(maker));
	PUT(maker, 0xb9); /* mov ecx, */
	put_32(maker, below(maker, 9));
	PUT(maker, below(maker, 2) ? 0xf3 : 0xf2, (const uint8_t[]){0xa4, 0xaa, 0xa6, 0xae}[below(maker, 4)]);
}

static void plain(struct maker *maker)
{
	static void (*const kinds[])(struct maker *) = {
		two_registers, two_registers, conditional, one_register, immediate, lea,
		flags,	       push_pop,      memory,	   red_zone,	 strings};

	kinds[below(maker, sizeof(kinds) / sizeof(*kinds))](maker);
}

/* All registers and flags go to the log. */
static void snapshot(struct maker *maker)
{
	unsigned int at = 0;

	for (unsigned int reg = 0; reg < 15; reg++)
		if (reg != 4)
			PUT(maker, (uint8_t)(0x49 | reg >> 3 << 2), 0x89, (uint8_t)(0x47 | (reg & 7) << 3),
			    (uint8_t)(8 * at++));
	PUT(maker, 0x9c, 0x41, 0x8f, 0x47, (uint8_t)(8 * at)); /* pushfq; pop [r15 + ...] */
	PUT(maker, 0x4d, 0x8d, 0xbf);			       /* lea r15, [r15 + ...] */
	put_32(maker, SNAPSHOT * 8);
}

/* ---- branches ---- */

static void short_jump(struct maker *maker)
{
	uint8_t opcode =
		below(maker, 2) ? (uint8_t)(0x70 + below(maker, 16)) : (uint8_t)(0xe0 + below(maker, 4));
	uint8_t *behind;

	PUT(maker, opcode, 0);
	behind = maker->at;
	plain(maker);
	behind[-1] = (uint8_t)(maker->at - behind);
}

static void defer(struct maker *maker, int items, int routine)
{
	maker->pending[maker->pending_cnt++] =
		(struct pending){.at = maker->at, .items = items, .routine = routine};
	put_32(maker, 0);
}

static void jump_ahead(struct maker *maker)
{
	if (maker->pending_cnt >= PENDING_MAX / 2)
		return;
	if (below(maker, 4))
		PUT(maker, 0x0f, (uint8_t)(0x80 + below(maker, 16)));
	else
		PUT(maker, 0xe9);
	defer(maker, 1 + (int)below(maker, 6), 0);
}

static void jump_back(struct maker *maker)
{
	const uint32_t count = 1 + below(maker, 4);
	const uint8_t *label = maker->labels[below(maker, LABELS)];

	if (!label)
		return;
	memcpy(maker->data, &count, sizeof(count));
	PUT(maker, 0x81, 0x2d); /* sub dword [rip + ...], 1 */
	put_32(maker, (uint32_t)(maker->data - (maker->at + 8)));
	put_32(maker, 1);
	maker->data += 8;
	PUT(maker, 0x0f, 0x8f); /* jg */
	put_to(maker, label);
}

/* To the one behind, and back from there. */
static void jump_around(struct maker *maker)
{
	uint8_t *first, *middle, *out;

	PUT(maker, 0xe9, 0, 0, 0, 0);
	first = maker->at - 4;
	middle = maker->at;
	plain(maker);
	PUT(maker, 0xe9, 0, 0, 0, 0);
	out = maker->at - 4;
	set_to(first, maker->at);
	plain(maker);
	PUT(maker, 0xe9);
	put_to(maker, middle);
	set_to(out, maker->at);
}

static uint8_t *put_target(struct maker *maker, const void *target)
{
	const uint64_t addr = (uintptr_t)target;

	memcpy(maker->data, &addr, sizeof(addr));
	maker->data += 8;
	return maker->data - 8;
}

/* Each routine takes one word from the stack. */
static void call(struct maker *maker)
{
	unsigned int reg = any_register(maker);
	int routine = (int)below(maker, ROUTINES);

	PUT(maker, (uint8_t)(0x40 | reg >> 3), (uint8_t)(0x50 | (reg & 7))); /* push */
	switch (below(maker, 4)) {
	case 0:
		PUT(maker, 0xe8);
		put_to(maker, maker->routines[routine]);
		break;
	case 1:
		PUT(maker, 0xff, 0x15);
		put_to(maker, put_target(maker, maker->routines[routine]));
		break;
	case 2:
		PUT(maker, (uint8_t)(0x48 | reg >> 3 << 2), 0x8d, (uint8_t)((reg & 7) << 3 | 5));
		put_to(maker, maker->routines[routine]);
		PUT(maker, (uint8_t)(0x40 | reg >> 3), 0xff, (uint8_t)(0xd0 | (reg & 7)));
		break;
	default:
		if (maker->pending_cnt < PENDING_MAX) {
			PUT(maker, 0xe8);
			defer(maker, -1, routine);
		} else {
			PUT(maker, 0x48, 0x8d, 0x64, 0x24, 8); /* lea rsp, [rsp + 8] */
		}
	}
}

static void jump_indirect(struct maker *maker)
{
	unsigned int reg = any_register(maker);
	uint8_t *place;

	if (below(maker, 2)) {
		PUT(maker, 0xff, 0x25);
		put_to(maker, put_target(maker, maker->at + 4));
		return;
	}
	PUT(maker, (uint8_t)(0x48 | reg >> 3 << 2), 0x8d, (uint8_t)((reg & 7) << 3 | 5), 0, 0, 0, 0);
	place = maker->at - 4;
	if (below(maker, 2))
		PUT(maker, (uint8_t)(0x40 | reg >> 3), 0xff, (uint8_t)(0xe0 | (reg & 7)));
	else
		PUT(maker, (uint8_t)(0x40 | reg >> 3), (uint8_t)(0x50 | (reg & 7)), 0xc3);
	set_to(place, maker->at);
}

/* ---- functions ---- */

static void items_are_over(struct maker *maker, bool all)
{
	for (int i = 0; i < maker->pending_cnt; i++) {
		struct pending *pending = &maker->pending[i];

		if (pending->items < 0 || (--pending->items > 0 && !all))
			continue;
		set_to(pending->at, maker->at);
		*pending = maker->pending[--maker->pending_cnt];
		i--;
	}
}

static void make_item(struct maker *maker)
{
	static void (*const branches[])(struct maker *) = {
		short_jump, short_jump, jump_ahead, jump_ahead, jump_back, jump_around, call, jump_indirect};

	maker->labels[maker->item++ % LABELS] = maker->at;
	if (below(maker, 3))
		plain(maker);
	else
		branches[below(maker, sizeof(branches) / sizeof(*branches))](maker);
	items_are_over(maker, false);
	if (below(maker, 3))
		snapshot(maker);
}

static uint8_t *make_routine(struct maker *maker)
{
	uint8_t *start = maker->at;

	for (unsigned int i = below(maker, 4); i--;)
		below(maker, 3) ? plain(maker) : short_jump(maker);
	PUT(maker, 0xc2, 8, 0); /* ret 8 */
	return start;
}

static void make_beginning(struct maker *maker)
{
	const uint64_t log = (uintptr_t)LOG_AT;

	PUT(maker, 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41,
	    0x57); /* push rbx, rbp, r12 ... r15 */
	for (unsigned int reg = 0; reg < 15; reg++) {
		const uint64_t value =
			(uint64_t)below(maker, 1u << 31) << (below(maker, 2) ? 32 : 0) | below(maker, 16);

		if (reg == 4)
			continue;
		PUT(maker, (uint8_t)(0x48 | reg >> 3), (uint8_t)(0xb8 | (reg & 7)));
		put(maker, &value, sizeof(value));
	}
	PUT(maker, 0x49, 0xbf); /* mov r15, */
	put(maker, &log, sizeof(log));
	for (uint32_t i = 1; i <= 32; i++) {
		PUT(maker, 0x48, 0x89, 0x84, 0x24); /* mov [rsp - ...], rax */
		put_32(maker, -8 * i);
	}
	PUT(maker, 0x68); /* push; popfq */
	put_32(maker, (below(maker, 0x1000) & 0x8d5) | 2);
	PUT(maker, 0x9d);
}

static uint8_t *make_function(struct maker *maker)
{
	uint8_t *start;

	memset(maker->labels, 0, sizeof(maker->labels));
	for (int i = 0; i < ROUTINES; i++)
		maker->routines[i] = make_routine(maker);
	start = maker->at;
	make_beginning(maker);
	for (int i = 0; i < ITEMS; i++)
		make_item(maker);
	items_are_over(maker, true);
	snapshot(maker);
	PUT(maker, 0x4c, 0x89, 0xf8, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b,
	    0xc3); /* mov rax, r15; pop r15 ... rbx; ret */
	for (int i = 0; i < ROUTINES; i++) {
		uint8_t *routine = make_routine(maker);

		for (int j = 0; j < maker->pending_cnt; j++)
			if (maker->pending[j].routine == i)
				set_to(maker->pending[j].at, routine);
	}
	maker->pending_cnt = 0;
	return start;
}

static uint64_t hash(uint64_t result, const uint64_t *words, size_t cnt)
{
	while (cnt--)
		result = (result ^ *words++) * 0x100000001b3;
	return result;
}

static void show(const uint64_t *end)
{
	for (const uint64_t *at = LOG_AT; at < end; at += SNAPSHOT) {
		for (int i = 0; i < SNAPSHOT - 1; i++)
			printf("%llx ", (unsigned long long)at[i]);
		printf("\n");
	}
}

static void map(void *at, size_t size)
{
	if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != at)
		exit(77);
}

static void move_to_file(void *at, size_t size)
{
	int fd = memfd_create("code", MFD_CLOEXEC);

	if (fd < 0 || write(fd, at, size) != (ssize_t)size ||
	    mmap(at, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) != at)
		exit(77);
	close(fd);
}

/* Returns where its log ends. */
static const uint64_t *call_function(void *function, int rounds, uint64_t *ret_hash)
{
	const uint64_t *end = NULL;

	*ret_hash = 0xcbf29ce484222325;
	for (int i = 0; i < rounds; i++) {
		end = ((const uint64_t *(*)(void))function)();
		*ret_hash = hash(*ret_hash, LOG_AT, (size_t)(end - LOG_AT));
	}
	return end;
}

int main(int argc, char **argv)
{
	struct maker maker = {.at = CODE_AT, .data = DATA_AT + SCRATCH * 8 + 8};
	int cnt = argc > 2 ? atoi(argv[2]) : 0;
	int rounds = argc > 4 ? atoi(argv[4]) : 1;
	uint8_t **functions = calloc((size_t)cnt + 1, sizeof(*functions));
	uint64_t sum;

	if (argc < 3 || !functions)
		return 2;
	maker.state = (uint64_t)atoll(argv[1]) * 2 + 1;
	map(CODE_AT, CODE_SIZE);
	map(DATA_AT, DATA_SIZE);
	map(LOG_AT, LOG_SIZE);
	for (int i = 0; i < cnt && maker.at < CODE_AT + CODE_SIZE - 65536; i++)
		functions[i] = make_function(&maker);
	if (mprotect(CODE_AT, CODE_SIZE, PROT_READ | PROT_EXEC))
		return 1;
	if (rounds > 1)
		move_to_file(CODE_AT, CODE_SIZE);
	for (int i = 0; i < cnt && functions[i]; i++) {
		const uint64_t *end = call_function(functions[i], rounds, &sum);

		if (argc > 3 && atoi(argv[3]) == i)
			show(end);
		printf("%d %td %016llx\n", i, (end - LOG_AT) / SNAPSHOT, (unsigned long long)sum);
	}
	free(functions);
	return 0;
}
