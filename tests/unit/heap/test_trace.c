/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_traces.h"

#include <fnmatch.h>

enum { SEEDS = 20 };

TEST(test_load)
{
	for (unsigned int seed = 0; seed < SEEDS; seed++) {
		struct made made;
		struct memtrace *trace;
		size_t sample = 0;

		make_trace(&made, seed);
		assert_ok(memtrace_load(&trace, made.path, NULL));
		if (trace->damage)
			fail_msg("%s", trace->damage);
		assert_int_equal(trace->entry_cnt, EVENTS);
		assert_int_equal(trace->end_us, made.events[EVENTS - 1].time_us);
		for (size_t i = 0; i < EVENTS; i++) {
			const struct memtrace_event *event = &made.events[i];
			const struct memtrace_sample *got;
			uint64_t codes[DEPTH];

			assert_int_equal(trace->entries[i].kind, event->kind);
			assert_int_equal(trace->entries[i].time_us, event->time_us);
			assert_int_equal(trace->entries[i].domain, event->domain);
			got = &trace->samples[trace->entries[i].sample];
			assert_int_equal(got->id, event->kind == MEMTRACE_ALLOC ? made.ids[i] : event->id);
			if (event->kind != MEMTRACE_ALLOC)
				continue;
			assert_int_equal(trace->entries[i].sample, sample++);
			assert_int_equal(got->length, event->length);
			assert_int_equal(got->nsamples, event->nsamples);
			assert_int_equal(got->source, event->source);
			assert_int_equal(got->is_promoted, made.is_promoted[i]);
			assert_int_equal(got->end_us, made.end[i] == ALIVE
							      ? MEMTRACE_NEVER
							      : made.events[made.end[i]].time_us);
			assert_int_equal(trace->stacks[got->stack].depth, event->frame_cnt);
			memtrace_stack_codes(trace, got->stack, codes);
			assert_memory_equal(codes, event->frames, event->frame_cnt * sizeof(*codes));
		}
		memtrace_free(trace);
		unlink(made.path);
	}
}

/* ---- filters, the slow way ---- */

static bool has_function(const struct memtrace_event *event, const char *pattern, bool is_innermost)
{
	for (size_t i = event->frame_cnt; i-- > 0;) {
		const struct memtrace_location *places;
		int cnt = place_of(NULL, event->frames[i], &places);

		for (int j = cnt; j-- > 0;) {
			if (!strcmp(pattern, places[j].function) || !fnmatch(pattern, places[j].function, 0))
				return true;
			if (is_innermost)
				return false;
		}
	}
	return false;
}

static bool is_wanted(const struct made *made, size_t i, const struct memtrace_filter *filter)
{
	const struct memtrace_event *event = &made->events[i];
	uint64_t bytes = 8 * event->length, lifetime_us = UINT64_MAX;

	if (made->end[i] != ALIVE)
		lifetime_us = made->events[made->end[i]].time_us - event->time_us;
	if (event->time_us < filter->after_us || (filter->before_us && event->time_us >= filter->before_us))
		return false;
	if (bytes < filter->min_bytes || (filter->max_bytes && bytes > filter->max_bytes))
		return false;
	if (lifetime_us < filter->min_lifetime_us ||
	    (filter->max_lifetime_us && lifetime_us > filter->max_lifetime_us))
		return false;
	if (filter->sources && !(filter->sources >> event->source & 1))
		return false;
	if (filter->live && made->end[i] != ALIVE)
		return false;
	return (!filter->function || has_function(event, filter->function, false)) &&
	       (!filter->allocated_in || has_function(event, filter->allocated_in, true));
}

/* Samples that are alive behind event `at`. */
static uint64_t alive_at(const struct made *made, const struct memtrace_filter *filter, size_t at)
{
	uint64_t sum = 0;

	for (size_t i = 0; i <= at; i++)
		if (made->events[i].kind == MEMTRACE_ALLOC && (made->end[i] == ALIVE || made->end[i] > at) &&
		    is_wanted(made, i, filter))
			sum += made->events[i].nsamples;
	return sum;
}

static size_t find_peak(const struct made *made, const struct memtrace_filter *filter, uint64_t *ret_most)
{
	size_t best = 0;

	*ret_most = 0;
	for (size_t at = 0; at < EVENTS; at++) {
		if (alive_at(made, filter, at) <= *ret_most)
			continue;
		*ret_most = alive_at(made, filter, at);
		best = at;
	}
	return best;
}

static void check_filter(const struct made *made, const struct memtrace_filter *filter)
{
	struct memtrace *trace;
	uint64_t most;
	size_t peak = find_peak(made, filter, &most), entry = 0, sample = 0;
	struct memtrace_peak got;

	assert_ok(memtrace_load(&trace, made->path, filter));
	for (size_t i = 0; i < EVENTS; i++) {
		if (made->events[i].kind != MEMTRACE_ALLOC || !is_wanted(made, i, filter))
			continue;
		if (filter->peak && (i > peak || (made->end[i] != ALIVE && made->end[i] <= peak)))
			continue;
		assert_true(sample < trace->sample_cnt);
		assert_int_equal(trace->samples[sample++].id, made->ids[i]);
	}
	assert_int_equal(trace->sample_cnt, sample);
	for (; entry < trace->entry_cnt; entry++)
		assert_int_equal(trace->entries[entry].id, trace->samples[trace->entries[entry].sample].id);
	assert_ok(memtrace_find_peak(trace, &got, NULL));
	assert_int_equal(got.nsamples, most);
	memtrace_free(trace);
}

/* Limits that are some allocation's own: which side they are on. */
static void check_limits(const struct made *made)
{
	for (size_t i = 0; i < EVENTS; i += 10) {
		const struct memtrace_event *event = &made->events[i];

		if (event->kind != MEMTRACE_ALLOC || !event->time_us)
			continue;
		check_filter(made, &(struct memtrace_filter){.after_us = event->time_us});
		check_filter(made, &(struct memtrace_filter){.before_us = event->time_us});
		check_filter(made, &(struct memtrace_filter){.min_bytes = 8 * event->length});
		check_filter(made, &(struct memtrace_filter){.max_bytes = 8 * event->length});
	}
}

TEST(test_filters)
{
	const struct memtrace_filter filters[] = {
		{0},
		{.live = true},
		{.peak = true},
		{.after_us = 30000},
		{.after_us = 20000, .before_us = 90000},
		{.min_bytes = 800},
		{.min_bytes = 80, .max_bytes = 400},
		{.min_lifetime_us = 5000},
		{.max_lifetime_us = 20000},
		{.sources = 1u << MEMTRACE_MAJOR},
		{.sources = 1u << MEMTRACE_MINOR | 1u << MEMTRACE_EXTERNAL, .live = true},
		{.function = "f"},
		{.function = "operator[]"},
		{.function = "[g-h]"},
		{.function = "nothing"},
		{.allocated_in = "k"},
		{.function = "h", .allocated_in = "?", .min_bytes = 100, .peak = true},
		{.live = true, .peak = true, .before_us = 150000},
	};

	for (unsigned int seed = 0; seed < SEEDS; seed++) {
		struct made made;

		make_trace(&made, 100 + seed);
		for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
			check_filter(&made, &filters[i]);
		check_limits(&made);
		unlink(made.path);
	}
}

/* ---- what is not as it should be ---- */

TEST(test_damage)
{
	struct made made;
	struct memtrace *trace;
	FILE *file;

	make_trace(&made, 7);
	file = fopen(made.path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	for (int i = 0; i < 100; i++)
		fputc(0x55, file);
	fclose(file);
	assert_ok(memtrace_load(&trace, made.path, NULL));
	assert_non_null(trace->damage);
	assert_int_equal(trace->entry_cnt, EVENTS);
	memtrace_free(trace);
	unlink(made.path);
	assert_err(memtrace_load(&trace, "/etc/passwd", NULL), -EBADMSG, "/etc/passwd");
	assert_err(memtrace_load(&trace, "/nonexistent", NULL), -ENOENT, "/nonexistent");
}

/* An end that is told twice, and one of what the trace does not have, stay where nothing is filtered out. */
TEST(test_strange_ends)
{
	struct memtrace_sample samples[] = {{.end_us = 5, .nsamples = 2},
					    {.end_us = MEMTRACE_NEVER, .nsamples = 1}};
	struct memtrace_entry entries[] = {
		{.kind = MEMTRACE_ALLOC, .sample = 0},
		{.kind = MEMTRACE_COLLECT, .sample = 0, .time_us = 5},
		{.kind = MEMTRACE_COLLECT, .sample = MEMTRACE_NONE, .time_us = 6},
		{.kind = MEMTRACE_ALLOC, .sample = 1, .time_us = 6},
	};
	struct memtrace trace = {
		.samples = samples, .sample_cnt = 2, .entries = entries, .entry_cnt = ARRAY_SIZE(entries)};
	struct memtrace_peak peak;

	assert_ok(memtrace_find_peak(&trace, &peak, NULL));
	assert_int_equal(peak.nsamples, 2);
	assert_int_equal(peak.time_us, 0);
	assert_ok(memtrace_keep(&trace, (bool[]){true, true}));
	assert_int_equal(trace.entry_cnt, 4);
	assert_ok(memtrace_keep(&trace, (bool[]){false, true}));
	assert_int_equal(trace.entry_cnt, 1);
	assert_int_equal(trace.entries[0].sample, 0);
	assert_int_equal(trace.samples[0].nsamples, 1);
	assert_ok(memtrace_keep(&trace, (bool[]){false}));
	assert_int_equal(trace.sample_cnt + trace.entry_cnt, 0);
	assert_ok(memtrace_find_peak(&trace, &peak, NULL));
	assert_int_equal(peak.nsamples, 0);
}

TEST_MAIN(NULL, NULL)
