/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/heap_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/spill.h"
#include "heap/tree.h"

enum { NS_PER_US = 1000, DOMAINS = MEMTRACE_DOMAIN_MAX + 1 };

struct memtrace_shown {
	const struct memtrace *trace;
	struct timeline *timeline;
	struct memtrace_tree *tree;
	struct symbol *symbols; /* by frame */
};

/* A thread's slices that have not ended, by depth, and which frames they are. */
struct open {
	uint32_t *frames, *path; /* path: what is open with the next sample */
	size_t *slices;
	size_t cnt, frame_cap, path_cap, slice_cap;
};

struct builder {
	struct memtrace_shown *shown;
	struct open *open;   /* parallel to the timeline's threads */
	uint32_t *thread_of; /* by domain, one more than the index */
	size_t open_cap;
};

/* ---- threads ---- */

static int32_t shown_pid(const struct memtrace *trace)
{
	return trace->info->pid < INT32_MAX - DOMAINS ? (int32_t)trace->info->pid : 0;
}

static int add_thread(struct builder *builder, uint16_t domain)
{
	struct timeline *timeline = builder->shown->timeline;
	int32_t pid = shown_pid(builder->shown->trace);
	struct timeline_thread thread = {.pid = pid, .tid = pid + domain};
	size_t cnt = timeline->thread_cnt;

	if (array_reserve(&builder->open, &builder->open_cap, cnt + 1, sizeof(*builder->open)) ||
	    asprintf(&thread.name, "domain %u", domain) < 0)
		return -ENOMEM;
	if (ARRAY_PUSH(timeline->threads, timeline->thread_cnt, timeline->thread_cap, thread)) {
		free(thread.name);
		return -ENOMEM;
	}
	builder->open[cnt] = (struct open){0};
	builder->thread_of[domain] = (uint32_t)timeline->thread_cnt;
	return 0;
}

/* ---- slices ---- */

static void close_to(struct timeline_thread *thread, struct open *open, size_t cnt, uint64_t time_ns)
{
	while (open->cnt > cnt)
		thread->slices[open->slices[--open->cnt]].end_ns = time_ns;
}

static int open_slice(const struct memtrace_shown *shown, struct timeline_thread *thread, struct open *open,
		      uint64_t time_ns)
{
	uint32_t frame = open->path[open->cnt];
	struct slice slice = {.start_ns = time_ns,
			      .end_ns = time_ns,
			      .symbol = &shown->symbols[frame],
			      .depth = (uint32_t)open->cnt};

	open->frames[open->cnt] = frame;
	open->slices[open->cnt++] = thread->slice_cnt;
	return SPILL_PUSH(thread->slices, thread->slice_cnt, thread->slice_cap, slice);
}

static int show_stack(const struct memtrace_shown *shown, struct timeline_thread *thread, struct open *open,
		      uint32_t path, uint64_t time_ns)
{
	size_t depth = shown->tree->paths[path].depth, kept = 0;
	int err = array_reserve(&open->path, &open->path_cap, depth, sizeof(*open->path));

	if (!err)
		err = array_reserve(&open->frames, &open->frame_cap, depth, sizeof(*open->frames));
	if (!err)
		err = array_reserve(&open->slices, &open->slice_cap, depth, sizeof(*open->slices));
	if (err)
		return err;
	memtrace_tree_frames(shown->tree, path, open->path);
	while (kept < depth && kept < open->cnt && open->path[kept] == open->frames[kept])
		kept++;
	close_to(thread, open, kept, time_ns);
	while (!err && open->cnt < depth)
		err = open_slice(shown, thread, open, time_ns);
	return err;
}

static int show_moment(const struct memtrace *trace, struct timeline_thread *thread,
		       const struct memtrace_sample *sample, uint64_t time_ns)
{
	struct instant instant = {.time_ns = time_ns, .is_event = true};

	if (asprintf(&instant.text, "%" PRIu64 " bytes, %s, for about %" PRIu64, memtrace_size(trace, sample),
		     memtrace_source_name(sample->source), memtrace_bytes_of(trace, sample->nsamples)) < 0)
		return -ENOMEM;
	if (!ARRAY_PUSH(thread->instants, thread->instant_cnt, thread->instant_cap, instant))
		return 0;
	free(instant.text);
	return -ENOMEM;
}

static int show_sample(struct builder *builder, uint32_t index, uint64_t time_ns)
{
	const struct memtrace_shown *shown = builder->shown;
	const struct memtrace_sample *sample = &shown->trace->samples[index];
	uint32_t *number = &builder->thread_of[sample->domain];
	struct timeline_thread *thread;
	int err = *number ? 0 : add_thread(builder, sample->domain);

	if (err)
		return err;
	thread = &shown->timeline->threads[*number - 1];
	err = show_stack(shown, thread, &builder->open[*number - 1], shown->tree->path_of[index], time_ns);
	return err ? err : show_moment(shown->trace, thread, sample, time_ns);
}

/* ---- counters ---- */

enum { LIVE, ALLOCATED, COUNTER_CNT };

static int add_counters(struct timeline *timeline, int32_t pid)
{
	static const char *const names[] = {
		[LIVE] = "live bytes (estimate)",
		[ALLOCATED] = "allocated bytes (estimate)",
	};

	_Static_assert(ARRAY_SIZE(names) == COUNTER_CNT, "a name for each counter");
	for (size_t i = 0; i < COUNTER_CNT; i++) {
		struct counter counter = {.name = strdup(names[i]), .pid = pid, .tid = pid};

		if (counter.name &&
		    !ARRAY_PUSH(timeline->counters, timeline->counter_cnt, timeline->counter_cap, counter))
			continue;
		free(counter.name);
		return -ENOMEM;
	}
	return 0;
}

/* Of several values at one time the last one counts. */
static int count(struct counter *counter, uint64_t time_ns, uint64_t value)
{
	struct counter_point point = {.time_ns = time_ns, .value = value};

	if (counter->point_cnt && counter->points[counter->point_cnt - 1].time_ns == time_ns) {
		counter->points[counter->point_cnt - 1] = point;
		return 0;
	}
	return ARRAY_PUSH(counter->points, counter->point_cnt, counter->point_cap, point);
}

/* ---- all ---- */

static int show_entry(struct builder *builder, const struct memtrace_entry *entry, uint64_t live,
		      uint64_t allocated)
{
	const struct memtrace *trace = builder->shown->trace;
	struct counter *counters = builder->shown->timeline->counters;
	uint64_t time_ns = entry->time_us * NS_PER_US;
	int err = count(&counters[LIVE], time_ns, memtrace_bytes_of(trace, live));

	if (err || entry->kind != MEMTRACE_ALLOC)
		return err;
	err = count(&counters[ALLOCATED], time_ns, memtrace_bytes_of(trace, allocated));
	return err ? err : show_sample(builder, entry->sample, time_ns);
}

static int show_entries(struct builder *builder)
{
	const struct memtrace *trace = builder->shown->trace;
	CLEANUP(freep) uint32_t *order = memtrace_in_time(trace);
	uint64_t allocated = 0;
	__int128 live = 0; /* less than nothing where another domain told of an end before its beginning */
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < trace->entry_cnt && !err; i++) {
		const struct memtrace_entry *entry = &trace->entries[order[i]];

		if (entry->kind == MEMTRACE_PROMOTE || entry->sample == MEMTRACE_NONE)
			continue;
		live += memtrace_change(trace, entry);
		if (entry->kind == MEMTRACE_ALLOC)
			allocated = memtrace_add(allocated, trace->samples[entry->sample].nsamples);
		err = show_entry(builder, entry, live > 0 ? (uint64_t)live : 0, allocated);
	}
	for (size_t i = 0; i < builder->shown->timeline->thread_cnt; i++)
		close_to(&builder->shown->timeline->threads[i], &builder->open[i], 0,
			 trace->end_us * NS_PER_US);
	return err;
}

static int make_symbols(struct memtrace_shown *shown)
{
	const struct memtrace_tree *tree = shown->tree;

	shown->symbols = calloc(tree->frame_cnt + 1, sizeof(*shown->symbols));
	for (size_t i = 0; shown->symbols && i < tree->frame_cnt; i++)
		shown->symbols[i] =
			(struct symbol){.name = tree->frames[i].function,
					.object = shown->trace->info->executable,
					.file = *tree->frames[i].file ? tree->frames[i].file : NULL,
					.named = true};
	return shown->symbols ? 0 : -ENOMEM;
}

static int make_timeline(struct memtrace_shown *shown)
{
	const struct memtrace_info *info = shown->trace->info;
	struct builder builder = {.shown = shown};
	int err = timeline_new(&shown->timeline);

	if (err)
		return err;
	shown->timeline->base_realtime_ns = info->start_us * NS_PER_US;
	shown->timeline->command = strdup(info->executable);
	shown->timeline->source = strdup("memtrace");
	shown->timeline->stopped_by = strdup("");
	builder.thread_of = calloc(DOMAINS, sizeof(*builder.thread_of));
	if (!shown->timeline->command || !shown->timeline->source || !shown->timeline->stopped_by ||
	    !builder.thread_of)
		err = -ENOMEM;
	if (!err)
		err = add_counters(shown->timeline, shown_pid(shown->trace));
	if (!err)
		err = show_entries(&builder);
	for (size_t i = 0; builder.open && i < shown->timeline->thread_cnt; i++) {
		free(builder.open[i].frames);
		free(builder.open[i].path);
		free(builder.open[i].slices);
	}
	free(builder.open);
	free(builder.thread_of);
	return err;
}

int memtrace_show(struct memtrace_shown **ret_shown, const struct memtrace *trace)
{
	static const struct memtrace_tree_config config = {.detail = MEMTRACE_BY_FUNCTION};
	CLEANUP(memtrace_shown_freep) struct memtrace_shown *shown = calloc(1, sizeof(*shown));
	int err = shown ? memtrace_tree_new(&shown->tree, trace, &config) : -ENOMEM;

	if (err)
		return err;
	shown->trace = trace;
	err = make_symbols(shown);
	if (!err)
		err = make_timeline(shown);
	if (!err)
		*ret_shown = TAKE_PTR(shown);
	return err;
}

struct timeline *memtrace_shown_take_timeline(struct memtrace_shown *shown)
{
	return TAKE_PTR(shown->timeline);
}

void memtrace_shown_free(struct memtrace_shown *shown)
{
	timeline_free(shown->timeline);
	if (shown->tree)
		memtrace_tree_free(shown->tree);
	free(shown->symbols);
	free(shown);
}

const struct timeline *memtrace_shown_timeline(const struct memtrace_shown *shown)
{
	return shown->timeline;
}
