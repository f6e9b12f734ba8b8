/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples in the table of sources. The session tells what is mapped where; here are only the rings, which
 * reach back for seconds. So between snapshots nothing has to stop, and only the last one freezes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "source/samples/samples.h"
#include "source/source.h"
#include "trigger/privilege.h"
#include "trigger/programs.h"

/* How far back the default rings reach, with eight threads that are always busy. */
enum { REACH_S = 10, NS_PER_S = 1000000000 };

struct sampled {
	struct samples *samples;
	bool freezes;
};

/* Without BPF there is nothing to record with, and it does not know the numbers of a container. */
static bool is_here(void)
{
	return privilege_has_bpf() && !programs_pid_namespace().ino &&
	       !access("/sys/kernel/btf/vmlinux", R_OK);
}

static size_t ring_bytes(const struct source_options *options)
{
	if (options->ring_size || !options->last_ns)
		return options->ring_size;
	return (size_t)((double)SAMPLES_RING_DEFAULT / REACH_S * (double)options->last_ns / NS_PER_S);
}

static int open_samples(void **ret_self, const struct source_config *config)
{
	const struct source_options *options = config->options;
	const struct samples_config samples_config = {
		.frequency = options->frequency,
		.ring_bytes = ring_bytes(options),
		.syscalls = options->syscalls,
		.page_faults = true,
	};
	CLEANUP(freep) struct sampled *sampled = calloc(1, sizeof(*sampled));
	int err = sampled ? samples_new(&sampled->samples, &samples_config) : -ENOMEM;

	if (err)
		return err;
	sampled->freezes = config->pause;
	*ret_self = TAKE_PTR(sampled);
	return 0;
}

static int add(void *self, pid_t pid, bool at_exec)
{
	const struct sampled *sampled = self;

	return samples_add(sampled->samples, pid, at_exec);
}

static int newborn(void *self, pid_t pid, pid_t tid)
{
	const struct sampled *sampled = self;

	return pid == tid ? samples_add(sampled->samples, pid, false) : 0;
}

static void drop(void *self, pid_t pid)
{
	const struct sampled *sampled = self;

	samples_drop(sampled->samples, pid);
}

static int start(void *self)
{
	const struct sampled *sampled = self;

	return samples_start(sampled->samples);
}

static int stop(void *self, int cpu)
{
	const struct sampled *sampled = self;

	(void)cpu;
	if (sampled->freezes)
		samples_stop(sampled->samples);
	return 0;
}

static int take(void *self, struct snapshot *snapshot)
{
	const struct sampled *sampled = self;

	return samples_take(sampled->samples, snapshot);
}

/* Times are those of CLOCK_MONOTONIC already; the trace begins with the first that is known. */
static int describe(void *self, struct snapshot *snapshot)
{
	const struct sampled *sampled = self;
	uint64_t first = snapshot->clock.trace_ns;

	samples_stop(sampled->samples);
	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		if (snapshot->samples[i].time_ns < first)
			first = snapshot->samples[i].time_ns;
	for (size_t i = 0; i < snapshot->hits->cnt; i++)
		if (snapshot->hits->hits[i]->begin_ns < first)
			first = snapshot->hits->hits[i]->begin_ns;
	snapshot->clock.mult = 1;
	snapshot->clock.shift = 0;
	snapshot->clock.zero = first;
	return 0;
}

static void close_samples(void *self)
{
	struct sampled *sampled = self;

	samples_free(sampled->samples);
	free(sampled);
}

const struct source source_samples = {
	.name = "samples",
	.can = SOURCE_RUN_AUTO | SOURCE_ATTACH_AUTO,
	.options = OPTION_SAMPLING,
	.is_here = is_here,
	.open = open_samples,
	.add = add,
	.newborn = newborn,
	.drop = drop,
	.start = start,
	.stop = stop,
	.take = take,
	.describe = describe,
	.close = close_samples,
};
