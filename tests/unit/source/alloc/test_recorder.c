/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child allocates, its parent records: every call with an interval of 1, and sums within five standard
 * deviations with others. Where probes are not permitted, the tests are skipped.
 */
#include "source/alloc/recorder.h"

#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assertions.h"
#include "base/array.h"
#include "base/error.h"

/* What is recorded of one child. */
struct seen {
	struct alloc allocs[4096];
	char functions[4096][32];
	size_t cnt;
	uint64_t bytes, samples, sampled_cnt, freed_cnt, stacks;
};

static struct seen seen;
static struct alloc_recorder *recorder;

static int on_alloc(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack)
{
	struct seen *mine = ctx;

	if (mine->cnt < ARRAY_SIZE(mine->allocs)) {
		if (alloc->kind == ALLOC_SAMPLED)
			snprintf(mine->functions[mine->cnt], sizeof(mine->functions[0]), "%s",
				 alloc_recorder_function(recorder, alloc->function));
		mine->allocs[mine->cnt++] = *alloc;
	}
	mine->stacks += stack && (stack->ip_cnt || stack->size);
	if (alloc->kind == ALLOC_SAMPLED) {
		mine->sampled_cnt++;
		mine->bytes += alloc->size;
		mine->samples += alloc->samples;
	} else {
		mine->freed_cnt++;
	}
	return 0;
}

/* Runs fn in a child while it is recorded. */
static struct alloc_recorder_counts record(void (*fn)(void), struct alloc_recorder_config config)
{
	struct alloc_recorder_counts counts;
	int go[2], status, err;

	seen = (struct seen){0};
	assert_ok(pipe(go));
	config.pid = fork();
	if (!config.pid) {
		char word;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		if (read(go[0], &word, 1) == 1)
			fn();
		_exit(0);
	}
	config.is_running = true;
	config.exe = "/proc/self/exe";
	if (!config.live_max)
		config.live_max = 1 << 16;
	err = alloc_recorder_new(&recorder, &config);
	if (err == -EPERM || (err == -ENOTSUP && config.link != ALLOC_LINK_AUTO)) {
		printf("skipped: %s\n", fail_message(err));
		close(go[1]);
		waitpid(config.pid, NULL, 0);
		skip();
	}
	assert_ok(err);
	assert_int_equal(write(go[1], "g", 1), 1);
	do {
		usleep(1000);
		assert_true(alloc_recorder_read(recorder, on_alloc, &seen) >= 0);
	} while (!waitpid(config.pid, &status, WNOHANG));
	while (alloc_recorder_read(recorder, on_alloc, &seen) > 0)
		;
	assert_int_equal(status, 0);
	counts = alloc_recorder_counts(recorder);
	alloc_recorder_free(recorder);
	recorder = NULL;
	close(go[0]);
	close(go[1]);
	return counts;
}

/* With the sanitizers' allocator, too, what is too much only fails. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void *volatile kept;
static volatile size_t too_much = PTRDIFF_MAX;

static void some_calls(void)
{
	void *p = malloc(100), *q = calloc(3, 7), *r = NULL;

	kept = p;
	p = realloc(p, 200);
	kept = p;
	p = realloc(p, 1 << 20);
	kept = p;
	if (!realloc(kept, too_much))
		free(kept);
	kept = q;
	free(q);
	kept = malloc(too_much);
	kept = calloc(too_much, 4);
	if (!posix_memalign(&r, 64, 33))
		free(r);
	kept = q = aligned_alloc(64, 128);
	kept = p = reallocarray(NULL, 5, 5);
	free(q);
	kept = p = realloc(p, 0);
	kept = p = malloc(0);
	free(p);
	free(NULL);
}

/* "+size" or "-size" of each record. */
static void expect(const char *const *wanted, size_t cnt)
{
	char text[64];

	for (size_t i = 0; i < seen.cnt && i < cnt; i++) {
		snprintf(text, sizeof(text), "%c%llu", seen.allocs[i].kind == ALLOC_SAMPLED ? '+' : '-',
			 (unsigned long long)seen.allocs[i].size);
		assert_string_equal(text, wanted[i]);
		assert_int_equal(seen.allocs[i].samples, seen.allocs[i].size);
	}
	assert_int_equal(seen.cnt, cnt);
}

static void every_call(enum alloc_link link)
{
	static const char *const wanted[] = {"+100",	 "+21", "-100", "+200", "-200", "+1048576",
					     "-1048576", "-21", "+33",	"-33",	"+128", "+25",
					     "-128",	 "-25", "+0",	"-0"};
	struct alloc_recorder_counts counts =
		record(some_calls, (struct alloc_recorder_config){.interval_bytes = 1, .link = link});

	expect(wanted, ARRAY_SIZE(wanted));
	assert_int_equal(counts.lost, 0);
	assert_int_equal(counts.forgotten, 0);
	assert_int_equal(seen.stacks, seen.sampled_cnt);
	assert_string_equal(seen.functions[0], "malloc");
	assert_string_equal(seen.functions[1], "calloc");
	assert_string_equal(seen.functions[3], "realloc");
}

TEST(test_session)
{
	every_call(ALLOC_LINK_AUTO);
}

TEST(test_multi)
{
	every_call(ALLOC_LINK_MULTI);
}

TEST(test_perf)
{
	every_call(ALLOC_LINK_PERF);
}

/* All of them find room in the ring, whoever else keeps the processors from its reader. */
enum { MANY = 40000 };

static void many_calls(void)
{
	uint32_t number = 1;

	for (int i = 0; i < MANY; i++) {
		void *p;

		number = number * 1664525 + 1013904223;
		kept = p = malloc(1 + (number >> 16) % 997);
		free(p);
	}
}

static void one_large(void)
{
	for (int i = 0; i < 200; i++) {
		void *p;

		kept = p = malloc(1 << 20);
		free(p);
	}
}

/*
 * The estimate of `bytes` by points at a mean distance, of which there are bytes/interval: a Poisson number,
 * or one that varies less.
 */
static void expect_sum(uint64_t bytes, uint64_t interval)
{
	double points = (double)bytes / (double)interval, off = (double)seen.samples - points;

	printf("%llu points, %.0f expected: %.2f variances off\n", (unsigned long long)seen.samples, points,
	       off * off / points);
	assert_true(off * off < 5 * 5 * points);
}

TEST(test_sums)
{
	static const uint64_t intervals[] = {64, 1000, 4096, 65536, 524288};
	struct alloc_recorder_counts counts;

	for (size_t i = 0; i < ARRAY_SIZE(intervals); i++) {
		counts = record(many_calls, (struct alloc_recorder_config){.interval_bytes = intervals[i]});
		assert_int_equal(counts.calls, MANY);
		assert_int_equal(counts.lost, 0);
		expect_sum(counts.bytes, intervals[i]);
		assert_int_equal(seen.freed_cnt, seen.sampled_cnt);
	}
	counts = record(one_large, (struct alloc_recorder_config){.interval_bytes = 4096});
	expect_sum(200ull << 20, 4096);
	assert_int_equal(counts.bytes, 200ull << 20);
}

static void kept_calls(void)
{
	void *all[100];

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		kept = all[i] = malloc(50);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		free(all[i]);
}

/* Those that are too many to be followed are recorded all the same, and counted. */
TEST(test_live_max)
{
	struct alloc_recorder_counts counts =
		record(kept_calls, (struct alloc_recorder_config){.interval_bytes = 1, .live_max = 16});

	assert_int_equal(seen.sampled_cnt, 100);
	assert_int_equal(seen.freed_cnt, 16);
	assert_int_equal(counts.forgotten, 84);
	assert_int_equal(counts.lost, 0);
}

/* Whose beginning is seen, its end is: but that of the last one, in which the process is killed. */
static void attach_meanwhile(enum alloc_link link)
{
	struct alloc_recorder_config config = {.is_running = true,
					       .exe = "/proc/self/exe",
					       .interval_bytes = 1,
					       .live_max = 1 << 16,
					       .link = link};

	seen = (struct seen){0};
	config.pid = fork();
	if (!config.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;; usleep(50))
			free(kept = malloc(24));
	}
	assert_ok(alloc_recorder_new(&recorder, &config));
	for (int tries = 0; tries < 10000 && seen.sampled_cnt < 100; tries++) {
		usleep(1000);
		assert_true(alloc_recorder_read(recorder, on_alloc, &seen) >= 0);
	}
	kill(config.pid, SIGKILL);
	assert_int_equal(waitpid(config.pid, NULL, 0), config.pid);
	while (alloc_recorder_read(recorder, on_alloc, &seen) > 0)
		;
	alloc_recorder_free(recorder);
	recorder = NULL;
	assert_true(seen.sampled_cnt >= 100);
	assert_in_range(seen.sampled_cnt - seen.freed_cnt, 0, 1);
}

TEST(test_calls_while_attaching)
{
	attach_meanwhile(ALLOC_LINK_AUTO);
	attach_meanwhile(ALLOC_LINK_MULTI);
	attach_meanwhile(ALLOC_LINK_PERF);
}

TEST_MAIN(NULL, NULL)
