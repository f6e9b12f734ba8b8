/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "heap/trace.h"

/* Names of functions may have in them what means something in a glob: "operator[]". */
static bool matches(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

/* ---- stacks ---- */

/* For each stack whether a function of it matches, or the innermost one that is known. */
static bool *find_stacks(const struct memtrace *trace, const char *pattern, bool is_innermost)
{
	bool *found = calloc(trace->stack_cnt, sizeof(*found));

	for (size_t i = 1; found && i < trace->stack_cnt; i++) {
		const struct memtrace_location *locations;
		size_t cnt = memtrace_locations(trace, trace->stacks[i].code, &locations);

		if (is_innermost && cnt) {
			found[i] = matches(pattern, locations[cnt - 1].function);
			continue;
		}
		found[i] = found[trace->stacks[i].parent];
		for (size_t j = 0; j < cnt && !found[i]; j++)
			found[i] = matches(pattern, locations[j].function);
	}
	return found;
}

static int keep_stacks(const struct memtrace *trace, const char *pattern, bool is_innermost, bool *keep)
{
	CLEANUP(freep) bool *found = NULL;

	if (!pattern)
		return 0;
	found = find_stacks(trace, pattern, is_innermost);
	for (size_t i = 0; found && i < trace->sample_cnt; i++)
		keep[i] &= found[trace->samples[i].stack];
	return found ? 0 : -ENOMEM;
}

/* ---- samples ---- */

static bool is_within(uint64_t value, uint64_t min, uint64_t max)
{
	return value >= min && (!max || value <= max);
}

static bool passes(const struct memtrace_filter *filter, const struct memtrace *trace,
		   const struct memtrace_sample *sample)
{
	bool is_live = sample->end_us == MEMTRACE_NEVER;
	uint64_t lifetime_us = is_live				  ? MEMTRACE_NEVER
			       : sample->end_us > sample->time_us ? sample->end_us - sample->time_us
								  : 0;

	return sample->time_us >= filter->after_us &&
	       (!filter->before_us || sample->time_us < filter->before_us) &&
	       is_within(memtrace_size(trace, sample), filter->min_bytes, filter->max_bytes) &&
	       is_within(lifetime_us, filter->min_lifetime_us, filter->max_lifetime_us) &&
	       (!filter->sources || filter->sources & 1u << sample->source) && (!filter->live || is_live);
}

static int keep_peak(struct memtrace *trace)
{
	CLEANUP(freep) bool *is_alive = calloc(trace->sample_cnt + 1, sizeof(*is_alive));
	struct memtrace_peak peak;
	int err = is_alive ? memtrace_find_peak(trace, &peak, is_alive) : -ENOMEM;

	return err ? err : memtrace_keep(trace, is_alive);
}

int memtrace_filter_apply(const struct memtrace_filter *filter, struct memtrace *trace)
{
	CLEANUP(freep) bool *keep = calloc(trace->sample_cnt + 1, sizeof(*keep));
	int err;

	if (!keep)
		return -ENOMEM;
	for (size_t i = 0; i < trace->sample_cnt; i++)
		keep[i] = passes(filter, trace, &trace->samples[i]);
	err = keep_stacks(trace, filter->function, false, keep);
	if (!err)
		err = keep_stacks(trace, filter->allocated_in, true, keep);
	if (!err)
		err = memtrace_keep(trace, keep);
	if (!err && filter->peak)
		err = keep_peak(trace);
	return err;
}
