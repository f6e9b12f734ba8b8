/* SPDX-License-Identifier: BSD-2-Clause */
/* Hits find their slices and mark goroutines alike, whether slices are an array or stored. */
#include "rebuild/marks/place_hits.h"

#include "assertions.h"
#include "base/array.h"
#include "base/spill.h"
#include "model/slice_cursor.h"

enum { PID = 100, TID = 101, F = 0x1000, BEHIND_G = 0x1100, G = 0x2000, TRAP = 0x3000 };

static const struct symbol symbol_main = {.name = "main", .object = "/usr/bin/prog", .start = 0x500},
			   symbol_f = {.name = "f", .object = "/usr/bin/prog", .start = F},
			   symbol_g = {.name = "g", .object = "/usr/bin/prog", .start = G};

static const struct symbol *symbol_at(void *ctx, int32_t pid, uint64_t ip, uint64_t trace_ns)
{
	(void)ctx;
	(void)pid;
	(void)trace_ns;
	return ip == TRAP ? NULL : ip >= G ? &symbol_g : ip >= F ? &symbol_f : &symbol_main;
}

/* ---- slices that are not there at once ---- */

struct one_by_one {
	struct stored_slices slices;
	struct slice *items;
};

struct pass {
	const struct one_by_one *from;
	size_t at;
	struct slice slice; /* the only one that can be had */
};

static int begin(const struct stored_slices *stored, void **ret_pass)
{
	struct pass *pass = calloc(1, sizeof(*pass));

	pass->from = (const struct one_by_one *)stored;
	*ret_pass = pass;
	return 0;
}

static const struct slice *next(void *ctx, int *ret_err)
{
	struct pass *pass = ctx;

	(void)ret_err;
	memset(&pass->slice, 0xff, sizeof(pass->slice));
	if (pass->at == pass->from->slices.cnt)
		return NULL;
	pass->slice = pass->from->items[pass->at++];
	return &pass->slice;
}

static void free_stored(struct stored_slices *stored)
{
	spill_free(((struct one_by_one *)stored)->items);
	free(stored);
}

static void store(struct timeline_thread *thread)
{
	static const struct stored_ops ops = {.begin = begin, .next = next, .end = free, .free = free_stored};
	struct one_by_one *stored = calloc(1, sizeof(*stored));

	stored->slices = (struct stored_slices){.cnt = thread->slice_cnt, .ops = &ops};
	stored->items = thread->slices;
	thread->slices = NULL;
	thread->slice_cnt = thread->slice_cap = 0;
	thread->stored = &stored->slices;
}

/* ---- a thread and its hits ---- */

static struct timeline *make_timeline(void)
{
	static const struct slice slices[] = {
		{.start_ns = 0, .end_ns = 50, .symbol = &symbol_main, .depth = 0},
		{.start_ns = 10, .end_ns = 40, .symbol = &symbol_f, .depth = 1, .ip = F},
		{.start_ns = 20, .end_ns = 30, .symbol = &symbol_g, .depth = 2, .ip = G},
		{.start_ns = 60, .end_ns = 90, .symbol = &symbol_main, .depth = 0},
		{.start_ns = 65, .end_ns = 80, .symbol = &symbol_f, .depth = 1, .ip = F},
		{.start_ns = 70, .end_ns = 72, .kind = SLICE_UNTRACED, .depth = 2, .ip = TRAP},
		{.start_ns = 95, .end_ns = 99, .symbol = &symbol_main, .depth = 0},
	};
	struct timeline *timeline;

	assert_ok(timeline_new(&timeline));
	timeline->threads = calloc(1, sizeof(struct timeline_thread));
	timeline->thread_cnt = 1;
	timeline->threads[0].pid = PID;
	timeline->threads[0].tid = TID;
	timeline->triggers = calloc(1, sizeof(char *));
	timeline->triggers[0] = strdup("g%return");
	timeline->trigger_cnt = 1;
	for (size_t i = 0; i < ARRAY_SIZE(slices); i++)
		assert_ok(SPILL_PUSH(timeline->threads[0].slices, timeline->threads[0].slice_cnt,
				     timeline->threads[0].slice_cap, slices[i]));
	return timeline;
}

static void add_hit(struct snapshot *snapshot, uint64_t time_ns, uint64_t ip, uint64_t return_address,
		    uint64_t goroutine)
{
	struct caught_hit caught = {.hit = {.time_ns = time_ns,
					    .pid = PID,
					    .tid = TID,
					    .return_address = return_address,
					    .goroutine = goroutine,
					    .stack_cnt = 1}};

	caught.regs[HIT_IP] = caught.stack[0] = ip;
	assert_ok(hit_list_add(snapshot->hits, &caught));
}

/* The trigger's text has g in it; what counts is the function that is probed. */
static void place_with(const char *path, const char *function, bool is_stored, uint64_t returned_ns)
{
	const uint64_t times[] = {10, returned_ns, 70, 66};
	static const uint64_t goroutines[] = {7, 7, 7, 9, 9, 9, 0};
	const struct probe_place place = {.path = (char *)path, .function = (char *)function};
	struct timeline *timeline = make_timeline();
	struct snapshot *snapshot;
	struct slice_cursor cursor;
	const struct slice *slice;

	if (is_stored)
		store(&timeline->threads[0]);
	assert_ok(snapshot_new(&snapshot));
	if (function)
		assert_ok(snapshot_add_place(snapshot, &place));
	add_hit(snapshot, 8, F, 0, 7);		      /* before its call by its clock */
	add_hit(snapshot, 25, BEHIND_G, BEHIND_G, 0); /* g seems to return later */
	add_hit(snapshot, 75, TRAP, 0, 0);	      /* the interruption itself is there */
	add_hit(snapshot, 66, F, 0, 9);
	assert_ok(place_hits(timeline, snapshot, symbol_at, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		assert_int_equal(timeline->hits[i].time_ns, times[i]);
	assert_ok(slice_cursor_begin(&cursor, &timeline->threads[0]));
	for (size_t i = 0; i < ARRAY_SIZE(goroutines); i++) {
		slice = slice_cursor_next(&cursor);
		assert_non_null(slice);
		assert_int_equal(slice->goroutine ? timeline->goroutines[slice->goroutine - 1] : 0,
				 goroutines[i]);
	}
	assert_null(slice_cursor_next(&cursor));
	assert_ok(slice_cursor_end(&cursor, 0));
	assert_int_equal(!!timeline->threads[0].stored, is_stored);
	timeline_free(timeline);
	snapshot_free(snapshot);
}

TEST(test_array)
{
	place_with("/usr/bin/prog", "g", false, 30);
}

TEST(test_stored)
{
	place_with("/usr/bin/prog", "g", true, 30);
}

TEST(test_only_the_probed_function_returned)
{
	place_with("/usr/bin/prog", "big", false, 25);
	place_with("/usr/bin/other", "g", false, 25);
	place_with("/container/of/prog", "g", false, 30);
}

/* Older recordings do not say what is probed. */
TEST(test_without_places)
{
	place_with(NULL, NULL, false, 25);
}

TEST_MAIN(NULL, NULL)
