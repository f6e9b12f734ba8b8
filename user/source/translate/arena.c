/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring is read while its thread goes on. What that has overwritten meanwhile is left out: the oldest words
 * of the copy.
 */
#include "source/translate/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "process/proc_status.h"
#include "source/translate/runtime_file.h"

static struct shared *writable(const struct arena *arena)
{
	return (struct shared *)arena->bytes;
}

const struct shared *arena_shared(const struct arena *arena)
{
	return writable(arena);
}

const struct runtime_header *arena_header(const struct arena *arena)
{
	return (const struct runtime_header *)(arena->bytes + ARENA_CODE);
}

const struct block *arena_block(const struct arena *arena, uint32_t number)
{
	return (const struct block *)(arena->bytes + ARENA_BLOCKS) + number % BLOCKS_MAX;
}

const struct site *arena_site(const struct arena *arena, uint32_t number)
{
	return (const struct site *)(arena->bytes + ARENA_SITES) + number % SITES_MAX;
}

struct context *arena_context(const struct arena *arena, int slot)
{
	return (struct context *)(arena->bytes +
				  (slot_address(arena->ring_size, (uint32_t)slot) - ARENA_BASE));
}

static pthread_mutex_t *tracer_mutex(const struct arena *arena)
{
	return (pthread_mutex_t *)writable(arena)->tracer;
}

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(((struct shared *)NULL)->tracer), "there is room");

/* Held by this thread: the kernel tells the runtime of its death. */
static void hold_mutex(struct arena *arena)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(tracer_mutex(arena), &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_mutex_lock(tracer_mutex(arena));
	arena->is_held = true;
}

int arena_new(struct arena **ret_arena, int fd, uint32_t slot_cnt, uint64_t ring_size)
{
	CLEANUP(arena_freep) struct arena *arena = calloc(1, sizeof(*arena));

	if (!arena) {
		close(fd);
		return -ENOMEM;
	}
	arena->fd = fd;
	arena->slot_cnt = slot_cnt;
	arena->ring_size = ring_size;
	if (ftruncate(arena->fd, (off_t)arena_size(arena)))
		return fail_errno(-errno, "cannot make memory to share with the program");
	arena->bytes = mmap(NULL, arena_size(arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    arena->fd, 0);
	if (arena->bytes == MAP_FAILED) {
		arena->bytes = NULL;
		return fail_errno(-errno, "cannot map memory to share with the program");
	}
	memcpy(arena->bytes + ARENA_CODE, runtime_file_begin,
	       (size_t)(runtime_file_end - runtime_file_begin));
	writable(arena)->runtime = ARENA_BASE + ARENA_CODE;
	writable(arena)->slot_cnt = slot_cnt;
	writable(arena)->ring_size = ring_size;
	writable(arena)->hash_size = HASH_SIZE_MIN;
	writable(arena)->raised[0].resource = RLIMIT_AS;
	writable(arena)->raised[1].resource = RLIMIT_DATA;
	hold_mutex(arena);
	*ret_arena = TAKE_PTR(arena);
	return 0;
}

void arena_let_go(struct arena *arena)
{
	if (!arena->is_held)
		return;
	arena_leave(arena);
	pthread_mutex_unlock(tracer_mutex(arena));
	arena->is_held = false;
}

void arena_free(struct arena *arena)
{
	arena_let_go(arena);
	if (arena->bytes)
		munmap(arena->bytes, arena_size(arena));
	closep(&arena->fd);
	hash_index_release(&arena->by_guest);
	free(arena);
}

/* ---- slots ---- */

int arena_take_slot(struct arena *arena, pid_t pid, pid_t tid)
{
	for (int slot = 0; slot < (int)arena->slot_cnt; slot++) {
		struct context *context = arena_context(arena, slot);

		if (!slot_take(context))
			continue;
		slot_prepare(context, slot_address(arena->ring_size, (uint32_t)slot), writable(arena),
			     arena_header(arena), pid, tid);
		/* It executes nothing of the cache before it has come to the runtime. */
		context->in_call = 1;
		return slot;
	}
	return -1;
}

void arena_has_huge_pages(struct arena *arena)
{
	writable(arena)->has_huge_pages = 1;
}

void arena_time_calls(struct arena *arena)
{
	writable(arena)->times_calls = 1;
}

void arena_has_locks(struct arena *arena)
{
	writable(arena)->locks_new = 1;
}

void arena_ran_before(struct arena *arena)
{
	writable(arena)->ran_before = 1;
}

void arena_hold(struct arena *arena, uint32_t number)
{
	__atomic_store_n(&writable(arena)->hold, number, __ATOMIC_RELEASE);
}

int arena_slot_at(const struct arena *arena, uint64_t addr)
{
	uint64_t away = addr - slot_address(arena->ring_size, 0), size = arena->ring_size + SLOT_SIZE;

	return away < arena->slot_cnt * size && !(away % size) ? (int)(away / size) : -1;
}

void arena_leave(struct arena *arena)
{
	uint32_t *leave = &writable(arena)->leave;

	if (!*leave)
		__atomic_store_n(leave, GIVE_END, __ATOMIC_RELEASE);
}

void arena_leave_slot(struct arena *arena, int slot)
{
	arena_context(arena, slot)->tid = 0;
}

static void append(struct context *context, uint32_t word)
{
	int64_t *pos = context->held_pos ? &context->held_pos : &context->pos;

	memcpy((uint8_t *)context + *pos, &word, sizeof(word));
	*pos += (int64_t)sizeof(word);
	if (*pos)
		return;
	*pos = context->ring_start;
	context->laps = ++context->laps_next;
}

void arena_append(struct arena *arena, int slot, uint64_t addr, uint32_t tag)
{
	struct context *context = arena_context(arena, slot);

	append(context, (uint32_t)addr);
	append(context, (uint32_t)(addr >> 32));
	append(context, tag);
}

void arena_append_steps(struct arena *arena, int slot, const struct host_place *place)
{
	const struct trace_step *steps = arena_steps(arena, place->block);

	for (unsigned int i = 0; steps && i < place->step; i++)
		if (steps[i].word != NO_WORD)
			append(arena_context(arena, slot), steps[i].word);
}

uint64_t arena_probe(const struct arena *arena, uint64_t number)
{
	return ((const uint64_t *)(arena->bytes + ARENA_PROBES))[number];
}

bool arena_is_ours(const struct arena *arena, uint64_t addr)
{
	const struct shared *all = arena_shared(arena);

	if ((addr >= ARENA_BASE && addr < ARENA_BASE + arena_size(arena)) ||
	    (addr >= NOPS_AT && addr < NOPS_AT + NOPS_MAX * NOP_SIZE))
		return true;
	for (uint32_t i = 0; i < all->region_cnt && i < REGIONS_MAX; i++)
		if (addr - all->regions[i].start < REGION_SIZE)
			return true;
	return false;
}

/* ---- limits ---- */

void arena_raise_limits(struct arena *arena, pid_t pid)
{
	for (size_t i = 0; i < LIMITS_CNT; i++) {
		struct raised *raised = &writable(arena)->raised[i];
		struct rlimit limit;

		if (prlimit(pid, raised->resource, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY)
			continue;
		raised->by = raised->resource == RLIMIT_AS ? arena_size(arena) : 0;
		limit = (struct rlimit){limit_raised(limit.rlim_cur, raised->by),
					limit_raised(limit.rlim_max, LIMIT_ROOM)};
		raised->is_raised = !prlimit(pid, raised->resource, &limit, NULL);
	}
}

bool arena_own_limit(const struct arena *arena, pid_t pid, size_t nth, struct own_limit *ret_limit)
{
	const struct raised *raised = &arena_shared(arena)->raised[nth];
	struct rlimit limit;

	if (!raised->is_raised || proc_limit(pid, raised->resource, &limit))
		return false;
	*ret_limit = (struct own_limit){.resource = raised->resource,
					.limit = {limit_lowered(limit.rlim_cur, raised->by),
						  limit_lowered(limit.rlim_max, LIMIT_ROOM)}};
	return true;
}

/* ---- rings ---- */

void ring_copy_release(struct ring_copy *copy)
{
	free(copy->words);
}

static uint64_t ring_size(const struct context *context)
{
	return (uint64_t)-context->ring_start;
}

/* Bytes that were written, or some less. */
static uint64_t written(const struct context *context)
{
	for (;;) {
		uint64_t laps = __atomic_load_n(&context->laps, __ATOMIC_ACQUIRE);
		int64_t held = __atomic_load_n(&context->held_pos, __ATOMIC_ACQUIRE);
		int64_t pos = held ? held : __atomic_load_n(&context->pos, __ATOMIC_ACQUIRE);

		if (laps == __atomic_load_n(&context->laps, __ATOMIC_ACQUIRE))
			return laps * ring_size(context) + (uint64_t)pos + ring_size(context);
	}
}

/* While its ring is held, the thread goes back again and again. */
static bool is_held(const struct arena *arena, const struct context *context)
{
	uint32_t hold = arena_shared(arena)->hold;

	return hold && __atomic_load_n(&context->hold, __ATOMIC_ACQUIRE) == hold;
}

/* The first byte that is surely not overwritten, nor will be soon. */
static uint64_t oldest(const struct arena *arena, const struct context *context)
{
	enum { AHEAD = 64 }; /* written, but not told of yet */
	uint64_t reach =
		is_held(arena, context) ? __atomic_load_n(&context->held_reach, __ATOMIC_ACQUIRE) : 0;
	uint64_t now = written(context);

	now = (now > reach ? now : reach) + AHEAD;
	return now > ring_size(context) ? now - ring_size(context) : 0;
}

/* `size` bytes of the ring before byte `end`. */
static void copy_ring(const struct context *context, uint64_t end, size_t size, uint8_t *to)
{
	const uint8_t *ring = (const uint8_t *)context + context->ring_start;
	size_t at = (size_t)((end - size) % ring_size(context)), behind = ring_size(context) - at;
	size_t first = size < behind ? size : behind;

	memcpy(to, ring + at, first);
	memcpy(to + first, ring, size - first);
}

/* Of many, the pages are soon there, so that the thread does not gain on the copy. */
static uint32_t *alloc_words(size_t size)
{
	enum { HUGE_PAGE = 2 << 20 };
	size_t rounded = (size / HUGE_PAGE + 1) * HUGE_PAGE;
	uint32_t *words = size < HUGE_PAGE ? malloc(size + 1) : aligned_alloc(HUGE_PAGE, rounded);

	if (words && size >= HUGE_PAGE)
		madvise(words, rounded, MADV_HUGEPAGE);
	return words;
}

/*
 * Copies the `size` bytes before byte `end` to the end of `to`, the newest first, until the thread, which may
 * write on, has been here: a short loop overwrites all of the ring in some milliseconds. Returns how many.
 */
static size_t copy_newest(const struct arena *arena, const struct context *context, uint64_t end, size_t size,
			  uint8_t *to)
{
	enum { PART = 256 << 10 };
	size_t done = 0;

	while (done < size) {
		size_t part = size - done < PART ? size - done : PART;
		uint64_t kept_from;

		copy_ring(context, end - done, part, to + size - done - part);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		kept_from = oldest(arena, context);
		if (kept_from >= end - done)
			break;
		if (kept_from > end - done - part)
			return done + ((size_t)(end - done - kept_from) & ~(size_t)3);
		done += part;
	}
	return done;
}

/*
 * In a thread that is led into the runtime (`led` is its held_pos) the last word of the lap before may be
 * the next one already: what it was is known, as long as that is so. Returns how many of the `kept` bytes
 * at the end of `size` are good.
 */
static size_t restore_last(const struct context *context, int64_t led, uint64_t end, uint32_t *words,
			   size_t size, size_t kept)
{
	size_t since = (size_t)(end % ring_size(context)), word = sizeof(*words);

	if (!led || since + word > kept)
		return kept;
	words[(size - since - word) / word] = context->held_word;
	return __atomic_load_n(&context->held_pos, __ATOMIC_ACQUIRE) == led ? kept : since;
}

uint64_t arena_written(const struct arena *arena, int slot)
{
	return written(arena_context(arena, slot));
}

int arena_read_ring(const struct arena *arena, int slot, uint64_t from, struct ring_copy *ret_copy)
{
	const struct context *context = arena_context(arena, slot);
	int64_t led = __atomic_load_n(&context->held_pos, __ATOMIC_ACQUIRE);
	uint64_t end = is_held(arena, context) ? context->held_end : written(context);
	size_t held = end < ring_size(context) ? (size_t)end : ring_size(context), kept;
	struct ring_copy copy = {.end = end, .epoch = context->epoch};

	held = end > from && end - from < held ? (size_t)(end - from) : end > from ? held : 0;
	copy.words = alloc_words(held);
	if (!copy.words)
		return -ENOMEM;
	kept = copy_newest(arena, context, end, held, (uint8_t *)copy.words);
	kept = restore_last(context, led, end, copy.words, held, kept);
	copy.cnt = kept / sizeof(uint32_t);
	copy.continues = from && kept == end - from;
	memmove(copy.words, (uint8_t *)copy.words + held - kept, kept);
	*ret_copy = copy;
	return 0;
}
