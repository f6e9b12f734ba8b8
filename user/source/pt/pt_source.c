/* SPDX-License-Identifier: BSD-2-Clause */
/* intel_pt in the table of sources. */
#include "source/pt/pt_internal.h"
#include "source/source.h"

/* How often the kernel's records are read at least; a whole trace is read before its ring is full. */
enum { DRAIN_MS = 20, DRAIN_FULL_MS = 1 };

static bool is_here(void)
{
	return pt_is_here(PT_SYSFS);
}

static int open_pt(void **ret_self, const struct source_config *config)
{
	const struct source_options *options = config->options;
	const struct pt_config pt = {
		.sysfs = PT_SYSFS,
		.timing = options->timing,
		.ring_size = options->ring_size,
		.follow_forks = options->follow_forks,
		.scope = options->scope,
		.per_thread = options->per_thread,
		.cpu_wide = options->cpu_wide,
		.full = options->full,
		.pause = config->pause,
	};

	return pt_new((struct pt **)ret_self, &pt);
}

static int add(void *self, pid_t pid, bool at_exec)
{
	return pt_add(self, pid, at_exec);
}

static int newborn(void *self, pid_t pid, pid_t tid)
{
	return pt_born(self, pid, tid);
}

static size_t filter_max(void *self)
{
	return pt_filter_max(self);
}

static int set_filter(void *self, const char *filter)
{
	return pt_set_filter(self, filter);
}

static int start(void *self)
{
	struct pt *pt = self;
	bool by_exec = pt->started_by_exec;

	pt->started_by_exec = false;
	return by_exec ? 0 : pt_start(pt);
}

static int stop(void *self, int cpu)
{
	return pt_stop(self, cpu);
}

static bool pauses(void *self)
{
	return pt_pauses(self);
}

static int drain(void *self)
{
	return pt_drain(self);
}

static int drain_ms(void *self)
{
	const struct pt *pt = self;

	return pt->config.full ? DRAIN_FULL_MS : DRAIN_MS;
}

static uint64_t kept_bytes(void *self)
{
	return pt_streamed(self);
}

static int take(void *self, struct snapshot *snapshot)
{
	return pt_snapshot(self, snapshot);
}

static int describe(void *self, struct snapshot *snapshot)
{
	return pt_describe(self, snapshot);
}

static void close_pt(void *self)
{
	pt_free(self);
}

const struct source source_intel_pt = {
	.name = "intel_pt",
	.can = SOURCE_RECORDS | SOURCE_RUN_AUTO | SOURCE_ATTACH_AUTO,
	.options = OPTION_FULL | OPTION_CPU_WIDE | OPTION_KERNEL | OPTION_PER_THREAD | OPTION_FILTER |
		   OPTION_TIMING,
	.is_here = is_here,
	.open = open_pt,
	.add = add,
	.newborn = newborn,
	.filter_max = filter_max,
	.set_filter = set_filter,
	.start = start,
	.stop = stop,
	.pauses = pauses,
	.drain = drain,
	.drain_ms = drain_ms,
	.kept_bytes = kept_bytes,
	.take = take,
	.describe = describe,
	.close = close_pt,
};
