/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample's stack is what the kernel walked by frame pointers, or the kernel's part of it and a copy of the user's, which is unwound here by call frame information in
 * the image of that time. Return addresses stand behind their calls, perhaps in the next function: they are looked up one byte before. perf's buffers are one for each
 * processor, so the samples are brought into the order of time first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "image/unwind.h"
#include "rebuild/batch.h"
#include "rebuild/counts.h"
#include "rebuild/decoded.h"
#include "rebuild/input.h"
#include "rebuild/resolver.h"

enum { FRAMES_MAX = 1024 };

/* All of the kernel where its names are not there, one frame. */
#define KERNEL_IP (1ull << 63)

struct thread {
	int32_t pid, tid;
	struct known_stack *stacks;
	size_t cnt, cap;
	uint64_t last_tsc; /* of all that was seen of it; of the stacks' clock */
};

struct samples {
	struct decoded *decoded;
	const struct snapshot *snapshot;
	uint64_t base_ns;
	struct thread *threads;
	size_t thread_cnt, thread_cap;
};

static const struct symbol kernel = {
	.name = "[kernel]", .object = "[kernel]", .start = KERNEL_IP, .end = UINT64_MAX, .is_divided = true};

static void samples_release(struct samples *samples)
{
	for (size_t i = 0; i < samples->thread_cnt; i++) {
		for (size_t j = 0; j < samples->threads[i].cnt; j++)
			free((uint64_t *)samples->threads[i].stacks[j].ips);
		free(samples->threads[i].stacks);
	}
	free(samples->threads);
}

/* ---- stacks ---- */

static bool is_of_kernel(uint64_t ip)
{
	return ip >> 63;
}

static bool has_kernel_name(const struct samples *samples, uint64_t ip)
{
	const struct symbol *symbol = image_symbol_at(samples->decoded->history->kernel, 0, ip);

	return symbol && symbol->named;
}

/* Where the program was, and where it goes on below the kernel's part, no call stands before the address. */
static size_t add_ip(const struct samples *samples, uint64_t *ips, size_t cnt, uint64_t ip)
{
	if (cnt && is_of_kernel(ips[cnt - 1]) == is_of_kernel(ip))
		ip--;
	if (is_of_kernel(ip) && !has_kernel_name(samples, ip))
		ip = KERNEL_IP;
	if (ip == KERNEL_IP && cnt && ips[cnt - 1] == KERNEL_IP)
		return cnt;
	ips[cnt] = ip;
	return cnt + 1;
}

/* The user's part: where it ran, or where it called the kernel. */
static size_t unwind(const struct samples *samples, const struct stack_sample *sample, uint64_t *ips)
{
	struct history_process *process = history_process(samples->decoded->history, sample->pid);

	if (!process || !sample->stack)
		return 0;
	return unwind_stack(process->image, image_version_at(process->image, sample->time_ns), sample->regs,
			    sample->stack, sample->stack_size, ips, FRAMES_MAX);
}

/* Outside of all that is mapped: a frame pointer that was none. Where it ran is told in any case. */
static bool is_nowhere(const struct samples *samples, const struct stack_sample *sample, uint64_t ip)
{
	const struct history_process *process = history_process(samples->decoded->history, sample->pid);

	return process && !is_of_kernel(ip) &&
	       !image_section_at(process->image, image_version_at(process->image, sample->time_ns), ip - 1);
}

static uint64_t stack_tsc(const struct samples *samples, const struct stack_sample *sample)
{
	return sample->time_ns - samples->snapshot->clock.zero;
}

static int add_stack(const struct samples *samples, struct thread *thread, const struct stack_sample *sample)
{
	uint64_t user[FRAMES_MAX];
	size_t user_cnt = unwind(samples, sample, user), cnt = 0;
	uint64_t *ips = calloc(sample->ip_cnt + user_cnt + 1, sizeof(*ips));
	struct known_stack stack = {.tsc = stack_tsc(samples, sample), .ips = ips};

	if (!ips)
		return -ENOMEM;
	for (size_t i = 0; i < sample->ip_cnt; i++) {
		uint64_t ip = sample->ips[i];

		if (cnt && !is_of_kernel(ips[cnt - 1]) && is_nowhere(samples, sample, ip))
			break;
		if (!user_cnt || is_of_kernel(ip))
			cnt = add_ip(samples, ips, cnt, ip);
	}
	for (size_t i = 0; i < user_cnt; i++)
		cnt = add_ip(samples, ips, cnt, user[i]);
	stack.cnt = cnt;
	if (!ARRAY_PUSH(thread->stacks, thread->cnt, thread->cap, stack))
		return 0;
	free(ips);
	return -ENOMEM;
}

/* ---- events ---- */

static bool is_time(const char *event)
{
	static const char *const names[] = {"cycles", "cpu-cycles", "cpu-clock", "task-clock",
					    "instructions"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(event, names[i]))
			return true;
	return false;
}

static int thread_get(struct samples *samples, const struct stack_sample *sample, struct thread **ret_thread)
{
	struct thread fresh = {.pid = sample->pid, .tid = sample->tid};
	int err;

	for (size_t i = samples->thread_cnt; i-- > 0;) {
		*ret_thread = &samples->threads[i];
		if ((*ret_thread)->tid == sample->tid && (*ret_thread)->pid == sample->pid)
			return 0;
	}
	err = ARRAY_PUSH(samples->threads, samples->thread_cnt, samples->thread_cap, fresh);
	*ret_thread = err ? NULL : &samples->threads[samples->thread_cnt - 1];
	return err;
}

/* What stands for time that went by shows what ran; all else is counted. */
static int add_sample(struct samples *samples, const struct stack_sample *sample)
{
	const char *event = samples->snapshot->sample_events[sample->event];
	const struct count count = {.name = event,
				    .pid = sample->pid,
				    .tid = sample->tid,
				    .time_ns = sample->time_ns - samples->base_ns,
				    .value = sample->period};
	struct thread *thread;
	int err = thread_get(samples, sample, &thread);

	if (err)
		return err;
	thread->last_tsc = stack_tsc(samples, sample);
	if (is_time(event) && (sample->ip_cnt || sample->stack))
		return add_stack(samples, thread, sample);
	return counts_add(samples->decoded->timeline, &count);
}

static int add_all(struct samples *samples)
{
	const struct snapshot *snapshot = samples->snapshot;
	CLEANUP(freep) struct sort_key *keys = calloc(snapshot->sample_cnt, sizeof(*keys));
	int err = 0;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		keys[i] = (struct sort_key){snapshot->samples[i].time_ns, i};
	sort_array(keys, snapshot->sample_cnt, sizeof(*keys), sort_by_key);
	for (size_t i = 0; i < snapshot->sample_cnt && !err; i++)
		err = add_sample(samples, &snapshot->samples[keys[i].nth]);
	return err;
}

/* ---- the timeline ---- */

static const struct symbol *symbol_at(void *ctx, uint64_t ip, uint64_t tsc)
{
	return ip == KERNEL_IP ? &kernel : resolver_symbol_at(ctx, ip, tsc);
}

static int build_thread(const struct samples *samples, const struct thread *from)
{
	struct history *history = samples->decoded->history;
	const struct history_thread *known = history_thread(history, from->tid);
	struct resolver resolver = {.snapshot = samples->snapshot,
				    .process = history_process(history, from->pid),
				    .kernel = history->kernel,
				    .base_ns = samples->base_ns};
	const struct stacks_config config = {
		.symbol_at = symbol_at, .time_ns = resolver_time_ns, .ctx = &resolver};
	return batch_add(samples->decoded->timeline,
			 &(struct batch){.pid = from->pid,
					 .tid = from->tid,
					 .name = known ? known->name : NULL,
					 .resolver = config,
					 .kind = BATCH_STACKS,
					 .stacks = {from->stacks, from->cnt, from->last_tsc}});
}

static int build_samples(struct decoded *decoded, const struct snapshot *snapshot,
			 const struct decode_config *config)
{
	CLEANUP(samples_release)
	struct samples samples = {.decoded = decoded, .snapshot = snapshot, .base_ns = snapshot->clock.zero};
	int err = add_all(&samples);

	(void)config;
	decoded->timeline->base_ns = samples.base_ns;
	for (size_t i = 0; i < samples.thread_cnt && !err; i++)
		err = build_thread(&samples, &samples.threads[i]);
	return err;
}

static bool has_samples(const struct snapshot *snapshot)
{
	return snapshot->sample_cnt;
}

const struct part part_samples = {has_samples, build_samples};
