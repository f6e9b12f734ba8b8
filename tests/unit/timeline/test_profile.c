/* SPDX-License-Identifier: BSD-2-Clause */
/* Against a computation that looks at every slice for every function and path, on random timelines. */
#include "assertions.h"

#include "base/spill.h"
#include "timeline/profile.h"

enum { FUNCTIONS = 5, DEEPEST = 6, ROUNDS = 200, SLICES = 60 };

static const struct symbol functions[FUNCTIONS] = {{.name = "a", .object = "prog"},
						   {.name = "b", .object = "prog"},
						   {.name = "c", .object = "prog"},
						   {.name = "a", .object = "lib"},
						   {.name = "a", .object = "prog", .start = 1}};

static uint64_t state_of_random = 88172645463325252ull;

static uint64_t random_below(uint64_t limit)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random % limit;
}

static void push(struct timeline_thread *thread, struct slice slice)
{
	assert_ok(SPILL_PUSH(thread->slices, thread->slice_cnt, thread->slice_cap, slice));
}

static struct slice random_slice(uint64_t now, uint32_t depth)
{
	struct slice slice = {.start_ns = now, .depth = depth};

	if (random_below(6))
		slice.symbol = &functions[random_below(FUNCTIONS)];
	else
		slice.kind = (uint8_t)(1 + random_below(SLICE_KIND_CNT - 1));
	slice.flags = random_below(2) ? SLICE_SAMPLED : 0;
	return slice;
}

static struct timeline_thread make_thread(void)
{
	struct timeline_thread thread = {0};
	size_t open[DEEPEST], cnt = 0, slices = random_below(SLICES);
	uint64_t now = 0;

	while (thread.slice_cnt < slices) {
		now += random_below(4);
		if (cnt < DEEPEST && random_below(2)) {
			open[cnt] = thread.slice_cnt;
			push(&thread, random_slice(now, (uint32_t)cnt++));
		} else if (cnt) {
			thread.slices[open[--cnt]].end_ns = now;
		}
	}
	while (cnt)
		thread.slices[open[--cnt]].end_ns = now += random_below(4);
	assert_true(timeline_is_valid(&(struct timeline){.threads = &thread, .thread_cnt = 1}));
	return thread;
}

/* The caller of slice i; SIZE_MAX: none. */
static size_t caller(const struct timeline_thread *thread, size_t i)
{
	uint32_t depth = thread->slices[i].depth;

	while (i-- > 0)
		if (thread->slices[i].depth < depth)
			return i;
	return SIZE_MAX;
}

static bool is_function(const struct slice *slice, const struct profile_function *function, bool by_object)
{
	return slice->kind == function->kind && !strcmp(slice_name(slice), function->name) &&
	       (!by_object || !slice->symbol || !strcmp(slice->symbol->object, function->object));
}

static uint64_t self_ns(const struct timeline_thread *thread, size_t i)
{
	uint64_t ns = thread->slices[i].end_ns - thread->slices[i].start_ns;

	for (size_t j = i + 1; j < thread->slice_cnt; j++)
		if (caller(thread, j) == i)
			ns -= thread->slices[j].end_ns - thread->slices[j].start_ns;
	return ns;
}

static bool is_within_itself(const struct timeline_thread *thread, size_t i,
			     const struct profile_function *function, bool by_object)
{
	while ((i = caller(thread, i)) != SIZE_MAX)
		if (is_function(&thread->slices[i], function, by_object))
			return true;
	return false;
}

static bool is_sampled(const struct slice *slice)
{
	return slice->flags & SLICE_SAMPLED && slice->kind == SLICE_CALL;
}

static bool is_in(const struct timeline_thread *thread, size_t j, size_t i)
{
	while (j != SIZE_MAX && j != i)
		j = caller(thread, j);
	return j == i;
}

static void add(struct profile_sum *sum, const struct timeline_thread *thread, size_t i, bool counts_total)
{
	sum->calls++;
	sum->self_ns += self_ns(thread, i);
	if (is_sampled(&thread->slices[i]))
		sum->sampled_self_ns += self_ns(thread, i);
	for (size_t j = i; counts_total && j < thread->slice_cnt; j++)
		if (is_sampled(&thread->slices[j]) && is_in(thread, j, i))
			sum->sampled_total_ns += self_ns(thread, j);
	if (counts_total)
		sum->total_ns += thread->slices[i].end_ns - thread->slices[i].start_ns;
}

static bool is_on_path(const struct timeline_thread *thread, size_t i, const struct profile *profile,
		       size_t path, bool by_object)
{
	for (; path != PROFILE_ROOT; path = profile->paths[path].parent, i = caller(thread, i))
		if (i == SIZE_MAX ||
		    !is_function(&thread->slices[i], &profile->functions[profile->paths[path].function],
				 by_object))
			return false;
	return i == SIZE_MAX;
}

static void assert_sums(const struct profile_sum *got, const struct profile_sum *wanted)
{
	assert_int_equal(got->calls, wanted->calls);
	assert_int_equal(got->self_ns, wanted->self_ns);
	assert_int_equal(got->total_ns, wanted->total_ns);
	assert_int_equal(got->sampled_self_ns, wanted->sampled_self_ns);
	assert_int_equal(got->sampled_total_ns, wanted->sampled_total_ns);
}

static void check_functions(const struct profile *profile, size_t side, const struct timeline_thread *thread,
			    bool by_object)
{
	uint64_t calls = 0;

	for (size_t f = 0; f < profile->function_cnt; f++) {
		const struct profile_function *function = &profile->functions[f];
		struct profile_sum sum = {0};

		for (size_t i = 0; i < thread->slice_cnt; i++)
			if (is_function(&thread->slices[i], function, by_object))
				add(&sum, thread, i, !is_within_itself(thread, i, function, by_object));
		assert_sums(&function->sides[side], &sum);
		calls += sum.calls;
	}
	assert_int_equal(calls, thread->slice_cnt);
}

static void check_paths(const struct profile *profile, size_t side, const struct timeline_thread *thread,
			bool by_object)
{
	uint64_t calls = 0;

	for (size_t p = 1; p < profile->path_cnt; p++) {
		struct profile_sum sum = {0};

		assert_true(profile->paths[p].parent < p);
		assert_int_equal(profile->paths[p].depth, profile->paths[profile->paths[p].parent].depth + 1);
		for (size_t i = 0; i < thread->slice_cnt; i++)
			if (is_on_path(thread, i, profile, p, by_object))
				add(&sum, thread, i, true);
		assert_sums(&profile->paths[p].sides[side], &sum);
		calls += sum.calls;
	}
	assert_int_equal(calls, thread->slice_cnt);
	assert_int_equal(calls, profile->paths[PROFILE_ROOT].sides[side].calls);
}

TEST(test_random)
{
	for (size_t round = 0; round < ROUNDS; round++) {
		struct timeline_thread threads[PROFILE_SIDES];
		struct profile *profile;
		bool by_object = round % 2;

		assert_ok(profile_new(&profile, by_object));
		for (size_t side = 0; side < PROFILE_SIDES; side++) {
			threads[side] = make_thread();
			assert_ok(profile_add(profile, side, &threads[side]));
		}
		for (size_t side = 0; side < PROFILE_SIDES; side++) {
			check_functions(profile, side, &threads[side], by_object);
			check_paths(profile, side, &threads[side], by_object);
			timeline_thread_release(&threads[side]);
		}
		profile_free(profile);
	}
}

/* Threads of a side add up, and their roots' time is the whole. */
TEST(test_threads)
{
	struct timeline_thread thread = {0};
	struct profile *profile;

	push(&thread, (struct slice){.start_ns = 10, .end_ns = 40, .symbol = &functions[0]});
	push(&thread, (struct slice){.start_ns = 20, .end_ns = 30, .symbol = &functions[0], .depth = 1});
	push(&thread, (struct slice){.start_ns = 50, .end_ns = 55, .symbol = &functions[1]});
	assert_ok(profile_new(&profile, true));
	assert_ok(profile_add(profile, 0, &thread));
	assert_ok(profile_add(profile, 0, &thread));
	assert_sums(&profile->functions[0].sides[0], &(struct profile_sum){4, 60, 60, 0, 0});
	assert_sums(&profile->functions[1].sides[0], &(struct profile_sum){2, 10, 10, 0, 0});
	assert_sums(&profile->paths[PROFILE_ROOT].sides[0], &(struct profile_sum){6, 0, 70, 0, 0});
	assert_sums(&profile->paths[2].sides[0], &(struct profile_sum){2, 20, 20, 0, 0});
	assert_sums(&profile->paths[2].sides[1], &(struct profile_sum){0});
	profile_free(profile);
	timeline_thread_release(&thread);
}

TEST_MAIN(NULL, NULL)
