/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates in every way that libc has, and says on standard output what a recording of all of it must hold:
 * "alloc WORDS" and "collect" in order. Its argument is
 *
 *	all, posix	every function; but for those that are glibc's only
 *	failures	what allocates nothing
 *	maps		memory from mmap(), by itself and through malloc()
 *	threads		several threads at once
 *	mix N		N calls of sizes up to 2 KB, half of which are freed much later
 *	forever		such calls, slowly
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000, KEPT = 1024 };

static char *volatile kept; /* what is allocated is seen by others: the compiler must leave it */
static volatile size_t too_much = PTRDIFF_MAX;

/* printf(3) would allocate. */
static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void say_alloc(size_t size)
{
	char line[32];

	snprintf(line, sizeof(line), "alloc %zu\n", size ? (size + 7) / 8 : 1);
	say(line);
}

static void *take(void *memory, size_t size)
{
	kept = memory;
	if (!memory)
		_exit(1);
	say_alloc(size);
	return memory;
}

static void give_back(void *memory)
{
	free(memory);
	say("collect\n");
}

static void each_way(void)
{
	void *memory = NULL, *other;

	give_back(take(malloc(100), 100));
	give_back(take(calloc(3, 7), 21));
	give_back(take(malloc(0), 0));
	give_back(take(aligned_alloc(64, 640), 640));
	give_back(take(memalign(64, 33), 33));
	if (posix_memalign(&memory, 128, 77))
		_exit(1);
	give_back(take(memory, 77));
	give_back(take(valloc(5000), 5000));
	give_back(take(reallocarray(NULL, 5, 9), 45));
	other = take(strdup("a text of 25 letters 1234"), 26);
	give_back(other);
}

static void glibc_ways(void)
{
	give_back(take(pvalloc(10), 10));
}

/* realloc() ends what it is given when it has something new. */
static void each_resize(void)
{
	static const size_t sizes[] = {10, 12, 300, 20, 1 << 20, 3 << 20, 40};
	void *memory = take(realloc(NULL, 8), 8);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memory = realloc(memory, sizes[i]);
		say("collect\n");
		take(memory, sizes[i]);
	}
	memory = reallocarray(memory, 6, 11);
	say("collect\n");
	take(memory, 66);
	give_back(memory);
}

static void failures(void)
{
	void *memory = NULL, *other = take(malloc(50), 50);

	if (malloc(too_much) || calloc(too_much, 4) || realloc(other, too_much) ||
	    reallocarray(other, too_much, 2) || aligned_alloc(64, too_much) ||
	    !posix_memalign(&memory, 3, 100) || !posix_memalign(&memory, 64, too_much))
		_exit(1);
	free(NULL);
	give_back(other);
}

static void *map(size_t size, int protection, int flags)
{
	return mmap(NULL, size, protection, MAP_PRIVATE | flags, -1, 0);
}

static void unmap(void *memory, size_t size)
{
	munmap(memory, size);
	say("collect\n");
}

static void maps(void)
{
	void *reserved = map(1 << 20, PROT_NONE, MAP_ANONYMOUS);
	void *memory = take(map(20000, PROT_READ | PROT_WRITE, MAP_ANONYMOUS), 20000);

	if (map(too_much, PROT_READ | PROT_WRITE, MAP_ANONYMOUS) != MAP_FAILED ||
	    map(4096, PROT_READ, 0) != MAP_FAILED ||
	    mremap(memory, 20000, too_much, MREMAP_MAYMOVE) != MAP_FAILED)
		_exit(1);
	memory = mremap(memory, 20000, 1 << 20, MREMAP_MAYMOVE);
	say("collect\n");
	unmap(take(memory, 1 << 20), 1 << 20);
	give_back(take(malloc(1 << 20), 1 << 20));
	munmap(reserved, 1 << 20);
}

static void *thread(void *ctx)
{
	char *memory[8] = {0};

	(void)ctx;
	for (size_t i = 0; i < ROUNDS; i++) {
		free(memory[i % 8]);
		memory[i % 8] = malloc(16 + i % 8 * 100);
		if (i % 3 == 0)
			memory[i % 8] = realloc(memory[i % 8], 64);
	}
	for (size_t i = 0; i < 8; i++)
		free(memory[i]);
	return NULL;
}

static void threads(void)
{
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
}

static void mix(long cnt)
{
	static void *later[KEPT];
	uint32_t number = 1;

	for (long i = 0; i < cnt; i++) {
		void *memory;

		number = number * 1664525 + 1013904223;
		memory = malloc(1 + (number >> 16) % 2048);
		if (number >> 31) {
			free(later[i % KEPT]);
			later[i % KEPT] = memory;
		} else {
			free(memory);
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";

	if (!strcmp(what, "failures"))
		return failures(), 3;
	if (!strcmp(what, "maps"))
		return maps(), 3;
	if (!strcmp(what, "threads"))
		return threads(), 0;
	if (!strcmp(what, "mix") && argc > 2)
		return mix(atol(argv[2])), 0;
	if (!strcmp(what, "forever"))
		for (;; usleep(1000))
			mix(10);
	each_way();
	each_resize();
	if (!strcmp(what, "all"))
		glibc_ways();
	return 3;
}
