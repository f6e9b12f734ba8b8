/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sampled allocations in the table of sources: a recorder for each target that exists at the beginning. Like
 * the trace beside them, they are limited: the oldest are dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "probe/probe_map.h"
#include "source/alloc/alloc_unwind.h"
#include "source/source.h"

/* What a record copies of the stack: 16 KiB hold most stacks whole, and the ring a thousand records. */
enum { ALLOCS_MAX = 1 << 20, DRAIN_MS = 20, STACK_BYTES = 16 << 10 };

struct recorded;

/* One target. */
struct target {
	struct recorded *recorded;
	pid_t pid;
	struct alloc_recorder *recorder; /* NULL: not started */
	struct alloc_unwind unwind;	 /* its process is NULL if stacks cannot be had */
	uint32_t first_function;	 /* its functions among those of all */
};

/* Of all targets. */
struct recorded {
	struct source_options options;
	const char *binary;
	struct target *targets;
	size_t target_cnt, target_cap;
	struct alloc *allocs; /* in the order in which they were recorded */
	size_t cnt, cap;
	struct word_pool *stacks; /* and which one each has, as in the snapshot */
	uint32_t *stack_of;
	size_t stack_of_cnt, stack_of_cap;
};

static void close_recorded(void *self)
{
	struct recorded *recorded = self;

	for (size_t i = 0; i < recorded->target_cnt; i++) {
		alloc_recorder_free(recorded->targets[i].recorder);
		alloc_unwind_release(&recorded->targets[i].unwind);
	}
	free(recorded->targets);
	free(recorded->allocs);
	word_pool_free(recorded->stacks);
	free(recorded->stack_of);
	free(recorded);
}

static int open_recorded(void **ret_self, const struct source_config *config)
{
	struct recorded *recorded = calloc(1, sizeof(*recorded));

	if (!recorded)
		return -ENOMEM;
	recorded->stacks = calloc(1, sizeof(*recorded->stacks));
	if (!recorded->stacks) {
		free(recorded);
		return -ENOMEM;
	}
	recorded->options = *config->options;
	recorded->binary = config->binary;
	*ret_self = recorded;
	return 0;
}

static int add(void *self, pid_t pid, bool at_exec)
{
	struct recorded *recorded = self;
	const struct target target = {.recorded = recorded, .pid = pid};

	(void)at_exec;
	return ARRAY_PUSH(recorded->targets, recorded->target_cnt, recorded->target_cap, target);
}

static enum alloc_link link_of(enum trigger_link link)
{
	return link == TRIGGER_LINK_UPROBE_MULTI  ? ALLOC_LINK_MULTI
	       : link == TRIGGER_LINK_PERF_UPROBE ? ALLOC_LINK_PERF
						  : ALLOC_LINK_AUTO;
}

static uint32_t function_cnt(const struct alloc_recorder *recorder)
{
	uint32_t cnt = 0;

	while (alloc_recorder_function(recorder, cnt))
		cnt++;
	return cnt;
}

static int attach(const struct recorded *recorded, struct target *target)
{
	char exe[64];
	const struct alloc_recorder_config config = {
		.pid = target->pid,
		.is_running = !recorded->binary,
		.exe = recorded->binary ? recorded->binary : exe,
		.interval_bytes = recorded->options.alloc_interval,
		.stack_bytes = STACK_BYTES,
		.end_stacks = true,
		.live_max = ALLOCS_MAX / 2,
		.link = link_of(recorded->options.link),
	};
	int err;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", target->pid);
	err = alloc_recorder_new(&target->recorder, &config);
	if (err)
		return err;
	err = alloc_unwind_init(&target->unwind, target->recorder, &config);
	if (err && err != -ENOMEM) {
		log_warn("%s: allocations are recorded without their call stacks", fail_message(err));
		err = 0;
	}
	return err;
}

/* They are kept from one snapshot to the next. */
static int start(void *self)
{
	struct recorded *recorded = self;
	uint32_t function = 0;
	int err = 0;

	for (size_t i = 0; i < recorded->target_cnt && !err; i++) {
		struct target *target = &recorded->targets[i];

		err = target->recorder ? 0 : attach(recorded, target);
		target->first_function = function;
		function += err ? 0 : function_cnt(target->recorder);
	}
	return err;
}

static int find_stack(struct target *target, const struct alloc *alloc, const struct alloc_stack *stack,
		      uint32_t *ret_stack)
{
	uint64_t words[1 + ALLOC_FRAMES_MAX] = {(uint64_t)target->pid};
	struct alloc_frames found;
	size_t nth;
	int err = alloc_unwind_find(&target->unwind, alloc, stack, &found);

	if (err || !found.cnt)
		return err;
	memcpy(words + 1, found.ips, found.cnt * sizeof(*words));
	err = word_pool_add(target->recorded->stacks, words, 1 + found.cnt, &nth);
	*ret_stack = (uint32_t)nth + 1;
	return err;
}

/* Forgets the older half, and stacks that nothing else has. */
static int halve(struct recorded *recorded)
{
	struct word_pool before = *recorded->stacks;
	const size_t half = ALLOCS_MAX / 2;
	int err = 0;

	*recorded->stacks = (struct word_pool){0};
	for (size_t i = 0; i < half && !err; i++) {
		const uint32_t stack = recorded->stack_of[half + i];
		const struct word_run *run = stack ? &before.runs[stack - 1] : NULL;
		size_t nth = 0;

		err = run ? word_pool_add(recorded->stacks, run->words, run->cnt, &nth) : 0;
		recorded->stack_of[i] = run ? (uint32_t)nth + 1 : 0;
	}
	word_pool_release(&before);
	memmove(recorded->allocs, recorded->allocs + half, half * sizeof(*recorded->allocs));
	recorded->cnt = recorded->stack_of_cnt = half;
	return err;
}

static int keep(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack)
{
	struct target *target = ctx;
	struct recorded *recorded = target->recorded;
	struct alloc taken = *alloc;
	uint32_t at = 0;
	int err = recorded->cnt == ALLOCS_MAX ? halve(recorded) : 0;

	taken.function += target->first_function;
	if (!err && stack && target->unwind.process)
		err = find_stack(target, alloc, stack, &at);
	if (!err)
		err = ARRAY_PUSH(recorded->stack_of, recorded->stack_of_cnt, recorded->stack_of_cap, at);
	return err ? err : ARRAY_PUSH(recorded->allocs, recorded->cnt, recorded->cap, taken);
}

static int take(struct target *target)
{
	int err = target->unwind.process ? process_image_update(target->unwind.process) : 0;

	return err || !target->recorder ? err : alloc_recorder_read(target->recorder, keep, target);
}

static int drain(void *self)
{
	struct recorded *recorded = self;
	int cnt = 0;

	for (size_t i = 0; i < recorded->target_cnt && cnt >= 0; i++)
		cnt = take(&recorded->targets[i]);
	return cnt < 0 ? fail_errno(cnt, "sampled allocations cannot be kept") : 0;
}

static int drain_ms(void *self)
{
	(void)self;
	return DRAIN_MS;
}

static int add_functions(struct snapshot *snapshot, const struct alloc_recorder *recorder)
{
	const char *name;

	for (uint32_t i = 0; (name = alloc_recorder_function(recorder, i)); i++)
		if (ARRAY_TAKE(snapshot->alloc_functions, snapshot->alloc_function_cnt,
			       snapshot->alloc_function_cap, strdup(name)))
			return -ENOMEM;
	return 0;
}

static void say_lost(const struct alloc_recorder *recorder)
{
	struct alloc_recorder_counts counts = alloc_recorder_counts(recorder);

	if (counts.lost)
		log_warn("%llu sampled allocations were lost: they came faster than they could be "
			 "read; a larger --memtrace=INTERVAL samples fewer",
			 (unsigned long long)counts.lost);
}

static int describe(void *self, struct snapshot *snapshot)
{
	struct recorded *recorded = self;
	int err;

	for (size_t i = 0; i < recorded->target_cnt; i++)
		alloc_recorder_detach(recorded->targets[i].recorder);
	err = drain(recorded);
	for (size_t i = 0; i < recorded->target_cnt && !err; i++) {
		say_lost(recorded->targets[i].recorder);
		err = add_functions(snapshot, recorded->targets[i].recorder);
	}
	snapshot->alloc_interval = recorded->options.alloc_interval;
	snapshot->allocs = TAKE_PTR(recorded->allocs);
	snapshot->alloc_cnt = recorded->cnt;
	snapshot->alloc_cap = recorded->cap;
	recorded->cnt = recorded->cap = 0;
	snapshot->alloc_stacks = TAKE_PTR(recorded->stacks);
	snapshot->alloc_stack_of = TAKE_PTR(recorded->stack_of);
	recorded->stack_of_cnt = recorded->stack_of_cap = 0;
	return err;
}

static void unpatch(void *self, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
		    size_t size)
{
	const struct recorded *recorded = self;
	const struct probe *probe;

	for (size_t i = 0; i < recorded->target_cnt; i++)
		for (uint32_t j = 0; recorded->targets[i].recorder &&
				     (probe = alloc_recorder_probe(recorded->targets[i].recorder, j));
		     j++)
			probe_unpatch(probe, mapping, addr, bytes, size);
}

const struct source source_alloc = {
	.name = "alloc",
	.can = SOURCE_PROBES | SOURCE_IS_BESIDE,
	.options = OPTION_ALLOCATIONS,
	.open = open_recorded,
	.add = add,
	.start = start,
	.drain = drain,
	.drain_ms = drain_ms,
	.describe = describe,
	.unpatch = unpatch,
	.close = close_recorded,
};
