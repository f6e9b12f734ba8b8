/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"

static size_t class_of(uint64_t number)
{
	return number > 1 ? 63 - (size_t)__builtin_clzll(number) : 0;
}

static void count(struct memtrace_histogram *histogram, uint64_t number, uint64_t nsamples)
{
	struct memtrace_class *class = &histogram->classes[class_of(number)];

	class->allocations++;
	class->nsamples = memtrace_add(class->nsamples, nsamples);
}

static void add_to_source(struct memtrace_source_sum *sum, const struct memtrace_sample *sample)
{
	sum->allocations++;
	sum->nsamples = memtrace_add(sum->nsamples, sample->nsamples);
	sum->promoted += sample->is_promoted;
	sum->collected += sample->end_us != MEMTRACE_NEVER;
}

static void add_depth(struct memtrace_summary *summary, uint64_t depth)
{
	if (summary->all.allocations == 1 || depth < summary->depth_least)
		summary->depth_least = depth;
	if (depth > summary->depth_most)
		summary->depth_most = depth;
	summary->depth_sum += depth;
}

static void add_sample(struct memtrace_summary *summary, const struct memtrace *trace,
		       const struct memtrace_sample *sample)
{
	add_to_source(&summary->all, sample);
	add_to_source(&summary->sources[sample->source], sample);
	add_depth(summary, trace->stacks[sample->stack].depth);
	count(&summary->sizes, memtrace_size(trace, sample), sample->nsamples);
	if (sample->end_us == MEMTRACE_NEVER)
		summary->live = memtrace_add(summary->live, sample->nsamples);
	else
		count(&summary->lifetimes,
		      sample->end_us > sample->time_us ? sample->end_us - sample->time_us : 0,
		      sample->nsamples);
}

static int count_domains(struct memtrace_summary *summary, const struct memtrace *trace)
{
	CLEANUP(freep) bool *is_seen = calloc(MEMTRACE_DOMAIN_MAX + 1, sizeof(*is_seen));

	for (size_t i = 0; is_seen && i < trace->sample_cnt; i++) {
		summary->domains += !is_seen[trace->samples[i].domain];
		is_seen[trace->samples[i].domain] = true;
	}
	return is_seen ? 0 : -ENOMEM;
}

/* ---- what stacks are made of ---- */

/* Texts or numbers that differ. */
struct set {
	struct hash_index index;
	struct set_item {
		uint64_t number;
		const char *text;
	} * items;
	size_t cnt, cap;
};

static int set_add(struct set *set, struct set_item item, bool *ret_new)
{
	uint64_t hash = hash_number(hash_text(0, item.text), item.number);
	int err;

	*ret_new = false;
	for (size_t at = 0, i; (i = hash_index_next(&set->index, hash, &at)) != HASH_INDEX_END;)
		if (set->items[i].number == item.number && !strcmp(set->items[i].text, item.text))
			return 0;
	*ret_new = true;
	err = hash_index_add(&set->index, hash, set->cnt);
	return err ? err : ARRAY_PUSH(set->items, set->cnt, set->cap, item);
}

static void set_release(struct set *set)
{
	hash_index_release(&set->index);
	free(set->items);
}

struct places {
	struct set codes, functions, files;
};

static int add_code(struct memtrace_summary *summary, struct places *places, const struct memtrace *trace,
		    uint64_t code)
{
	const struct memtrace_location *locations = NULL;
	bool is_new;
	int err = set_add(&places->codes, (struct set_item){code, ""}, &is_new);
	size_t cnt;

	if (err || !is_new)
		return err;
	cnt = memtrace_locations(trace, code, &locations);
	summary->codes++;
	summary->known_codes += cnt > 0;
	summary->locations += cnt;
	for (size_t i = 0; i < cnt && !err; i++) {
		err = set_add(&places->functions, (struct set_item){0, locations[i].function}, &is_new);
		summary->functions += is_new;
		if (err)
			return err;
		err = set_add(&places->files, (struct set_item){0, locations[i].file}, &is_new);
		summary->files += is_new;
	}
	return err;
}

static int count_places(struct memtrace_summary *summary, const struct memtrace *trace)
{
	CLEANUP(freep) bool *is_used = memtrace_used_stacks(trace);
	struct places places = {0};
	int err = is_used ? 0 : -ENOMEM;

	for (size_t i = 1; i < trace->stack_cnt && !err; i++)
		if (is_used[i])
			err = add_code(summary, &places, trace, trace->stacks[i].code);
	set_release(&places.codes);
	set_release(&places.functions);
	set_release(&places.files);
	return err;
}

int memtrace_summarize(const struct memtrace *trace, struct memtrace_summary *ret_summary)
{
	struct memtrace_summary summary = {0};
	int err = memtrace_find_peak(trace, &summary.peak, NULL);

	for (size_t i = 0; i < trace->sample_cnt; i++)
		add_sample(&summary, trace, &trace->samples[i]);
	for (size_t i = 0; i < trace->entry_cnt; i++)
		summary.unknown += trace->entries[i].sample == MEMTRACE_NONE;
	if (!err)
		err = count_domains(&summary, trace);
	if (!err)
		err = count_places(&summary, trace);
	if (!err)
		*ret_summary = summary;
	return err;
}
