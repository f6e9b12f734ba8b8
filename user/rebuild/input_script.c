/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text has its symbols with it, and its times are nanoseconds already. A thread has branches or sampled
 * stacks; what was counted besides becomes counters that rise by the period with each line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "input/perf_script.h"
#include "rebuild/batch.h"
#include "rebuild/counts.h"
#include "rebuild/decoded.h"
#include "rebuild/input.h"

static const struct symbol *symbol_at(void *ctx, uint64_t ip, uint64_t tsc)
{
	(void)tsc;
	return perf_script_symbol_at(ctx, ip);
}

static uint64_t time_ns(void *ctx, uint64_t tsc)
{
	const struct perf_script *script = ctx;

	return tsc > script->first_ns ? tsc - script->first_ns : 0;
}

static char *gap_text(void *ctx, const struct branch *gap)
{
	const struct perf_script *script = ctx;
	char *text;

	return asprintf(&text, "[decode error: %s]", script->messages[gap->detail]) < 0 ? NULL : text;
}

/* When something of the thread was counted last. */
static uint64_t last_count(const struct perf_script *script, int32_t tid)
{
	uint64_t last = 0;

	for (size_t i = 0; i < script->count_cnt; i++)
		if (script->counts[i].tid == tid && script->counts[i].time_ns > last)
			last = script->counts[i].time_ns;
	return last;
}

static void read_stacks(const struct perf_script_thread *from, struct sampled_item *items)
{
	for (size_t i = 0; i < from->sample_cnt; i++) {
		const struct known_stack *sample = &from->samples[i];

		items[i] = (struct sampled_item){.start = sample->tsc,
						 .end = sample->tsc,
						 .period = sample->period,
						 .ips = sample->ips,
						 .cnt = sample->cnt};
	}
}

static int build_thread(struct timeline *timeline, struct perf_script *script,
			const struct perf_script_thread *from)
{
	CLEANUP(freep) struct sampled_item *items = calloc(from->sample_cnt + 1, sizeof(*items));
	struct batch batch = {
		.pid = from->pid,
		.tid = from->tid,
		.resolver = {.symbol_at = symbol_at, .time_ns = time_ns, .gap_text = gap_text, .ctx = script},
		.kind = BATCH_BRANCHES,
		.branches = &from->branches,
	};

	if (!items)
		return -ENOMEM;
	if (from->sample_cnt) {
		read_stacks(from, items);
		batch.kind = BATCH_STACKS;
		batch.stacks.items = items;
		batch.stacks.cnt = from->sample_cnt;
		batch.stacks.until = last_count(script, from->tid);
		batch.stacks.period = sampled_period(items, from->sample_cnt);
		timeline->period_ns = batch.stacks.period;
	}
	return batch_add(timeline, &batch);
}

static int add_counts(struct timeline *timeline, const struct perf_script *script)
{
	int err = 0;

	for (size_t i = 0; i < script->count_cnt && !err; i++) {
		const struct perf_script_count *from = &script->counts[i];
		const char *name = script->names[from->name];
		const struct count count = {.name = name,
					    .pid = from->pid,
					    .tid = from->tid,
					    .time_ns = from->time_ns - script->first_ns,
					    .value = from->period,
					    .is_level = !strncmp(name, "CPU frequency", 13)};

		err = counts_add(timeline, &count);
	}
	return err;
}

static int build(struct timeline *timeline, struct perf_script *script, const char *path)
{
	int err = 0;

	timeline->base_ns = script->first_ns;
	timeline->command = strdup(path);
	timeline->source = strdup("perf script");
	timeline->stopped_by = strdup("");
	timeline->triggers = calloc(1, sizeof(*timeline->triggers));
	if (!timeline->command || !timeline->source || !timeline->stopped_by || !timeline->triggers)
		err = -ENOMEM;
	for (size_t i = 0; i < script->thread_cnt && !err; i++)
		err = build_thread(timeline, script, &script->threads[i]);
	return err ? err : add_counts(timeline, script);
}

static void free_script(void *script)
{
	perf_script_free(script);
}

static int read_script(struct decoded *decoded, const char *path, const struct decode_config *config)
{
	struct perf_script *script;
	int err = perf_script_load(&script, path);

	(void)config;
	if (err)
		return err == -ENOMEM ? fail(err, "no memory for the calls of %s", path) : err;
	decoded->symbols = script;
	decoded->free_symbols = free_script;
	err = build(decoded->timeline, script, path);
	return err ? fail(err, "no memory for the calls of %s", path) : 0;
}

const struct input input_script = {.name = "perf script", .is = perf_script_is, .read = read_script};
