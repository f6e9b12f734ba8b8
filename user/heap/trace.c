/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/spill.h"

struct loader {
	struct memtrace *trace;
	struct hash_index stacks; /* by parent and code */
	struct hash_index ids;	  /* samples */
	uint32_t *path;		  /* the stacks that the last sample's stack goes on from, outermost first */
	size_t path_cnt, path_cap;
	uint16_t domain; /* of the last sample */
};

/* ---- stacks ---- */

static int push_stack(struct memtrace *trace, struct memtrace_stack stack)
{
	if (trace->stack_cnt == MEMTRACE_NONE)
		return -ENOMEM;
	return SPILL_PUSH(trace->stacks, trace->stack_cnt, trace->stack_cap, stack);
}

static int find_stack(struct loader *loader, uint32_t parent, uint64_t code, uint32_t *ret_stack)
{
	struct memtrace *trace = loader->trace;
	uint64_t hash = hash_number(hash_number(0, parent), code);
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&loader->stacks, hash, &at)) != HASH_INDEX_END;) {
		if (trace->stacks[i].parent != parent || trace->stacks[i].code != code)
			continue;
		*ret_stack = (uint32_t)i;
		return 0;
	}
	err = push_stack(trace, (struct memtrace_stack){.code = code,
							.parent = parent,
							.depth = trace->stacks[parent].depth + 1});
	if (!err)
		err = hash_index_add(&loader->stacks, hash, trace->stack_cnt - 1);
	*ret_stack = (uint32_t)trace->stack_cnt - 1;
	return err;
}

/* Most of a stack is that of the sample before: what the trace itself says of that needs no look. */
static size_t known_prefix(const struct loader *loader, const struct memtrace_event *event)
{
	size_t cnt = event->domain == loader->domain ? event->common_prefix : 0;

	return cnt <= loader->path_cnt && cnt <= event->frame_cnt ? cnt : 0;
}

static int add_stack(struct loader *loader, const struct memtrace_event *event, uint32_t *ret_stack)
{
	const struct memtrace_stack *stacks = loader->trace->stacks;
	size_t cnt = known_prefix(loader, event);
	int err;

	while (cnt < event->frame_cnt && cnt < loader->path_cnt &&
	       stacks[loader->path[cnt]].code == event->frames[cnt])
		cnt++;
	err = array_reserve(&loader->path, &loader->path_cap, event->frame_cnt, sizeof(*loader->path));
	for (; !err && cnt < event->frame_cnt; cnt++)
		err = find_stack(loader, cnt ? loader->path[cnt - 1] : MEMTRACE_EMPTY_STACK,
				 event->frames[cnt], &loader->path[cnt]);
	if (err)
		return err;
	loader->path_cnt = event->frame_cnt;
	loader->domain = event->domain;
	*ret_stack = cnt ? loader->path[cnt - 1] : MEMTRACE_EMPTY_STACK;
	return 0;
}

/* ---- events ---- */

static int add_sample(struct loader *loader, const struct memtrace_event *event)
{
	struct memtrace *trace = loader->trace;
	struct memtrace_sample sample = {
		.time_us = event->time_us,
		.end_us = MEMTRACE_NEVER,
		.id = event->id,
		.length = event->length,
		.nsamples = event->nsamples,
		.common_prefix = (uint32_t)event->common_prefix,
		.domain = event->domain,
		.source = (uint8_t)event->source,
	};
	int err = add_stack(loader, event, &sample.stack);

	if (!err)
		err = hash_index_add(&loader->ids, hash_number(0, event->id), trace->sample_cnt);
	return err ? err : SPILL_PUSH(trace->samples, trace->sample_cnt, trace->sample_cap, sample);
}

static int add_event(struct loader *loader, const struct memtrace_event *event)
{
	struct memtrace *trace = loader->trace;
	struct memtrace_entry entry = {.time_us = event->time_us,
				       .id = event->id,
				       .sample = MEMTRACE_NONE,
				       .domain = event->domain,
				       .kind = (uint8_t)event->kind};
	int err = 0;

	if (trace->entry_cnt == MEMTRACE_NONE)
		return -ENOMEM;
	if (event->time_us > trace->end_us)
		trace->end_us = event->time_us;
	if (event->kind == MEMTRACE_ALLOC) {
		entry.sample = (uint32_t)trace->sample_cnt;
		err = add_sample(loader, event);
	}
	return err ? err : SPILL_PUSH(trace->entries, trace->entry_cnt, trace->entry_cap, entry);
}

/* One of that id that has not ended yet. */
static uint32_t find_sample(const struct loader *loader, uint64_t id)
{
	const struct memtrace_sample *samples = loader->trace->samples;
	uint64_t hash = hash_number(0, id);

	for (size_t at = 0, i; (i = hash_index_next(&loader->ids, hash, &at)) != HASH_INDEX_END;)
		if (samples[i].id == id && samples[i].end_us == MEMTRACE_NEVER)
			return (uint32_t)i;
	return MEMTRACE_NONE;
}

/*
 * When all are known: another domain may have told of an end before the packet with the beginning was
 * written.
 */
static void find_ends(const struct loader *loader)
{
	struct memtrace *trace = loader->trace;

	for (size_t i = 0; i < trace->entry_cnt; i++) {
		struct memtrace_entry *entry = &trace->entries[i];

		SPILL_PASS(trace->entries, i);
		if (entry->kind == MEMTRACE_ALLOC)
			continue;
		entry->sample = find_sample(loader, entry->id);
		if (entry->sample == MEMTRACE_NONE)
			continue;
		if (entry->kind == MEMTRACE_PROMOTE)
			trace->samples[entry->sample].is_promoted = true;
		else
			trace->samples[entry->sample].end_us = entry->time_us;
	}
}

static void tell_progress(const struct memtrace_reader *reader)
{
	struct memtrace_reader_counts counts = memtrace_reader_counts(reader);

	if (counts.size)
		progress_tell("reading: %.0f %% of %" PRIu64 " MB",
			      100.0 * (double)counts.bytes / (double)counts.size, counts.size >> 20);
	else
		progress_tell("reading: %" PRIu64 " MB", counts.bytes >> 20);
}

static int read_all(struct loader *loader)
{
	enum { TELL_EVERY = 1 << 10 };
	struct memtrace_event event;
	unsigned int cnt = 0;
	int got, err = push_stack(loader->trace, (struct memtrace_stack){0});

	while (!err && (got = memtrace_reader_next(loader->trace->reader, &event)) != 0) {
		if (!(++cnt % TELL_EVERY) && progress_is_due())
			tell_progress(loader->trace->reader);
		if (got < 0 && got != -EBADMSG)
			return got;
		if (got < 0) {
			loader->trace->damage = strdup(fail_message(got));
			err = loader->trace->damage ? 0 : -ENOMEM;
			break;
		}
		err = add_event(loader, &event);
	}
	progress_end();
	if (!err)
		find_ends(loader);
	return err;
}

int memtrace_load(struct memtrace **ret_trace, const char *path, const struct memtrace_filter *filter)
{
	CLEANUP(memtrace_freep) struct memtrace *trace = calloc(1, sizeof(*trace));
	struct loader loader = {.trace = trace};
	int err = trace ? 0 : fail(-ENOMEM, "no memory for an allocation trace");

	if (!err)
		err = memtrace_reader_open(&trace->reader, path, &(struct memtrace_reader_config){0});
	if (err)
		return err;
	trace->info = memtrace_reader_info(trace->reader);
	err = read_all(&loader);
	hash_index_release(&loader.stacks);
	hash_index_release(&loader.ids);
	free(loader.path);
	if (!err && filter)
		err = memtrace_filter_apply(filter, trace);
	if (err == -ENOMEM)
		return fail(err, "%s: no memory for so many allocations", path);
	if (!err)
		*ret_trace = TAKE_PTR(trace);
	return err;
}

void memtrace_free(struct memtrace *trace)
{
	if (trace->reader)
		memtrace_reader_close(trace->reader);
	spill_free(trace->samples);
	spill_free(trace->entries);
	spill_free(trace->stacks);
	free(trace->damage);
	free(trace);
}

int memtrace_keep(struct memtrace *trace, const bool *keep)
{
	CLEANUP(freep) uint32_t *moved = NULL;
	size_t samples = 0, entries = 0;

	if (!memchr(keep, false, trace->sample_cnt))
		return 0;
	moved = calloc(trace->sample_cnt, sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	for (size_t i = 0; i < trace->sample_cnt; i++) {
		moved[i] = (uint32_t)samples;
		if (keep[i])
			trace->samples[samples++] = trace->samples[i];
	}
	for (size_t i = 0; i < trace->entry_cnt; i++) {
		struct memtrace_entry entry = trace->entries[i];

		if (entry.sample == MEMTRACE_NONE || !keep[entry.sample])
			continue;
		entry.sample = moved[entry.sample];
		trace->entries[entries++] = entry;
	}
	trace->sample_cnt = samples;
	trace->entry_cnt = entries;
	return 0;
}

/* ---- questions ---- */

size_t memtrace_locations(const struct memtrace *trace, uint64_t code,
			  const struct memtrace_location **ret_locations)
{
	int cnt = memtrace_reader_locations(trace->reader, code, ret_locations);

	return cnt > 0 ? (size_t)cnt : 0;
}

void memtrace_stack_codes(const struct memtrace *trace, uint32_t stack, uint64_t *codes)
{
	for (; stack != MEMTRACE_EMPTY_STACK; stack = trace->stacks[stack].parent)
		codes[trace->stacks[stack].depth - 1] = trace->stacks[stack].code;
}

bool *memtrace_used_stacks(const struct memtrace *trace)
{
	bool *is_used = calloc(trace->stack_cnt, sizeof(*is_used));

	for (size_t i = 0; is_used && i < trace->sample_cnt; i++)
		is_used[trace->samples[i].stack] = true;
	for (size_t i = trace->stack_cnt; is_used && i-- > 1;)
		if (is_used[i])
			is_used[trace->stacks[i].parent] = true;
	return is_used;
}

const char *memtrace_source_name(enum memtrace_source source)
{
	static const char *const names[] = {
		[MEMTRACE_MINOR] = "minor",
		[MEMTRACE_MAJOR] = "major",
		[MEMTRACE_EXTERNAL] = "external",
	};

	_Static_assert(ARRAY_SIZE(names) == MEMTRACE_SOURCE_CNT, "a name for each source");
	return names[source];
}

uint64_t memtrace_bytes_of(const struct memtrace *trace, uint64_t nsamples)
{
	double bytes = (double)nsamples / trace->info->sample_rate * (trace->info->word_bits / 8);

	return bytes >= 0 && bytes < 0x1p63 ? (uint64_t)(bytes + 0.5) : INT64_MAX;
}

uint64_t memtrace_size(const struct memtrace *trace, const struct memtrace_sample *sample)
{
	return sample->length * (trace->info->word_bits / 8);
}

uint32_t *memtrace_in_time(const struct memtrace *trace)
{
	CLEANUP(freep) struct sort_key *keys = calloc(trace->entry_cnt + 1, sizeof(*keys));
	uint32_t *order = keys ? calloc(trace->entry_cnt + 1, sizeof(*order)) : NULL;

	if (!order)
		return NULL;
	for (size_t i = 0; i < trace->entry_cnt; i++)
		keys[i] = (struct sort_key){trace->entries[i].time_us, i};
	sort_array(keys, trace->entry_cnt, sizeof(*keys), sort_by_key);
	for (size_t i = 0; i < trace->entry_cnt; i++)
		order[i] = (uint32_t)keys[i].nth;
	return order;
}

__int128 memtrace_change(const struct memtrace *trace, const struct memtrace_entry *entry)
{
	if (entry->kind == MEMTRACE_PROMOTE || entry->sample == MEMTRACE_NONE)
		return 0;
	return (entry->kind == MEMTRACE_ALLOC ? 1 : -1) * (__int128)trace->samples[entry->sample].nsamples;
}

int memtrace_find_peak(const struct memtrace *trace, struct memtrace_peak *ret_peak, bool *is_alive)
{
	CLEANUP(freep) uint32_t *order = memtrace_in_time(trace);
	__int128 live = 0, most = 0;
	size_t cnt = 0; /* of the events up to the peak */

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < trace->entry_cnt; i++) {
		live += memtrace_change(trace, &trace->entries[order[i]]);
		if (live <= most)
			continue;
		most = live;
		cnt = i + 1;
	}
	ret_peak->nsamples = most < UINT64_MAX ? (uint64_t)most : UINT64_MAX;
	ret_peak->time_us = cnt ? trace->entries[order[cnt - 1]].time_us : 0;
	for (size_t i = 0; is_alive && i < cnt; i++) {
		const struct memtrace_entry *entry = &trace->entries[order[i]];

		if (memtrace_change(trace, entry))
			is_alive[entry->sample] = entry->kind == MEMTRACE_ALLOC;
	}
	return 0;
}

void memtrace_tell_losses(const struct memtrace *trace)
{
	struct memtrace_reader_counts counts = memtrace_reader_counts(trace->reader);

	if (counts.foreign_packets)
		log_say("%" PRIu64 " packet%s of another process %s left out", counts.foreign_packets,
			counts.foreign_packets == 1 ? "" : "s", counts.foreign_packets == 1 ? "was" : "were");
	if (counts.truncated)
		log_say("the last packet of the trace is cut off, and was left out");
	if (trace->damage)
		log_say("%s; this is what came before", trace->damage);
}
