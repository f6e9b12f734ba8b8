/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sort.h"
#include "base/spill.h"
#include "bpf/samples.skel.h"
#include "source/samples/about.h"
#include "source/samples/ring.h"
#include "source/samples/samples_internal.h"

/* Only while switches are recorded it is known what became of those. */
void samples_list_waiting(struct samples *samples)
{
	uint64_t begin_ns = clock_kernel_ns();
	int err;

	if (!samples->is_recording)
		return;
	err = waiting_find(&samples->waiting);
	samples->is_listed = !err;
	log_debug("%zu threads wait, listed in %llu us: %s", samples->waiting.now.cnt,
		  (unsigned long long)(clock_kernel_ns() - begin_ns) / 1000, strerror(-err));
}

static void settle(struct samples *samples, bool all)
{
	int err = samples->is_listed ? waiting_describe(&samples->waiting, all) : 0;

	samples->is_listed = false;
	if (err)
		log_debug("threads that wait are not known: %s", strerror(-err));
}

void samples_settle(struct samples *samples)
{
	settle(samples, false);
}

void samples_keep_waiting(struct samples *samples)
{
	samples_list_waiting(samples);
	settle(samples, true);
	waiting_move(&samples->waiting, &samples->first);
}

static int add_sample(void *ctx, const struct stack_sample *sample)
{
	struct snapshot *snapshot = ctx;

	if (!SPILL_PUSH(snapshot->samples, snapshot->sample_cnt, snapshot->sample_cap, *sample))
		return 0;
	stack_sample_release(sample);
	return -ENOMEM;
}

/* When something was lost. */
struct losses {
	uint64_t *items;
	size_t cnt, cap;
};

static void losses_release(struct losses *losses)
{
	free(losses->items);
}

/* From when on all switches up to `until_ns` are in the rings. */
static uint64_t known_from(const struct samples *samples, const struct losses *losses, uint64_t until_ns)
{
	uint64_t from = samples->started_ns > samples->lost_ns ? samples->started_ns : samples->lost_ns;

	for (size_t i = 0; i < losses->cnt; i++)
		if (losses->items[i] > from && losses->items[i] <= until_ns)
			from = losses->items[i];
	return from;
}

static int find_losses(const struct snapshot *snapshot, size_t first, struct losses *losses)
{
	int err = 0;

	for (size_t i = first; i < snapshot->sample_cnt && !err; i++)
		if (snapshot->samples[i].kind == SAMPLE_LOST &&
		    snapshot->samples[i].flags & SAMPLE_LOST_MOMENTS)
			err = ARRAY_PUSH(losses->items, losses->cnt, losses->cap,
					 snapshot->samples[i].time_ns);
	return err;
}

static uint64_t last_of(const struct losses *losses, uint64_t last)
{
	for (size_t i = 0; i < losses->cnt; i++)
		if (losses->items[i] > last)
			last = losses->items[i];
	return last;
}

/* What became of them is known if nothing was lost since. */
static int take_first(struct samples *samples, struct snapshot *snapshot, uint64_t lost_ns)
{
	int err = 0;

	while (samples->first.cnt && !err) {
		struct stack_sample *sample = &samples->first.items[--samples->first.cnt].sample;

		sample->since_ns = samples->started_ns;
		if (sample->time_ns < lost_ns)
			stack_sample_release(sample);
		else
			err = add_sample(snapshot, sample);
	}
	return err;
}

/*
 * Those that were seen before and wait still are there already, unless something was lost since: also while
 * they were seen then.
 */
static int take_waiting(struct samples *samples, struct snapshot *snapshot, size_t first)
{
	struct waiting_threads *threads = &samples->waiting.threads;
	CLEANUP(losses_release) struct losses losses = {0};
	int err = find_losses(snapshot, first, &losses);
	uint64_t lost_ns = last_of(&losses, samples->lost_ns);

	if (!err)
		err = take_first(samples, snapshot, lost_ns);
	while (threads->cnt && !err) {
		struct waiting_thread *thread = &threads->items[--threads->cnt];

		thread->sample.since_ns = known_from(samples, &losses, thread->sample.time_ns);
		if (thread->seen_ns && thread->seen_ns >= lost_ns)
			stack_sample_release(&thread->sample);
		else
			err = add_sample(snapshot, &thread->sample);
	}
	samples->lost_ns = lost_ns;
	return err;
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

	while (snapshot->sample_event_cnt <= samples_events_cnt(samples->config.events) && !err)
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

	samples_list_waiting(samples);
	samples_settle(samples);
	if (!err)
		err = samples_files_new(&files);
	if (!err)
		err = samples_drain(samples);
	for (size_t i = 0; i < SAMPLES_RING_CNT * samples->cpu_cnt && !err; i++) {
		struct samples_reader *reader = &samples->readers[i];
		const struct mapped *ring = &samples->rings[reader->ring];

		reader->files = files;
		reader->stacks = &snapshot->stacks;
		err = samples_reader_read(reader, ring->bytes + (size_t)reader->cpu * ring->each, &heads[i],
					  add_sample, snapshot);
		reader->files = NULL;
	}
	if (!err)
		err = take_waiting(samples, snapshot, first);
	if (snapshot->sample_cnt > first)
		sort_array(snapshot->samples + first, snapshot->sample_cnt - first,
			   sizeof(*snapshot->samples), sort_by_number); /* by their times */
	return err;
}
