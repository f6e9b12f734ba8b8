/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/hit_frames.h"

static const struct symbol f = {.name = "f", .object = "a"}, g = {.name = "g", .object = "a"},
			   h = {.name = "h", .object = "a"}, i = {.name = "i", .object = "a"};
/* As FXT files have them. */
static const struct symbol f_name = {.name = "f", .object = ""}, g_name = {.name = "g", .object = ""},
			   other_f = {.name = "f", .object = "b"};

enum { HIT_NS = 20, TID = 7 };

/* f calls h, which is over; then g, which calls g, which calls h; the innermost begins at the hit. */
static struct slice slices[] = {
	{.start_ns = 0, .end_ns = 100, .symbol = &f, .depth = 0},
	{.start_ns = 2, .end_ns = 8, .symbol = &h, .depth = 1},
	{.start_ns = 10, .end_ns = 90, .symbol = &g, .depth = 1},
	{.start_ns = 11, .end_ns = 80, .kind = SLICE_UNKNOWN, .depth = 2},
	{.start_ns = 12, .end_ns = 70, .symbol = &g, .depth = 3},
	{.start_ns = 20, .end_ns = 30, .symbol = &h, .depth = 4},
};

/* Frames as text: "h! g g+ f+": with its address; +: an open call that was not recorded; !: no open call. */
static void check(const struct symbol *const *stack, size_t cnt, const char *wanted)
{
	struct timeline_thread thread = {.tid = TID, .slices = slices, .slice_cnt = 6};
	const uint64_t ips[] = {0x1000, 0x1001, 0x1002, 0x1003, 0x1004};
	const struct hit hit = {
		.time_ns = 1000, .begin_ns = 1000, .tid = TID, .stack_cnt = (uint16_t)cnt, .stack = ips};
	const struct timeline_hit placed = {
		.hit = &hit, .time_ns = HIT_NS, .symbol = &h, .stack_symbols = stack};
	const struct timeline timeline = {.threads = &thread, .thread_cnt = 1};
	struct hit_frame *frames;
	char text[64] = "";
	size_t frame_cnt;

	assert_ok(hit_frames_find(&timeline, &placed, &frames, &frame_cnt));
	for (size_t at = 0; at < frame_cnt; at++) {
		strcat(text, at ? " " : "");
		strcat(text, frames[at].symbol ? frames[at].symbol->name : "?");
		strcat(text, !frames[at].ip ? "+" : !frames[at].is_open ? "!" : "");
	}
	assert_string_equal(text, wanted);
	free(frames);
}

TEST(test_frames)
{
	check((const struct symbol *[]){&h, &g, &g, &f}, 4, "h g g f");
	check((const struct symbol *[]){&h, &g}, 2, "h g g+ f+");	       /* unwinding ended early */
	check((const struct symbol *[]){&h, &f}, 2, "h g+ g+ f");	       /* it left some out */
	check((const struct symbol *[]){&h, NULL, &i}, 3, "h ?! i! g+ g+ f+"); /* it went astray */
	check((const struct symbol *[]){&h, &g, &g, &f, &i}, 5, "h g g f i!"); /* the trace begins later */
	check(NULL, 0, "h+ g+ g+ f+");
	check((const struct symbol *[]){&h, &g_name, &f_name}, 3, "h g g+ f");
	check((const struct symbol *[]){&h, &g, &g, &other_f}, 4, "h g g f! f+");
}

TEST_MAIN(NULL, NULL)
