/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/sort.h"
#include "bpf/samples.skel.h"
#include "source/samples/about.h"
#include "source/samples/ring.h"
#include "source/samples/samples_internal.h"

/* Only while switches are recorded it is known what became of those. */
void samples_look(struct samples *samples)
{
	int err = samples->iterator && samples->bpf->bss->recording
			  ? waiting_find(&samples->waiting, samples->iterator, samples->config.stack_bytes)
			  : 0;

	if (err)
		log_debug("threads that wait are not known: %s", strerror(-err));
}

static int add_sample(void *ctx, const struct stack_sample *sample)
{
	struct snapshot *snapshot = ctx;

	if (!ARRAY_PUSH(snapshot->samples, snapshot->sample_cnt, snapshot->sample_cap, *sample))
		return 0;
	free(sample->ips);
	free(sample->call.about);
	if (sample->is_stack_owned)
		free((void *)sample->stack);
	return -ENOMEM;
}

/* From when on all switches are in the rings, of what is taken now. */
static uint64_t known_from(const struct samples *samples, const struct snapshot *snapshot, size_t first)
{
	uint64_t from = samples->started_ns;

	for (size_t i = first; i < snapshot->sample_cnt; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];

		if (sample->kind == SAMPLE_LOST && sample->flags & SAMPLE_LOST_MOMENTS &&
		    sample->time_ns > from)
			from = sample->time_ns;
	}
	return from;
}

static int take_waiting(struct samples *samples, struct snapshot *snapshot, size_t first)
{
	struct waiting *waiting = &samples->waiting;
	uint64_t since_ns = known_from(samples, snapshot, first);
	int err = 0;

	for (size_t i = waiting->cnt; i && !err; waiting->cnt = --i) {
		waiting->items[i - 1].since_ns = since_ns;
		err = add_sample(snapshot, &waiting->items[i - 1]);
	}
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct stack_sample *one = a, *other = b;

	return one->time_ns < other->time_ns ? -1 : one->time_ns > other->time_ns;
}

static int add_name(struct snapshot *snapshot, const char *text)
{
	char *name = strdup(text);

	if (name && !ARRAY_PUSH(snapshot->sample_events, snapshot->sample_event_cnt,
				snapshot->sample_event_cap, name))
		return 0;
	free(name);
	return -ENOMEM;
}

static int name_events(const struct samples *samples, struct snapshot *snapshot)
{
	int err = snapshot->sample_event_cnt ? 0 : add_name(snapshot, samples_event(samples));

	while (snapshot->sample_event_cnt <= samples_event_cnt(samples) && !err)
		err = add_name(snapshot,
			       samples_events_name(samples->config.events, snapshot->sample_event_cnt - 1));
	return err;
}

int samples_take(struct samples *samples, struct snapshot *snapshot)
{
	const volatile struct samples_head *heads =
		(const volatile struct samples_head *)samples->heads.bytes;
	CLEANUP(samples_files_freep) struct samples_files *files = NULL;
	size_t first = snapshot->sample_cnt;
	int err = name_events(samples, snapshot);

	samples_look(samples);
	if (!err)
		err = samples_files_new(&files);
	if (!err)
		err = samples_drain(samples);
	for (size_t i = 0; i < SAMPLES_RING_CNT * samples->cpu_cnt && !err; i++) {
		struct samples_reader *reader = &samples->readers[i];
		const struct mapped *ring = &samples->rings[reader->ring];

		reader->files = files;
		err = samples_reader_read(reader, ring->bytes + (size_t)reader->cpu * ring->each, &heads[i],
					  add_sample, snapshot);
		reader->files = NULL;
	}
	if (!err)
		err = take_waiting(samples, snapshot, first);
	if (snapshot->sample_cnt > first)
		sort_array(snapshot->samples + first, snapshot->sample_cnt - first,
			   sizeof(*snapshot->samples), by_time);
	return err;
}
