/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/marks/place_allocs.h"

#include "assertions.h"
#include "base/array.h"
#include "base/containers/arena.h"
#include "base/spill.h"

enum { PID = 100, TID = 101, BASE_NS = 1000000000, MS = 1000000 };

static const struct symbol symbol_main = {.name = "main"}, symbol_malloc = {.name = "malloc"};

struct world {
	struct timeline *timeline;
	struct timeline_thread *thread;
	struct snapshot *snapshot;
};

static void add_slice(struct world *world, const struct symbol *symbol, uint64_t start, uint64_t end,
		      uint32_t depth)
{
	struct slice slice = {.symbol = symbol, .start_ns = start, .end_ns = end, .depth = depth};

	assert_ok(
		SPILL_PUSH(world->thread->slices, world->thread->slice_cnt, world->thread->slice_cap, slice));
}

/* At a time of the timeline. */
static void add_alloc(struct world *world, int64_t time_ns, uint64_t size, enum alloc_kind kind)
{
	struct snapshot *snapshot = world->snapshot;
	struct alloc alloc = {
		.time_ns = (uint64_t)(BASE_NS + time_ns),
		.began_ns = (uint64_t)(BASE_NS + time_ns - 1500000),
		.address = 0x1000,
		.size = size,
		.samples = 2,
		.pid = PID,
		.tid = TID,
		.kind = kind,
	};

	assert_ok(ARRAY_PUSH(snapshot->allocs, snapshot->alloc_cnt, snapshot->alloc_cap, alloc));
}

/* main() from 10 to 90 ms, with calls of malloc() at 20 and 30 ms. */
static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_ok(timeline_new(&world->timeline));
	world->timeline->base_ns = BASE_NS;
	world->timeline->threads = calloc(1, sizeof(struct timeline_thread));
	world->timeline->thread_cnt = 1;
	world->thread = world->timeline->threads;
	world->thread->pid = PID;
	world->thread->tid = TID;
	add_slice(world, &symbol_main, 10 * MS, 90 * MS, 0);
	add_slice(world, &symbol_malloc, 20 * MS, 21 * MS, 1);
	add_slice(world, &symbol_malloc, 30 * MS, 31 * MS, 1);
	assert_ok(snapshot_new(&world->snapshot));
	world->snapshot->alloc_interval = 4096;
	world->snapshot->alloc_functions = calloc(2, sizeof(char *));
	world->snapshot->alloc_functions[0] = strdup("malloc");
	world->snapshot->alloc_functions[1] = strdup("free");
	world->snapshot->alloc_function_cnt = 2;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	timeline_free(world->timeline);
	snapshot_free(world->snapshot);
	free(world);
	return 0;
}

static void assert_instant(const struct world *world, size_t index, uint64_t time_ns, const char *text)
{
	assert_true(index < world->thread->instant_cnt);
	assert_int_equal(world->thread->instants[index].time_ns, time_ns);
	assert_string_equal(world->thread->instants[index].text, text);
	assert_true(world->thread->instants[index].is_event);
}

static void assert_arg(const struct world *world, size_t index, size_t arg, const char *name, uint64_t number)
{
	const struct instant *instant = &world->thread->instants[index];

	assert_true(arg < instant->arg_cnt);
	assert_string_equal(instant->args[arg].name, name);
	assert_int_equal(instant->args[arg].number, number);
}

static const struct counter *counter(const struct world *world, const char *name)
{
	for (size_t i = 0; i < world->timeline->counter_cnt; i++)
		if (!strcmp(world->timeline->counters[i].name, name))
			return &world->timeline->counters[i];
	assert_true(false);
	return NULL;
}

static void assert_point(const struct counter *it, size_t index, uint64_t time_ns, uint64_t value)
{
	assert_true(index < it->point_cnt);
	assert_int_equal(it->points[index].time_ns, time_ns);
	assert_int_equal(it->points[index].value, value);
}

/* main() begins at 0x401000. */
static const struct symbol *symbol_at(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns)
{
	(void)ctx;
	assert_true(trace_ns >= BASE_NS);
	return pid == PID && ip >= 0x401000 && ip < 0x402000 ? &symbol_main : NULL;
}

/* The second frame is where main() ends: its call is the last instruction before. */
TEST_WITH(test_it_has_its_stack, set_up, tear_down)
{
	static const uint64_t first[] = {PID, 0x402000}, second[] = {PID, 0x401010, 0x501010};
	static const uint32_t stack_of[] = {1, 2, 0, 2};
	struct world *world = *state;
	struct snapshot *snapshot = world->snapshot;

	for (int i = 0; i < 4; i++)
		add_alloc(world, (40 + i) * MS, 64, ALLOC_SAMPLED);
	snapshot->alloc_stacks = calloc(1, sizeof(*snapshot->alloc_stacks));
	assert_non_null(word_pool_keep(snapshot->alloc_stacks, first, ARRAY_SIZE(first)));
	assert_non_null(word_pool_keep(snapshot->alloc_stacks, second, ARRAY_SIZE(second)));
	snapshot->alloc_stack_of = calloc(ARRAY_SIZE(stack_of), sizeof(*stack_of));
	memcpy(snapshot->alloc_stack_of, stack_of, sizeof(stack_of));
	assert_ok(place_allocs(world->timeline, snapshot, symbol_at, world));
	assert_string_equal(world->thread->instants[0].stack->text, "main");
	assert_string_equal(world->thread->instants[1].stack->text, "main\n[unknown]");
	assert_null(world->thread->instants[2].stack);
	assert_ptr_equal(world->thread->instants[3].stack, world->thread->instants[1].stack);
}

TEST_WITH(test_allocation_stands_in_its_call, set_up, tear_down)
{
	struct world *world = *state;

	add_alloc(world, 21 * MS + 4000, 64, ALLOC_SAMPLED); /* when the first call has just returned */
	add_alloc(world, 30 * MS + 500, 64, ALLOC_SAMPLED);  /* within the second */
	add_alloc(world, 35 * MS, 64, ALLOC_SAMPLED);	     /* nothing else has happened since its end */
	add_alloc(world, 60 * MS, 64, ALLOC_SAMPLED);	     /* of a call that the trace does not have */
	assert_ok(place_allocs(world->timeline, world->snapshot, symbol_at, world));
	assert_int_equal(world->thread->instant_cnt, 4);
	assert_instant(world, 0, 21 * MS, "[malloc: 64 bytes at 0x1000]");
	assert_instant(world, 1, 30 * MS + 500, "[malloc: 64 bytes at 0x1000]");
	assert_instant(world, 2, 31 * MS, "[malloc: 64 bytes at 0x1000]");
	assert_instant(world, 3, 60 * MS, "[malloc: 64 bytes at 0x1000]");
}

TEST_WITH(test_reallocation_frees_first, set_up, tear_down)
{
	struct world *world = *state;

	add_alloc(world, 21 * MS + 3000, 32, ALLOC_FREED);
	add_alloc(world, 21 * MS + 4000, 64, ALLOC_SAMPLED);
	assert_ok(place_allocs(world->timeline, world->snapshot, symbol_at, world));
	assert_int_equal(world->thread->instant_cnt, 2);
	assert_instant(world, 0, 21 * MS, "[freed: 32 bytes at 0x1000, allocated 1.500 ms before]");
	assert_instant(world, 1, 21 * MS, "[malloc: 64 bytes at 0x1000]");
	assert_string_equal(world->thread->instants[0].name, "free");
	assert_arg(world, 0, 0, "bytes", 32);
	assert_arg(world, 0, 3, "lifetime_ns", 1500000);
	assert_string_equal(world->thread->instants[1].name, "malloc");
	assert_arg(world, 1, 0, "bytes", 64);
	assert_arg(world, 1, 1, "address", 0x1000);
	assert_int_equal(world->thread->instants[1].arg_cnt, 3);
}

/* The end has the number of the allocation that was there last; that of another time has none. */
TEST_WITH(test_an_end_has_the_number_of_its_allocation, set_up, tear_down)
{
	struct world *world = *state;
	struct alloc *allocs;

	add_alloc(world, 20 * MS, 64, ALLOC_SAMPLED);
	add_alloc(world, 30 * MS, 64, ALLOC_SAMPLED);
	add_alloc(world, 40 * MS, 64, ALLOC_FREED);
	add_alloc(world, 50 * MS, 64, ALLOC_FREED);
	allocs = world->snapshot->allocs;
	allocs[0].began_ns = allocs[0].time_ns;
	allocs[1].began_ns = allocs[2].began_ns = allocs[1].time_ns;
	assert_ok(place_allocs(world->timeline, world->snapshot, symbol_at, world));
	assert_arg(world, 1, 2, "allocation", 2);
	assert_int_equal(world->thread->instants[2].number, 2);
	assert_true(world->thread->instants[2].ends && !world->thread->instants[1].ends);
	assert_arg(world, 3, 2, "allocation", 0);
}

TEST_WITH(test_instants_are_in_order, set_up, tear_down)
{
	struct world *world = *state;
	struct instant gap = {.time_ns = 50 * MS, .text = strdup("[gap: overflow]")};

	assert_ok(ARRAY_PUSH(world->thread->instants, world->thread->instant_cnt, world->thread->instant_cap,
			     gap));
	add_alloc(world, 40 * MS, 64, ALLOC_FREED);
	assert_ok(place_allocs(world->timeline, world->snapshot, symbol_at, world));
	assert_int_equal(world->thread->instant_cnt, 2);
	assert_instant(world, 0, 40 * MS, "[freed: 64 bytes at 0x1000, allocated 1.500 ms before]");
	assert_string_equal(world->thread->instants[1].text, "[gap: overflow]");
	assert_false(world->thread->instants[1].is_event);
}

TEST_WITH(test_what_came_before_only_counts, set_up, tear_down)
{
	struct world *world = *state;
	const struct counter *alive, *allocated;

	add_alloc(world, -5 * MS, 64, ALLOC_SAMPLED);
	add_alloc(world, -4 * MS, 64, ALLOC_SAMPLED);
	add_alloc(world, 5 * MS, 64, ALLOC_SAMPLED); /* on the timeline, but before the thread's trace */
	add_alloc(world, 40 * MS, 64, ALLOC_FREED);
	assert_ok(place_allocs(world->timeline, world->snapshot, symbol_at, world));
	assert_int_equal(world->thread->instant_cnt, 1);
	alive = counter(world, "live bytes (estimate)");
	assert_int_equal(alive->point_cnt, 3);
	assert_point(alive, 0, 0, 4 * 4096);
	assert_point(alive, 1, 5 * MS, 6 * 4096);
	assert_point(alive, 2, 40 * MS, 4 * 4096);
	allocated = counter(world, "allocated bytes (estimate)");
	assert_int_equal(allocated->point_cnt, 2);
	assert_point(allocated, 0, 0, 0);
	assert_point(allocated, 1, 5 * MS, 2 * 4096);
	assert_int_equal(alive->pid, PID);
}

TEST_WITH(test_each_process_counts_for_itself, set_up, tear_down)
{
	struct world *world = *state;

	add_alloc(world, 15 * MS, 64, ALLOC_SAMPLED);
	add_alloc(world, 16 * MS, 64, ALLOC_SAMPLED);
	world->snapshot->allocs[1].pid = world->snapshot->allocs[1].tid = 200;
	assert_ok(place_allocs(world->timeline, world->snapshot, symbol_at, world));
	assert_int_equal(world->thread->instant_cnt, 1);
	assert_int_equal(world->timeline->counter_cnt, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(world->timeline->counters[i].points[0].value, 2 * 4096);
}

TEST_WITH(test_function_that_is_not_known, set_up, tear_down)
{
	struct world *world = *state;

	add_alloc(world, 40 * MS, 64, ALLOC_SAMPLED);
	world->snapshot->allocs[0].function = 77;
	assert_ok(place_allocs(world->timeline, world->snapshot, symbol_at, world));
	assert_instant(world, 0, 40 * MS, "[unknown function: 64 bytes at 0x1000]");
}

TEST_WITH(test_none, set_up, tear_down)
{
	struct world *world = *state;

	assert_ok(place_allocs(world->timeline, world->snapshot, symbol_at, world));
	assert_int_equal(world->timeline->counter_cnt, 0);
}

TEST_MAIN(NULL, NULL)
