/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/copy.h"

#include "base/array.h"
#include "ctf/writer.h"

struct copy {
	const struct memtrace *trace;
	struct memtrace_writer *writer;
	uint64_t *ids; /* the copy's, by sample */
	uint64_t *codes;
	size_t code_cap;
};

static int locate(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	return (int)memtrace_locations(ctx, code, ret_locations);
}

static int put_alloc(struct copy *copy, const struct memtrace_entry *entry)
{
	const struct memtrace_sample *sample = &copy->trace->samples[entry->sample];
	size_t depth = copy->trace->stacks[sample->stack].depth;
	int err = array_reserve(&copy->codes, &copy->code_cap, depth, sizeof(*copy->codes));
	struct memtrace_event event = {
		.kind = MEMTRACE_ALLOC,
		.domain = sample->domain,
		.time_us = sample->time_us,
		.length = sample->length,
		.nsamples = sample->nsamples,
		.source = sample->source,
		.frames = copy->codes,
		.frame_cnt = depth,
	};

	if (err)
		return err;
	memtrace_stack_codes(copy->trace, sample->stack, copy->codes);
	return memtrace_writer_put(copy->writer, &event, &copy->ids[entry->sample]);
}

static int put(struct copy *copy, const struct memtrace_entry *entry)
{
	struct memtrace_event event = {
		.kind = entry->kind, .domain = entry->domain, .time_us = entry->time_us};

	if (entry->kind == MEMTRACE_ALLOC)
		return put_alloc(copy, entry);
	event.id = copy->ids[entry->sample];
	return memtrace_writer_put(copy->writer, &event, NULL);
}

/* An end that another domain told of before the beginning has no number yet. */
static bool is_known(const struct copy *copy, const struct memtrace_entry *entry)
{
	return entry->kind == MEMTRACE_ALLOC ||
	       (entry->sample != MEMTRACE_NONE && copy->ids[entry->sample] != MEMTRACE_NEVER);
}

int memtrace_copy(const struct memtrace *trace, struct output *output, size_t *ret_left_out)
{
	const struct memtrace_writer_config config = {
		.info = trace->info, .output = output, .locate = locate, .ctx = (void *)trace};
	CLEANUP(memtrace_writer_freep) struct memtrace_writer *writer = NULL;
	CLEANUP(freep) uint64_t *ids = calloc(trace->sample_cnt + 1, sizeof(*ids));
	struct copy copy = {.trace = trace, .ids = ids};
	int err = ids ? memtrace_writer_new(&writer, &config) : -ENOMEM;

	copy.writer = writer;
	*ret_left_out = 0;
	for (size_t i = 0; !err && i < trace->sample_cnt; i++)
		ids[i] = MEMTRACE_NEVER;
	for (size_t i = 0; i < trace->entry_cnt && !err; i++) {
		if (is_known(&copy, &trace->entries[i]))
			err = put(&copy, &trace->entries[i]);
		else
			++*ret_left_out;
	}
	free(copy.codes);
	return err ? err : memtrace_writer_flush(writer);
}
