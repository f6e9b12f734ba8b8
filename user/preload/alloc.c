/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A preloadable sampling allocator, libtrailcam-alloc.so for LD_PRELOAD. It wraps the functions of the
 * program's allocator, and reports sampled allocations and their frees through USDT probes (probes.h). An
 * allocation that is not sampled costs one subtraction more, a free one load of a byte.
 *
 * Each thread draws its own sampling points (draw.h). That equals one common process, because the distance to
 * the next point does not depend on the past. TRAILCAM_ALLOC_INTERVAL is their mean distance in bytes (512k).
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "preload/draw.h"
#include "preload/probes.h"
#include "preload/sampled.h"

#define EXPORT	    __attribute__((visibility("default")))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum { INTERVAL_DEFAULT = 512 << 10, EARLY_BYTES = 4096 };
static const uint64_t INTERVAL_MAX = 1ull << 40;

struct thread {
	int64_t left;  /* bytes to the next point */
	uint64_t seed; /* 0: there was no allocation yet */
};

static __thread struct thread thread __attribute__((tls_model("initial-exec")));
static uint64_t interval; /* 0: not yet known */

/* ---- sampling ---- */

/* "512k", "1m", "64"; 0: it is no such number. */
static uint64_t parse_interval(const char *text)
{
	static const char suffixes[] = "kmg";
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9' && number < INTERVAL_MAX; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	if (*text) {
		const char *suffix = strchr(suffixes, *text | 0x20);
		int bits = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;

		if (!suffix || text[1] || number > INTERVAL_MAX >> bits)
			return 0;
		number <<= bits;
	}
	return number < INTERVAL_MAX ? number : 0;
}

/* The dynamic loader allocates before there is an environment. */
static void read_interval(void)
{
	static const char complaint[] = "libtrailcam-alloc.so: TRAILCAM_ALLOC_INTERVAL must be a size such "
					"as 4096 or 512k: 512k is used\n";
	const char *text = environ ? getenv("TRAILCAM_ALLOC_INTERVAL") : NULL;
	uint64_t wanted = text ? parse_interval(text) : INTERVAL_DEFAULT;

	if (!environ)
		return;
	if (!wanted)
		(void)!write(STDERR_FILENO, complaint, sizeof(complaint) - 1);
	interval = wanted ? wanted : INTERVAL_DEFAULT;
}

static void thread_begin(size_t size)
{
	static _Atomic uint64_t threads;
	const uint64_t *random = (const uint64_t *)getauxval(AT_RANDOM);

	if (!interval)
		read_interval();
	if (!interval)
		return;
	thread.seed = draw_seed((random ? *random : 0) + threads++);
	thread.left = draw_distance(&thread.seed, interval) - (int64_t)size;
}

/* A point is on the allocation, or it is the thread's first, and no point was drawn yet. */
static __attribute__((noinline)) void reached(void *address, size_t size)
{
	if (!thread.seed)
		thread_begin(size);
	if (thread.left > 0)
		return;
	thread.left = interval ? draw_distance(&thread.seed, interval) : 0;
	if (!(otel_memory_alloc_semaphore | otel_memory_free_semaphore) || !interval)
		return;
	if (sampled_take(address))
		otel_memory_free(address);
	otel_memory_alloc(address, size, draw_weight(size, interval));
	if (!sampled_add(address))
		trailcam_alloc_forgotten(address);
}

static inline void *allocated(void *address, size_t size)
{
	if (likely(address)) {
		thread.left -= (int64_t)size;
		if (unlikely(thread.left <= 0))
			reached(address, size);
	}
	return address;
}

/* ---- the next allocator ---- */

static void *first_malloc(size_t size);
static void *first_calloc(size_t cnt, size_t size);
static void *first_realloc(void *address, size_t size);
static void first_free(void *address);

/* Those that exist everywhere resolve all of them when they are first called. */
static struct {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t cnt, size_t size);
	void *(*realloc)(void *address, size_t size);
	void (*free)(void *address);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	int (*posix_memalign)(void **ret_address, size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
} next = {.malloc = first_malloc, .calloc = first_calloc, .realloc = first_realloc, .free = first_free};

/* For the dynamic loader, which may allocate to find the allocator; never freed. */
static struct {
	char bytes[EARLY_BYTES] __attribute__((aligned(16)));
	size_t used;
	bool resolving;
} early;

static bool is_early(const void *address)
{
	return (uintptr_t)address - (uintptr_t)early.bytes < EARLY_BYTES;
}

/* In the set of the sampled, so that free() looks twice. */
static void *early_alloc(size_t size)
{
	void *address = early.bytes + early.used;

	if (size > EARLY_BYTES - early.used) {
		errno = ENOMEM;
		return NULL;
	}
	early.used += (size + 15) & ~15ul;
	sampled_add(address);
	return address;
}

static void resolve(void)
{
	early.resolving = true;
	next.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	next.memalign = dlsym(RTLD_NEXT, "memalign");
	next.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	next.valloc = dlsym(RTLD_NEXT, "valloc");
	next.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
	next.free = dlsym(RTLD_NEXT, "free");
	next.realloc = dlsym(RTLD_NEXT, "realloc");
	next.calloc = dlsym(RTLD_NEXT, "calloc");
	next.malloc = dlsym(RTLD_NEXT, "malloc");
	early.resolving = false;
}

static void *first_malloc(size_t size)
{
	if (early.resolving)
		return early_alloc(size);
	resolve();
	return next.malloc(size);
}

static void *first_calloc(size_t cnt, size_t size)
{
	if (early.resolving)
		return early_alloc(cnt * size);
	resolve();
	return next.calloc(cnt, size);
}

static void *first_realloc(void *address, size_t size)
{
	resolve();
	return next.realloc(address, size);
}

static void first_free(void *address)
{
	resolve();
	next.free(address);
}

/* ---- what the program calls ---- */

/* Whether the next allocator knows the address. */
static __attribute__((noinline)) bool freed(void *address)
{
	if (is_early(address))
		return false;
	if (sampled_take(address))
		otel_memory_free(address);
	return true;
}

EXPORT void *malloc(size_t size)
{
	return allocated(next.malloc(size), size);
}

EXPORT void *calloc(size_t cnt, size_t size)
{
	return allocated(next.calloc(cnt, size), cnt * size);
}

EXPORT void free(void *address)
{
	if (likely(!sampled_may_hold(address)) || freed(address))
		next.free(address);
}

static void *move_early(void *address, size_t size)
{
	size_t old = (size_t)(early.bytes + EARLY_BYTES - (char *)address);
	void *moved = malloc(size);

	return moved ? memcpy(moved, address, size < old ? size : old) : NULL;
}

/*
 * Wherever it succeeds, the old allocation ends and a new one begins. The end is told before: afterwards
 * another thread may have the address. That is too soon only where memory runs out.
 */
EXPORT void *realloc(void *address, size_t size)
{
	if (unlikely(is_early(address)))
		return move_early(address, size);
	if (unlikely(sampled_may_hold(address)) && size <= PTRDIFF_MAX)
		freed(address);
	return allocated(next.realloc(address, size), size);
}

/* The C library's calls realloc(), ours. */
EXPORT void *reallocarray(void *address, size_t cnt, size_t size)
{
	size_t bytes;

	if (!__builtin_mul_overflow(cnt, size, &bytes))
		return realloc(address, bytes);
	errno = ENOMEM;
	return NULL;
}

static void need(const void *function)
{
	if (unlikely(!function))
		resolve();
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	need(next.aligned_alloc);
	return allocated(next.aligned_alloc(alignment, size), size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	need(next.memalign);
	return allocated(next.memalign(alignment, size), size);
}

EXPORT int posix_memalign(void **ret_address, size_t alignment, size_t size)
{
	int err;

	need(next.posix_memalign);
	err = next.posix_memalign(ret_address, alignment, size);
	if (!err)
		allocated(*ret_address, size);
	return err;
}

EXPORT void *valloc(size_t size)
{
	need(next.valloc);
	return allocated(next.valloc(size), size);
}

EXPORT void *pvalloc(size_t size)
{
	need(next.pvalloc);
	return allocated(next.pvalloc(size), size);
}
