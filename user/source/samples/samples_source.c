/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples in the table of sources. The session tells what is mapped where; here are only the rings, which
 * reach back for seconds. So between snapshots nothing has to stop, and only the last one freezes them.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "source/samples/perf_samples.h"
#include "source/samples/samples.h"
#include "source/samples/ticks.h"
#include "source/source.h"

/* How far back the default rings reach, with eight threads that are always busy. */
enum { REACH_S = 10, NS_PER_S = 1000000000, BYTES_PER_M = 1 << 20, MOST_M = 1024 };

/* Of the targets' time: what costs more is warned of. */
#define COST_PART_MAX 0.05

struct sampled {
	struct samples *samples;
	struct samples_events events;
	uint64_t wanted_ns; /* of the past, as the user asked, or by default */
	bool freezes;
	bool is_full; /* it was told that there are too many processes */
};

/* perf's events can be had where nobody may use BPF. */
static bool is_here(void)
{
	return !samples_lack() || !perf_samples_try();
}

static size_t ring_bytes(const struct source_options *options)
{
	if (options->ring_size || !options->last_ns)
		return options->ring_size;
	return (size_t)((double)SAMPLES_RING_DEFAULT / REACH_S * (double)options->last_ns / NS_PER_S);
}

/* What goes without BPF is done, and it is said what is not. */
static int check_rights(const struct source_options *options)
{
	const char *lacks = samples_lack();

	if (!lacks)
		return 0;
	if (options->syscalls || options->interrupts)
		return fail(-EPERM, "--syscalls and --interrupts need %s", lacks);
	log_say("samples without BPF: code of the kernel, why threads wait (but for those that do at the "
		"end) and who wakes them are not seen; that needs %s",
		lacks);
	return 0;
}

/* What it costs is said where it is more than people expect. */
static void warn_of_cost(uint32_t frequency)
{
	uint64_t tick_ns = frequency > SAMPLES_FREQUENCY_DEFAULT ? samples_ticks_cost_ns() : 0;
	double part = (double)tick_ns * frequency / NS_PER_S;

	if (part > COST_PART_MAX)
		log_warn("--frequency: %u samples a second take %.0f %% of the time of what runs: a tick "
			 "takes "
			 "%.1f us here",
			 frequency, part * 100, (double)tick_ns / 1000);
}

static int open_samples(void **ret_self, const struct source_config *config)
{
	const struct source_options *options = config->options;
	struct samples_config samples_config = {
		.frequency = options->frequency,
		.ring_bytes = ring_bytes(options),
		.syscalls = options->syscalls,
		.interrupts = options->interrupts,
		.page_faults = true,
		.follow_forks = options->follow_forks,
		.lives = config->wants_lives,
	};
	CLEANUP(freep) struct sampled *sampled = calloc(1, sizeof(*sampled));
	int err = sampled ? check_rights(options) : -ENOMEM;

	if (!err && options->events) {
		err = samples_events_parse(options->events, &sampled->events);
		samples_config.events = &sampled->events;
	}
	if (!err)
		err = samples_new(&sampled->samples, &samples_config);
	if (err)
		return err;
	warn_of_cost(options->frequency);
	sampled->freezes = config->pause;
	sampled->wanted_ns = options->last_ns ? options->last_ns : (uint64_t)REACH_S * NS_PER_S;
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
	struct sampled *sampled = self;
	int err = pid == tid ? samples_add_child(sampled->samples, pid) : 0;

	if (err != -E2BIG)
		return err;
	if (!sampled->is_full)
		log_warn("%s: later children are left out until others end", fail_message(err));
	sampled->is_full = true;
	return 0;
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

/* At once: what a hit says is read from files, which takes long on a busy machine. */
static bool hold(void *self)
{
	const struct sampled *sampled = self;

	if (!sampled->freezes)
		return false;
	samples_stop(sampled->samples);
	samples_settle(sampled->samples);
	return true;
}

static void end(void *self)
{
	const struct sampled *sampled = self;

	samples_stop(sampled->samples);
	samples_settle(sampled->samples);
}

static int drain(void *self)
{
	const struct sampled *sampled = self;

	return samples_drain(sampled->samples);
}

static int drain_ms(void *self)
{
	const struct sampled *sampled = self;

	return samples_drain_ms(sampled->samples);
}

static int lives(void *self, int (*tell)(void *ctx, const struct thread_life *life), void *ctx)
{
	const struct sampled *sampled = self;

	return samples_lives(sampled->samples, tell, ctx);
}

static int lives_fd(void *self)
{
	const struct sampled *sampled = self;

	return samples_lives_fd(sampled->samples);
}

static int take(void *self, struct snapshot *snapshot)
{
	const struct sampled *sampled = self;

	return samples_take(sampled->samples, snapshot);
}

/* From when on all rings of that kind have everything; 0: they were never full. */
static uint64_t kept_from(const struct snapshot *snapshot, uint32_t flag)
{
	uint64_t from = 0;

	for (size_t i = 0; i < snapshot->sample_cnt; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];

		if (sample->kind == SAMPLE_LOST && sample->flags & flag && !sample->since_ns &&
		    sample->time_ns > from)
			from = sample->time_ns;
	}
	return from;
}

/* How far back the rings reached, and how large they must be to reach as far as was wanted. */
static void say_held(const struct sampled *sampled, double held_s, const char *what)
{
	double wanted_s = (double)sampled->wanted_ns / NS_PER_S,
	       s_per_m = held_s / (double)samples_ring_bytes(sampled->samples) * BYTES_PER_M;
	unsigned int size_m = 1;

	while (size_m < MOST_M && s_per_m * size_m < wanted_s)
		size_m *= 2;
	if (held_s < wanted_s && s_per_m * size_m > held_s)
		log_say("the rings held the last %.3g s of %s: --snapshot-size=%uM would hold %.3g s of them",
			held_s, what, size_m, s_per_m * size_m);
	else
		log_say("the rings held the last %.3g s of %s", held_s, what);
}

/* Where that is less than was recorded. */
static void say_reach(const struct sampled *sampled, const struct snapshot *snapshot)
{
	static const struct {
		uint32_t flag;
		const char *what;
	} kinds[] = {{SAMPLE_LOST_TICKS, "stacks"},
		     {SAMPLE_LOST_MOMENTS, "waits, wake-ups and system calls"}};
	uint64_t end = snapshot->sample_cnt ? snapshot->samples[snapshot->sample_cnt - 1].time_ns : 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint64_t from = kept_from(snapshot, kinds[i].flag);

		if (from)
			say_held(sampled, end > from ? (double)(end - from) / NS_PER_S : 0, kinds[i].what);
	}
}

/* Times are those of CLOCK_MONOTONIC already; the trace begins with the first that is known. */
static int describe(void *self, struct snapshot *snapshot)
{
	const struct sampled *sampled = self;
	uint64_t first = snapshot->clock.trace_ns, unready = samples_unready_cnt(sampled->samples),
		 untold = samples_untold_cnt(sampled->samples);

	samples_stop(sampled->samples);
	say_reach(sampled, snapshot);
	if (unready)
		log_warn("%llu waits for a processor do not say who had it: more threads could run than are "
			 "kept in mind",
			 (unsigned long long)unready);
	if (untold)
		log_warn("%llu births and ends of threads came faster than they are read: some threads that "
			 "have "
			 "ended have no name",
			 (unsigned long long)untold);
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
	.can = SOURCE_RUN_AUTO | SOURCE_ATTACH_AUTO | SOURCE_LOOKS_BACK | SOURCE_ONLY_64_BIT,
	.options = OPTION_SAMPLING,
	.is_here = is_here,
	.open = open_samples,
	.add = add,
	.newborn = newborn,
	.drop = drop,
	.start = start,
	.hold = hold,
	.stop = stop,
	.end = end,
	.drain = drain,
	.drain_ms = drain_ms,
	.fd = lives_fd,
	.lives = lives,
	.take = take,
	.describe = describe,
	.close = close_samples,
};
