/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocator's wrapper is linked into this program, which stands for the probes and counts. Each scenario
 * is a process of its own, with its own interval.
 */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assertions.h"
#include "base/array.h"
#include "preload/draw.h"
#include "preload/probes.h"
#include "preload/sampled.h"

enum { EVENT_MAX = 1 << 20, THREADS = 64, ROUNDS = 2000, LIVE = 400000, INTERVAL = 4096 };

volatile uint16_t otel_memory_alloc_semaphore, otel_memory_free_semaphore;

static struct event {
	void *address;
	size_t size;
	uint64_t weight;
} allocs[EVENT_MAX];
static _Atomic size_t alloc_cnt, free_cnt, forgotten_cnt;
static _Atomic uint64_t weights;
static void *volatile last_freed;
static void *from_constructor;

void otel_memory_alloc(void *address, size_t size, uint64_t weighted_bytes)
{
	allocs[alloc_cnt++ % EVENT_MAX] = (struct event){address, size, weighted_bytes};
	weights += weighted_bytes;
}

void otel_memory_free(void *address)
{
	free_cnt++;
	last_freed = address;
}

void trailcam_alloc_forgotten(void *address)
{
	(void)address;
	forgotten_cnt++;
}

/* Forgets what was so far. */
static void listen_from_here(void)
{
	otel_memory_alloc_semaphore = 1;
	alloc_cnt = free_cnt = forgotten_cnt = weights = 0;
}

__attribute__((constructor)) static void allocate_early(void)
{
	otel_memory_alloc_semaphore = 1;
	from_constructor = malloc(777);
}

/* In scenarios, which are not under cmocka. */
#define must(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

/* The last event is of that allocation, which is freed here, and then that is told. */
static void must_be_sampled(void *address, size_t size, size_t cnt)
{
	must(address && alloc_cnt == cnt);
	must(allocs[cnt - 1].address == address && allocs[cnt - 1].size == size &&
	     allocs[cnt - 1].weight == size);
	must(free_cnt == cnt - 1);
	free(address);
	must(free_cnt == cnt && last_freed == address);
}

static void each_function(void)
{
	void *address = NULL;

	listen_from_here();
	must_be_sampled(malloc(1), 1, 1);
	must_be_sampled(calloc(3, 100), 300, 2);
	must_be_sampled(realloc(NULL, 5), 5, 3);
	must_be_sampled(reallocarray(NULL, 7, 9), 63, 4);
	must_be_sampled(aligned_alloc(64, 128), 128, 5);
	must_be_sampled(memalign(64, 129), 129, 6);
	must(!posix_memalign(&address, 4096, 70));
	must_be_sampled(address, 70, 7);
	must_be_sampled(valloc(11), 11, 8);
	must_be_sampled(pvalloc(12), 12, 9);
	must_be_sampled(malloc(10 << 20), 10 << 20, 10);
	must_be_sampled(strdup("five"), 5, 11);
	must_be_sampled(malloc(0), 0, 12);
}

static void reallocations(void)
{
	char *address, *volatile moved;

	listen_from_here();
	address = malloc(100);
	moved = realloc(address, 90);
	must(alloc_cnt == 2 && free_cnt == 1 && last_freed == address);
	must(allocs[1].address == moved && allocs[1].size == 90 && allocs[1].weight == 90);
	address = moved;
	moved = realloc(address, 1 << 20);
	must(alloc_cnt == 3 && free_cnt == 2 && last_freed == address && allocs[2].address == moved);
	must(!realloc(moved, 0) && alloc_cnt == 3 && free_cnt == 3 && last_freed == moved);
}

/* Sizes that the compiler does not see. */
static void failures(void)
{
	volatile size_t much = SIZE_MAX / 2 + 2;
	void *volatile address, *volatile none;

	listen_from_here();
	address = malloc(10);
	none = malloc(much);
	must(!none);
	none = calloc(much, 4);
	must(!none);
	none = realloc(address, much);
	must(!none);
	none = reallocarray(address, much, 4);
	must(!none);
	must(posix_memalign((void **)&none, 3, 10));
	must(alloc_cnt == 1 && free_cnt == 0);
	free(address);
	must(alloc_cnt == 1 && free_cnt == 1);
}

static void before_main(void)
{
	size_t found = 0;

	for (size_t i = 0; i < alloc_cnt; i++)
		found += allocs[i].address == from_constructor && allocs[i].size == 777;
	must(found == 1);
	listen_from_here();
	free(from_constructor);
	must(free_cnt == 1);
}

static void in_a_child(void)
{
	void *address;
	int status;

	listen_from_here();
	address = malloc(100);
	if (!fork()) {
		free(address);
		must(free_cnt == 1);
		free(malloc(3));
		must(alloc_cnt == 2 && free_cnt == 2);
		_exit(0);
	}
	must(wait(&status) > 0 && !status);
	must(alloc_cnt == 1 && free_cnt == 0);
}

static void too_many(void)
{
	static void *addresses[LIVE];

	listen_from_here();
	for (size_t i = 0; i < LIVE; i++)
		addresses[i] = malloc(24);
	must(alloc_cnt == LIVE && weights == 24 * LIVE);
	must(forgotten_cnt >= LIVE - SAMPLED_GROUPS * SAMPLED_GROUP_SLOTS && forgotten_cnt < LIVE);
	for (size_t i = 0; i < LIVE; i++)
		free(addresses[i]);
	must(free_cnt + forgotten_cnt == LIVE);
}

static void nobody_listens(void)
{
	listen_from_here();
	otel_memory_alloc_semaphore = 0;
	for (int i = 0; i < 10000; i++)
		free(malloc(10000));
	must(!alloc_cnt && !free_cnt);
	otel_memory_alloc_semaphore = 1;
	for (int i = 0; i < 100; i++)
		free(malloc(10000));
	must(alloc_cnt && free_cnt == alloc_cnt);
}

/* ---- estimates ---- */

struct truth {
	double bytes, variance; /* of the estimate of bytes */
};

static void count(struct truth *truth, size_t size)
{
	double hit = -expm1(-(double)size / INTERVAL);

	truth->bytes += (double)size;
	truth->variance += (double)size * (double)size * (1 - hit) / hit;
}

static void must_estimate(const struct truth *truth)
{
	double sigmas = ((double)weights - truth->bytes) / sqrt(truth->variance);

	printf("%.0f bytes estimated as %lu: %.2f sigma, of %zu samples\n", truth->bytes,
	       (unsigned long)weights, sigmas, (size_t)alloc_cnt);
	fflush(stdout);
	must(fabs(sigmas) < 5);
}

/* Small ones mostly, and few that are larger than the interval. */
static size_t random_size(uint64_t *seed)
{
	*seed = draw_seed(*seed);
	return *seed % (*seed >> 32 & 63 ? 300 : 20000) + 1;
}

static void estimates(void)
{
	struct truth truth = {0};
	uint64_t seed = 1;

	listen_from_here();
	for (int i = 0; i < 2000000; i++) {
		size_t size = random_size(&seed);

		free(malloc(size));
		count(&truth, size);
	}
	must(free_cnt == alloc_cnt && !forgotten_cnt);
	must_estimate(&truth);
}

/* What a thread allocates, the next one frees: each waits for the others before it begins. */
static struct worker {
	pthread_t thread;
	uint64_t seed;
	struct truth truth;
	void *held[ROUNDS];
} workers[THREADS];
static pthread_barrier_t barrier;

static void *work(void *arg)
{
	struct worker *worker = arg, *other = &workers[(worker - workers + 1) % THREADS];

	for (int round = 0; round < ROUNDS; round++) {
		size_t size = random_size(&worker->seed);

		worker->held[round] = round % 2 ? malloc(size) : calloc(1, size);
		count(&worker->truth, size);
	}
	pthread_barrier_wait(&barrier);
	for (int round = 0; round < ROUNDS; round++)
		free(other->held[round]);
	return NULL;
}

static void threads(void)
{
	struct truth truth = {0};

	pthread_barrier_init(&barrier, NULL, THREADS);
	otel_memory_alloc_semaphore = 0;
	for (size_t i = 0; i < THREADS; i++)
		workers[i].seed = i;
	listen_from_here();
	for (size_t i = 0; i < THREADS; i++)
		must(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		truth.bytes += workers[i].truth.bytes;
		truth.variance += workers[i].truth.variance;
	}
	/* What the C library has for threads is theirs until they are used again. */
	must(free_cnt <= alloc_cnt && alloc_cnt - free_cnt <= THREADS);
	must_estimate(&truth);
}

static void bad_interval(void)
{
	listen_from_here();
	for (int i = 0; i < 100; i++)
		free(malloc(100));
	must(alloc_cnt < 50);
}

/* ---- the processes ---- */

static const struct scenario {
	const char *name, *interval;
	void (*fn)(void);
} scenarios[] = {
	{"each function", "1", each_function},
	{"reallocations", "1", reallocations},
	{"failures", "1", failures},
	{"before main", "1", before_main},
	{"in a child", "1", in_a_child},
	{"too many", "1", too_many},
	{"nobody listens", "4k", nobody_listens},
	{"estimates", "4096", estimates},
	{"threads", "4k", threads},
	{"bad interval", "12 apples", bad_interval},
	{"far too large an interval", "17179869185g", bad_interval}, /* 1g, without its upper bits */
};

/* What it says is in `said`. */
static void run(const char *name, char *said, size_t size)
{
	const struct scenario *scenario = scenarios;
	int status, out[2];
	ssize_t got;

	while (strcmp(scenario->name, name))
		scenario++;
	assert_int_equal(pipe(out), 0);
	if (!fork()) {
		dup2(out[1], STDERR_FILENO);
		setenv("TRAILCAM_ALLOC_INTERVAL", scenario->interval, 1);
		execl("/proc/self/exe", "test_alloc", name, NULL);
		_exit(127);
	}
	close(out[1]);
	got = read(out[0], said, size - 1);
	said[got < 0 ? 0 : got] = 0;
	close(out[0]);
	assert_true(wait(&status) > 0);
	if (status)
		fail_msg("%s: status %#x: %s", name, status, said);
}

static void run_quietly(const char *name)
{
	char said[512];

	run(name, said, sizeof(said));
	assert_string_equal(said, "");
}

TEST(test_each_function_is_sampled)
{
	run_quietly("each function");
}

TEST(test_a_reallocation_is_an_end_and_a_beginning)
{
	run_quietly("reallocations");
}

TEST(test_what_failed_is_no_allocation)
{
	run_quietly("failures");
}

TEST(test_constructors_allocate_before_main)
{
	run_quietly("before main");
}

TEST(test_a_forked_child_goes_on)
{
	run_quietly("in a child");
}

TEST(test_more_than_can_be_remembered_is_counted)
{
	run_quietly("too many");
}

TEST(test_nothing_is_sampled_for_nobody)
{
	run_quietly("nobody listens");
}

TEST(test_weights_add_up_to_the_bytes)
{
	run_quietly("estimates");
}

TEST(test_threads_sample_by_themselves)
{
	run_quietly("threads");
}

TEST(test_a_bad_interval_is_told)
{
	char said[512];

	run("bad interval", said, sizeof(said));
	assert_non_null(strstr(said, "TRAILCAM_ALLOC_INTERVAL must be a size"));
	run("far too large an interval", said, sizeof(said));
	assert_non_null(strstr(said, "TRAILCAM_ALLOC_INTERVAL must be a size"));
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(scenarios); i++) {
		if (strcmp(scenarios[i].name, argv[1]))
			continue;
		scenarios[i].fn();
		_exit(0);
	}
	otel_memory_alloc_semaphore = 0;
	return tests_run(NULL, NULL);
}
