/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_traces.h"

#include "heap/heap_timeline.h"

enum { SEEDS = 10 };

static const struct timeline_thread *thread_of(const struct timeline *timeline, uint16_t domain)
{
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		if (timeline->threads[i].tid == 42 + domain)
			return &timeline->threads[i];
	fail_msg("there is no thread of domain %u", domain);
	return NULL;
}

/* At the time of a sample, and up to the next one of its domain, its stack is what is open. */
static void check_stack(const struct timeline_thread *thread, const struct memtrace_event *event,
			uint64_t to_us)
{
	uint64_t from_ns = event->time_us * 1000, to_ns = to_us * 1000;
	uint32_t depth = 0;

	for (size_t i = 0; i < event->frame_cnt; i++) {
		const struct memtrace_location *places;
		int cnt = place_of(NULL, event->frames[i], &places);

		for (int j = 0; j < cnt; j++, depth++) {
			const struct slice *found = NULL;

			for (size_t k = 0; k < thread->slice_cnt; k++)
				if (thread->slices[k].depth == depth &&
				    thread->slices[k].start_ns <= from_ns &&
				    thread->slices[k].end_ns >= to_ns)
					found = &thread->slices[k];
			assert_non_null(found);
			assert_string_equal(slice_name(found), places[j].function);
		}
	}
	if (!depth)
		depth = 1; /* "[unknown]" */
	for (size_t k = 0; k < thread->slice_cnt; k++)
		if (thread->slices[k].depth >= depth)
			assert_true(thread->slices[k].end_ns <= from_ns ||
				    thread->slices[k].start_ns >= to_ns);
}

static const struct memtrace_event *next_sample(const struct made *made, size_t i)
{
	for (size_t j = i + 1; j < EVENTS; j++)
		if (made->events[j].kind == MEMTRACE_ALLOC &&
		    made->events[j].domain == made->events[i].domain)
			return &made->events[j];
	return &made->events[EVENTS - 1];
}

struct shown_stack {
	struct memtrace_location places[2 * DEPTH];
	size_t cnt;
};

static struct shown_stack stack_of(const struct memtrace_event *event)
{
	struct shown_stack stack = {0};

	for (size_t i = 0; i < event->frame_cnt; i++) {
		const struct memtrace_location *places;
		int cnt = place_of(NULL, event->frames[i], &places);

		for (int j = 0; j < cnt; j++)
			stack.places[stack.cnt++] = places[j];
	}
	if (!stack.cnt)
		stack.places[stack.cnt++] = (struct memtrace_location){.function = "[unknown]", .file = ""};
	return stack;
}

/* What two samples have in common, from the outermost on, goes on between them. */
static size_t count_slices(const struct made *made, uint16_t domain)
{
	struct shown_stack before = {0};
	size_t slices = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		struct shown_stack stack;
		size_t same = 0;

		if (made->events[i].kind != MEMTRACE_ALLOC || made->events[i].domain != domain)
			continue;
		stack = stack_of(&made->events[i]);
		while (same < stack.cnt && same < before.cnt &&
		       !strcmp(stack.places[same].function, before.places[same].function) &&
		       !strcmp(stack.places[same].file, before.places[same].file))
			same++;
		slices += stack.cnt - same;
		before = stack;
	}
	return slices;
}

static void check_counters(const struct timeline *timeline, const struct made *made)
{
	const struct counter *live = &timeline->counters[0], *allocated = &timeline->counters[1];
	uint64_t wanted_live = 0, wanted_allocated = 0;

	assert_int_equal(timeline->counter_cnt, 2);
	for (size_t i = 0; i < EVENTS; i++) {
		if (made->events[i].kind != MEMTRACE_ALLOC)
			continue;
		wanted_allocated += made->events[i].nsamples * 64 * 8;
		wanted_live += made->end[i] == ALIVE ? made->events[i].nsamples * 64 * 8 : 0;
	}
	assert_int_equal(live->points[live->point_cnt - 1].value, wanted_live);
	assert_int_equal(allocated->points[allocated->point_cnt - 1].value, wanted_allocated);
	for (size_t i = 1; i < live->point_cnt; i++)
		assert_true(live->points[i].time_ns > live->points[i - 1].time_ns);
}

TEST(test_random)
{
	for (unsigned int seed = 0; seed < SEEDS; seed++) {
		struct memtrace_shown *shown;
		struct memtrace *trace;
		struct made made;
		const struct timeline *timeline;
		size_t moments = 0;

		make_trace(&made, 300 + seed);
		assert_ok(memtrace_load(&trace, made.path, NULL));
		assert_ok(memtrace_show(&shown, trace));
		timeline = memtrace_shown_timeline(shown);
		assert_true(timeline_is_valid(timeline));
		assert_int_equal(timeline->thread_cnt, 2);
		assert_int_equal(timeline->base_realtime_ns, 1000000000);
		for (size_t i = 0; i < EVENTS; i++)
			if (made.events[i].kind == MEMTRACE_ALLOC &&
			    made.events[i].time_us < next_sample(&made, i)->time_us)
				check_stack(thread_of(timeline, made.events[i].domain), &made.events[i],
					    next_sample(&made, i)->time_us);
		for (size_t i = 0; i < timeline->thread_cnt; i++)
			moments += timeline->threads[i].instant_cnt;
		assert_int_equal(moments, trace->sample_cnt);
		for (uint16_t domain = 0; domain < 2; domain++)
			assert_int_equal(thread_of(timeline, domain)->slice_cnt, count_slices(&made, domain));
		check_counters(timeline, &made);
		memtrace_shown_free(shown);
		memtrace_free(trace);
		unlink(made.path);
	}
}

TEST_MAIN(NULL, NULL)
