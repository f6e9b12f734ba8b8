/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "base/array.h"
#include "base/spill.h"
#include "timeline/waits.h"

static const struct symbol serve = {.name = "serve"}, load = {.name = "load"};

static void assert_wait(const struct wait *wait, const char *name, const char *function, const char *woken_by,
			uint64_t cnt, uint64_t total_ns, uint64_t longest_ns)
{
	assert_string_equal(wait->name, name);
	assert_string_equal(wait->function, function);
	assert_string_equal(wait->woken_by, woken_by);
	assert_int_equal(wait->cnt, cnt);
	assert_int_equal(wait->total_ns, total_ns);
	assert_int_equal(wait->longest_ns, longest_ns);
}

/* Equal waits are one, whichever thread they are of; a page fault belongs to the call that is open then. */
TEST(test_sums)
{
	char holder[] = "holder (tid 7)";
	char hog[] = "hog";
	const struct slice_detail lock = {.name = "[off-cpu] futex_wait", .woken_by = holder},
				  queue = {.name = "[run-queue]", .behind = hog};
	struct slice slices[] = {
		{.start_ns = 0, .end_ns = 900, .symbol = &serve},
		{.start_ns = 10, .end_ns = 300, .depth = 1, .kind = SLICE_SYSCALL},
		{.start_ns = 20,
		 .end_ns = 120,
		 .depth = 2,
		 .kind = SLICE_OFF_CPU,
		 .flags = SLICE_DETAILED,
		 .detail = &lock},
		{.start_ns = 120, .end_ns = 125, .depth = 2, .kind = SLICE_RUN_QUEUE},
		{.start_ns = 130,
		 .end_ns = 138,
		 .depth = 2,
		 .kind = SLICE_RUN_QUEUE,
		 .flags = SLICE_DETAILED,
		 .detail = &queue},
		{.start_ns = 400, .end_ns = 500, .depth = 1, .symbol = &load},
		{.start_ns = 600,
		 .end_ns = 900,
		 .depth = 1,
		 .kind = SLICE_OFF_CPU,
		 .flags = SLICE_DETAILED,
		 .detail = &lock},
	};
	struct instant instants[] = {{.time_ns = 450, .text = (char *)"[page fault: 0x1000]"},
				     {.time_ns = 460, .text = (char *)"[page fault: 0x2000]"},
				     {.time_ns = 550, .text = (char *)"[page fault: 0x3000]"},
				     {.time_ns = 560, .text = (char *)"[gap: overflow]"},
				     {.time_ns = 5000, .text = (char *)"[page fault: 0x4000]"}};
	struct timeline_thread thread = {0};
	struct waits waits = {0};

	for (size_t i = 0; i < ARRAY_SIZE(slices); i++)
		assert_ok(SPILL_PUSH(thread.slices, thread.slice_cnt, thread.slice_cap, slices[i]));
	for (size_t i = 0; i < ARRAY_SIZE(instants); i++)
		assert_ok(SPILL_PUSH(thread.instants, thread.instant_cnt, thread.instant_cap, instants[i]));
	assert_ok(waits_add(&waits, &thread));
	assert_ok(waits_add(&waits, &thread));
	waits_sort(&waits);
	assert_int_equal(waits.cnt, 6);
	assert_wait(&waits.items[0], "[off-cpu] futex_wait", "serve", holder, 4, 800, 300);
	assert_wait(&waits.items[1], "[run-queue]", "", "", 2, 16, 8);
	assert_string_equal(waits.items[1].behind, "hog");
	assert_wait(&waits.items[2], "[run-queue]", "", "", 2, 10, 5);
	assert_string_equal(waits.items[2].behind, "");
	assert_wait(&waits.items[3], "[page fault]", "load", "", 4, 0, 0);
	assert_int_equal(waits.items[4].cnt, 2);
	waits_release(&waits);
	spill_free(thread.slices);
	spill_free(thread.instants);
}

static void add_read(struct timeline_thread *thread, struct slice_detail *detail, char *file)
{
	struct slice slice = {.end_ns = 10, .kind = SLICE_OFF_CPU, .flags = SLICE_DETAILED, .detail = detail};

	*detail = (struct slice_detail){.name = "[off-cpu] read", .file = file};
	assert_ok(SPILL_PUSH(thread->slices, thread->slice_cnt, thread->slice_cap, slice));
}

/* Of connections to one server, the port of who calls is of chance. */
TEST(test_files)
{
	static char *const files[] = {
		(char *)"socket 127.0.0.1:6379 <-> :51234", (char *)"socket 127.0.0.1:6379 <-> :51235",
		(char *)"socket 10.0.0.1:40000 <-> 10.0.0.2:443", (char *)"socket listening at 0.0.0.0:40000",
		(char *)"file /a:40000 <-> b"};
	struct slice_detail details[ARRAY_SIZE(files)];
	struct timeline_thread thread = {.tid = 5};
	struct waits waits = {0};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		add_read(&thread, &details[i], files[i]);
	assert_ok(waits_add(&waits, &thread));
	assert_int_equal(waits.cnt, 4);
	assert_string_equal(waits.items[0].file, "socket 127.0.0.1:6379 <-> :*");
	assert_int_equal(waits.items[0].cnt, 2);
	assert_string_equal(waits.items[1].file, "socket 10.0.0.1:* <-> 10.0.0.2:443");
	assert_string_equal(waits.items[2].file, files[3]);
	assert_string_equal(waits.items[3].file, files[4]);
	waits_release(&waits);
	spill_free(thread.slices);
}

TEST_MAIN(NULL, NULL)
