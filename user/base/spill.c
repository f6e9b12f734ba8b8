/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A header before each array says where it is stored. In a file, space is allocated before it is touched, so
 * that a full disk is an error, not a signal. Arrays of many megabytes in memory are mappings aligned to huge
 * pages: one page fault each 2 MB in place of 512, and growth moves entries of page tables, not bytes.
 */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/temporary.h"
#include "base/write_all.h"

enum { LARGE = 1 << 20, HUGE_PAGE = 2 << 20, MAPPED = 4 << 20, MUCH = 16 << 20, STEP = 64 << 20 };

struct header {
	size_t bytes; /* with the header */
	int fd;	      /* -1: it lies in memory */
	char pad[64 - sizeof(size_t) - sizeof(int)];
};

_Static_assert(sizeof(struct header) == 64, "items are as aligned as a cache line");

static atomic_size_t memory = SPILL_MEMORY;
static atomic_size_t in_memory; /* of large arrays */

void spill_set_memory(size_t bytes)
{
	memory = bytes;
}

size_t spill_memory(void)
{
	return memory;
}

bool spill_is_tight(void)
{
	return spill_is_tight_with(LARGE);
}

bool spill_is_tight_with(size_t bytes)
{
	return bytes >= LARGE && in_memory + bytes > memory / 4 * 3;
}

static struct header *header_of(void *items)
{
	return items ? (struct header *)items - 1 : NULL;
}

static bool is_mapped(size_t bytes)
{
	return bytes >= MAPPED;
}

static size_t mapped_bytes(size_t bytes)
{
	return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

/* The memory of an array of so many bytes. */
static void free_memory(struct header *header, size_t bytes)
{
	if (is_mapped(bytes))
		munmap(header, mapped_bytes(bytes));
	else
		free(header);
}

static size_t counted(size_t bytes)
{
	return bytes >= LARGE ? bytes : 0;
}

/* ---- files ---- */

/* What is in memory moves to a file. NULL: it cannot. */
static struct header *to_file(struct header *old, size_t old_bytes, size_t bytes)
{
	struct header *header = MAP_FAILED;
	int fd = temporary_open();

	/* Written, not copied into the mapping, which would have it in memory twice. */
	if (fd >= 0 && !posix_fallocate(fd, 0, (off_t)bytes) &&
	    !write_all(fd, (const uint8_t *)old, old_bytes))
		header = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED) {
		log_debug("cannot make a file of %zu bytes in %s: the array stays in memory", bytes,
			  temporary_directory());
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	log_debug("a long array of the timeline continues in a file in %s", temporary_directory());
	header->bytes = bytes;
	header->fd = fd;
	free_memory(old, old_bytes);
	in_memory -= counted(old_bytes);
	return header;
}

static struct header *grow_file(struct header *old, size_t bytes)
{
	struct header *header;
	size_t old_bytes = old->bytes;

	if (posix_fallocate(old->fd, 0, (off_t)bytes))
		return NULL;
	header = mremap(old, old_bytes, bytes, MREMAP_MAYMOVE);
	if (header == MAP_FAILED)
		return NULL;
	header->bytes = bytes;
	/* What came long before will hardly be needed soon. */
	spill_let_go(header + 1, 0, old_bytes > STEP ? old_bytes - STEP : 0);
	return header;
}

/* ---- memory ---- */

/* So many bytes, whole huge pages where the system has them. NULL: there is no room. */
static void *map_aligned(size_t bytes)
{
	size_t head;
	char *map = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	head = -(uintptr_t)map % HUGE_PAGE;
	if (head)
		munmap(map, head);
	munmap(map + head + bytes, HUGE_PAGE - head);
	madvise(map + head, bytes, MADV_HUGEPAGE);
	return map + head;
}

static struct header *grow_mapped(struct header *old, size_t old_bytes, size_t bytes)
{
	size_t whole = mapped_bytes(bytes);
	void *map = map_aligned(whole);

	if (!map)
		return NULL;
	if (!is_mapped(old_bytes)) {
		if (old)
			memcpy(map, old, old_bytes);
		free(old);
		return map;
	}
	if (mremap(old, mapped_bytes(old_bytes), whole, MREMAP_MAYMOVE | MREMAP_FIXED, map) == MAP_FAILED) {
		munmap(map, whole);
		return NULL;
	}
	return map;
}

static struct header *grow_memory(struct header *old, size_t old_bytes, size_t bytes)
{
	struct header *header = is_mapped(bytes) ? grow_mapped(old, old_bytes, bytes) : realloc(old, bytes);

	if (!header)
		return NULL;
	header->bytes = bytes;
	header->fd = -1;
	in_memory += counted(bytes) - counted(old_bytes);
	return header;
}

/* ---- arrays ---- */

static struct header *resize(struct header *old, size_t bytes)
{
	size_t old_bytes = old ? old->bytes : 0;
	struct header *header = NULL;

	if (old && old->fd >= 0)
		return grow_file(old, bytes);
	if (bytes >= LARGE && in_memory + bytes - counted(old_bytes) > memory)
		header = to_file(old, old_bytes, bytes);
	return header ? header : grow_memory(old, old_bytes, bytes);
}

/* Files grow by steps, memory doubles; much of it grows by a quarter, since it is moved page by page. */
static size_t cap_for(const struct header *header, size_t cap, size_t want, size_t size)
{
	size_t grown = cap ? cap : 16;

	if (header && header->fd >= 0)
		return want + STEP / size;
	if (header && header->bytes >= MUCH)
		return want + want / 4;
	while (grown < want)
		if (__builtin_mul_overflow(grown, (size_t)2, &grown))
			return SIZE_MAX;
	return grown;
}

int spill_reserve(void *items_ptr, size_t *cap, size_t want, size_t size)
{
	void **items = items_ptr;
	struct header *header = header_of(*items);
	size_t grown, bytes;

	if (want <= *cap && *items)
		return 0;
	grown = cap_for(header, *cap, want, size);
	if (__builtin_mul_overflow(grown, size, &bytes) || bytes > SIZE_MAX / 2)
		return -ENOMEM;
	header = resize(header, sizeof(*header) + bytes);
	if (!header)
		return -ENOMEM;
	*items = header + 1;
	*cap = grown;
	return 0;
}

int spill_drop(void *items_ptr, size_t *cnt, size_t *cap, size_t drop, size_t size)
{
	void **items = items_ptr, *rest = NULL;
	size_t rest_cap = 0, left = *cnt - drop;

	if (spill_reserve(&rest, &rest_cap, left + 1, size))
		return -ENOMEM;
	if (left)
		memcpy(rest, (const char *)*items + drop * size, left * size);
	spill_free(*items);
	*items = rest;
	*cnt = left;
	*cap = rest_cap;
	return 0;
}

void spill_free(void *items)
{
	struct header *header = header_of(items);
	int fd = header ? header->fd : -1;

	if (!header)
		return;
	if (fd < 0) {
		in_memory -= counted(header->bytes);
		free_memory(header, header->bytes);
		return;
	}
	munmap(header, header->bytes);
	close(fd);
}

void spill_let_go(void *items, size_t from, size_t to)
{
	struct header *header = header_of(items);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!header || header->fd < 0)
		return;
	from = (from + sizeof(*header) + page - 1) / page * page;
	to = to < header->bytes - sizeof(*header) ? (to + sizeof(*header)) / page * page : header->bytes;
	if (to > from)
		madvise((char *)header + from, to - from, MADV_DONTNEED);
}
