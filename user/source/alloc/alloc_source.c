/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sampled allocations in the table of sources: a recorder for each target that exists at the beginning. Like
 * the trace beside them, they are limited: the oldest are dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/error.h"
#include "base/log.h"
#include "probe/probe.h"
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
	struct target **targets;
	size_t target_cnt, target_cap;
	struct alloc *allocs; /* in the order in which they were recorded */
	size_t cnt, cap;
	/* As the snapshot has them, and where each stack is, by its hash. */
	struct stacks {
		uint64_t *ips;
		size_t cnt, cap;
		struct hash_index index;
		uint32_t *of;
		size_t of_cnt, of_cap;
	} stacks;
};

static void stacks_release(struct stacks *stacks)
{
	free(stacks->ips);
	free(stacks->of);
	hash_index_release(&stacks->index);
}

/* *ret_stack is one more than its index. */
static int stacks_keep(struct stacks *stacks, const uint64_t *words, size_t cnt, uint32_t *ret_stack)
{
	uint64_t hash = 0;
	size_t at = 0, found;
	int err;

	for (size_t i = 0; i < cnt; i++)
		hash = hash_number(hash, words[i]);
	while ((found = hash_index_next(&stacks->index, hash, &at)) != HASH_INDEX_END) {
		*ret_stack = (uint32_t)found + 1;
		if (cnt <= stacks->cnt - found && !memcmp(&stacks->ips[found], words, cnt * sizeof(*words)))
			return 0;
	}
	*ret_stack = (uint32_t)stacks->cnt + 1;
	err = array_reserve(&stacks->ips, &stacks->cap, stacks->cnt + cnt, sizeof(*words));
	if (!err)
		err = hash_index_add(&stacks->index, hash, stacks->cnt);
	if (err)
		return err;
	memcpy(&stacks->ips[stacks->cnt], words, cnt * sizeof(*words));
	stacks->cnt += cnt;
	return 0;
}

/* Forgets the older half of the allocations' stacks. */
static int stacks_halve(struct stacks *stacks)
{
	struct stacks kept = {0};
	int err = 0;

	for (size_t i = stacks->of_cnt / 2; i < stacks->of_cnt && !err; i++) {
		const uint64_t *words = stacks->of[i] ? &stacks->ips[stacks->of[i] - 1] : NULL;
		uint32_t stack = 0;

		err = words ? stacks_keep(&kept, words, ALLOC_STACK_HEAD + words[1], &stack) : 0;
		if (!err)
			err = ARRAY_PUSH(kept.of, kept.of_cnt, kept.of_cap, stack);
	}
	if (err) {
		stacks_release(&kept);
		return err;
	}
	stacks_release(stacks);
	*stacks = kept;
	return 0;
}

static void close_recorded(void *self)
{
	struct recorded *recorded = self;

	for (size_t i = 0; i < recorded->target_cnt; i++) {
		alloc_recorder_free(recorded->targets[i]->recorder);
		alloc_unwind_release(&recorded->targets[i]->unwind);
		free(recorded->targets[i]);
	}
	free(recorded->targets);
	free(recorded->allocs);
	stacks_release(&recorded->stacks);
	free(recorded);
}

static int open_recorded(void **ret_self, const struct source_config *config)
{
	struct recorded *recorded = calloc(1, sizeof(*recorded));

	if (!recorded)
		return -ENOMEM;
	recorded->options = *config->options;
	recorded->binary = config->binary;
	*ret_self = recorded;
	return 0;
}

static int add(void *self, pid_t pid, bool at_exec)
{
	struct recorded *recorded = self;
	struct target *target = calloc(1, sizeof(*target));

	(void)at_exec;
	if (!target || ARRAY_PUSH(recorded->targets, recorded->target_cnt, recorded->target_cap, target)) {
		free(target);
		return -ENOMEM;
	}
	*target = (struct target){.recorded = recorded, .pid = pid};
	return 0;
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
		struct target *target = recorded->targets[i];

		err = target->recorder ? 0 : attach(recorded, target);
		target->first_function = function;
		function += err ? 0 : function_cnt(target->recorder);
	}
	return err;
}

static int find_stack(struct target *target, const struct alloc *alloc, const struct alloc_stack *stack,
		      uint32_t *ret_stack)
{
	uint64_t words[ALLOC_STACK_HEAD + ALLOC_FRAMES_MAX];
	struct alloc_frames found;
	int err = alloc_unwind_find(&target->unwind, alloc, stack, &found);

	*ret_stack = 0;
	if (err || !found.cnt)
		return err;
	words[0] = (uint64_t)target->pid;
	words[1] = found.cnt;
	memcpy(words + ALLOC_STACK_HEAD, found.ips, found.cnt * sizeof(*words));
	return stacks_keep(&target->recorded->stacks, words, ALLOC_STACK_HEAD + found.cnt, ret_stack);
}

static int halve(struct recorded *recorded)
{
	recorded->cnt = ALLOCS_MAX / 2;
	memmove(recorded->allocs, recorded->allocs + ALLOCS_MAX / 2,
		ALLOCS_MAX / 2 * sizeof(*recorded->allocs));
	return stacks_halve(&recorded->stacks);
}

static int keep(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack)
{
	struct target *target = ctx;
	struct recorded *recorded = target->recorded;
	struct stacks *stacks = &recorded->stacks;
	struct alloc taken = *alloc;
	uint32_t at = 0;
	int err = recorded->cnt == ALLOCS_MAX ? halve(recorded) : 0;

	taken.function += target->first_function;
	if (!err && stack && target->unwind.process)
		err = find_stack(target, alloc, stack, &at);
	if (!err)
		err = ARRAY_PUSH(stacks->of, stacks->of_cnt, stacks->of_cap, at);
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
		cnt = take(recorded->targets[i]);
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

	for (uint32_t i = 0; (name = alloc_recorder_function(recorder, i)); i++) {
		char *copy = strdup(name);

		if (!copy || ARRAY_PUSH(snapshot->alloc_functions, snapshot->alloc_function_cnt,
					snapshot->alloc_function_cap, copy)) {
			free(copy);
			return -ENOMEM;
		}
	}
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
		alloc_recorder_detach(recorded->targets[i]->recorder);
	err = drain(recorded);
	for (size_t i = 0; i < recorded->target_cnt && !err; i++) {
		say_lost(recorded->targets[i]->recorder);
		err = add_functions(snapshot, recorded->targets[i]->recorder);
	}
	snapshot->alloc_interval = recorded->options.alloc_interval;
	snapshot->allocs = TAKE_PTR(recorded->allocs);
	snapshot->alloc_cnt = recorded->cnt;
	snapshot->alloc_cap = recorded->cap;
	recorded->cnt = recorded->cap = 0;
	snapshot->alloc_ips = TAKE_PTR(recorded->stacks.ips);
	snapshot->alloc_ip_cnt = recorded->stacks.cnt;
	snapshot->alloc_stacks = TAKE_PTR(recorded->stacks.of);
	stacks_release(&recorded->stacks);
	recorded->stacks = (struct stacks){0};
	return err;
}

static void unpatch(void *self, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
		    size_t size)
{
	const struct recorded *recorded = self;
	const struct probe *probe;

	for (size_t i = 0; i < recorded->target_cnt; i++)
		for (uint32_t j = 0; recorded->targets[i]->recorder &&
				     (probe = alloc_recorder_probe(recorded->targets[i]->recorder, j));
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
