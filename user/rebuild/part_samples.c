/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples go to their threads in the order of time, and so do hits. What becomes of them there is
 * rebuild/samples/sample_items.c's. Then the threads become slices.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/log.h"
#include "base/sort.h"
#include "rebuild/batch.h"
#include "rebuild/counts.h"
#include "rebuild/decoded.h"
#include "rebuild/input.h"
#include "rebuild/resolver.h"
#include "rebuild/samples/hit_call.h"
#include "rebuild/samples/restarted.h"
#include "rebuild/samples/returned_call.h"
#include "rebuild/samples/sample_holes.h"
#include "rebuild/samples/sample_items.h"
#include "rebuild/samples/sample_order.h"
#include "rebuild/samples/sample_stack.h"

enum { VARIABLES = 64 };

struct samples {
	struct decoded *decoded;
	const struct snapshot *snapshot;
	const struct decode_config *config;
	struct sample_context context;
	uint64_t first_ns, last_ns; /* of all that was recorded */
	uint64_t complete_ns;	    /* from here on no processor's switches are missing */
	struct sample_items *threads;
	size_t thread_cnt, thread_cap;
	struct hash_index by_tid;
	struct sample_order order;
	struct restarted restarted;
	bool is_complete;
	struct sample_holes holes;
	struct {
		int32_t pid; /* 0: none */
		uint64_t addr;
		char *name;	/* its own; NULL: it has none */
	} variables[VARIABLES]; /* that were asked for last, by address */
};

static const struct symbol kernel = {.name = "[kernel]",
				     .object = "[kernel]",
				     .start = SAMPLE_KERNEL_IP,
				     .end = UINT64_MAX,
				     .is_divided = true};

static void samples_release(struct samples *samples)
{
	for (size_t i = 0; i < samples->thread_cnt; i++)
		sample_items_release(&samples->threads[i]);
	for (size_t i = 0; i < VARIABLES; i++)
		free(samples->variables[i].name);
	free(samples->threads);
	sample_order_release(&samples->order);
	restarted_release(&samples->restarted);
	hash_index_release(&samples->by_tid);
}

/* ---- threads ---- */

/* Its thread, which may be seen for the first time. */
static int thread_get(struct samples *samples, int32_t pid, int32_t tid, uint64_t now_ns,
		      struct sample_items **ret_thread)
{
	const struct history_thread *known = history_thread(samples->decoded->history, tid);
	struct sample_items fresh = {
		.pid = pid, .tid = tid, .cpu = -1, .ran_on = -1, .first_ns = samples->first_ns};
	uint64_t hash = hash_number(hash_number(0, (uint32_t)pid), (uint32_t)tid);
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&samples->by_tid, hash, &at)) != HASH_INDEX_END;) {
		*ret_thread = &samples->threads[i];
		if ((*ret_thread)->tid == tid && (*ret_thread)->pid == pid)
			return 0;
	}
	if (known && known->born_ns > fresh.first_ns)
		fresh.first_ns = known->born_ns;
	if (fresh.first_ns < now_ns)
		fresh.first_ns = sample_gaps_end(&samples->order.gaps, fresh.first_ns, now_ns);
	err = ARRAY_PUSH(samples->threads, samples->thread_cnt, samples->thread_cap, fresh);
	if (!err)
		err = hash_index_add(&samples->by_tid, hash, samples->thread_cnt - 1);
	*ret_thread = err ? NULL : &samples->threads[samples->thread_cnt - 1];
	return err;
}

static const char *thread_name(void *ctx, int32_t tid)
{
	const struct samples *samples = ctx;
	const struct history_thread *known = history_thread(samples->decoded->history, tid);

	return known ? known->name : NULL;
}

static const struct symbol *function_at(void *ctx, int32_t pid, uint64_t ip, uint64_t time_ns)
{
	const struct samples *samples = ctx;

	return history_symbol_at(samples->decoded->history, pid, ip, time_ns);
}

static const char *variable_at(void *ctx, int32_t pid, uint64_t addr)
{
	struct samples *samples = ctx;
	size_t nth = hash_number(0, addr) % VARIABLES;
	struct history_process *process;

	if (samples->variables[nth].pid != pid || samples->variables[nth].addr != addr) {
		process = history_process(samples->decoded->history, pid);
		free(samples->variables[nth].name);
		samples->variables[nth].pid = pid;
		samples->variables[nth].addr = addr;
		samples->variables[nth].name = process ? image_variable_at(process->image, addr) : NULL;
	}
	return samples->variables[nth].name;
}

/* ---- samples ---- */

static bool is_one_of(const char *event, const char *const *names)
{
	while (*names && strcmp(event, *names))
		names++;
	return *names;
}

/* What stands for time that went by shows what ran; all else is counted. */
static bool is_time(const char *event)
{
	static const char *const names[] = {"cycles",	  "cpu-cycles",	  "cpu-clock",
					    "task-clock", "instructions", NULL};

	return is_one_of(event, names);
}

/* Its period is nanoseconds. */
static bool is_clock(const char *event)
{
	static const char *const names[] = {"cpu-clock", "task-clock", NULL};

	return is_one_of(event, names);
}

static int add_count(struct samples *samples, const struct stack_sample *sample)
{
	const struct count count = {.name = samples->snapshot->sample_events[sample->event],
				    .pid = sample->pid,
				    .tid = sample->tid,
				    .time_ns = sample->time_ns - samples->context.base_ns,
				    .value = sample->period};

	return counts_add(samples->decoded->timeline, &count);
}

static int add_to(struct samples *samples, const struct stack_sample *sample, struct sample_items *thread)
{
	struct sample_stack stack = {0};
	int err = sample_stack_read(samples->decoded->history, sample, &stack);

	return err ? err : sample_items_add(thread, &samples->context, sample, &stack);
}

/* Which function touched the page: at that moment another call may be open, as far as is known. */
static int name_fault(const struct samples *samples, const struct stack_sample *sample,
		      struct sample_items *thread)
{
	uint64_t ip = sample->ip_cnt ? sample->ips[0] : 0;
	const struct symbol *symbol =
		ip ? history_symbol_at(samples->decoded->history, sample->pid, ip, sample->time_ns) : NULL;
	struct instant_arg arg = {.name = INSTANT_FUNCTION, .type = INSTANT_TEXT};

	if (!symbol || !symbol->name)
		return 0;
	arg.text = (char *)symbol->name;
	return instant_add_arg(&thread->instants[thread->instant_cnt - 1], &arg);
}

static int add_loss(struct samples *samples, const struct stack_sample *sample)
{
	int err = 0;

	if (!(sample->flags & SAMPLE_LOST_TICKS))
		samples->complete_ns = sample->time_ns;
	for (size_t i = 0; i < samples->thread_cnt && !err; i++)
		if (sample_gaps_concerns(sample, samples->threads[i].cpu))
			err = add_to(samples, sample, &samples->threads[i]);
	return err;
}

static int add_sample(struct samples *samples, const struct stack_sample *recorded)
{
	const struct stack_sample *sample =
		restarted_sample(&samples->restarted, samples->decoded->history, recorded);
	const char *event = NULL;
	struct sample_items *thread;
	int err;

	if (!sample)
		return -ENOMEM;
	if (sample->kind == SAMPLE_LOST && !sample->tid)
		return add_loss(samples, sample);
	err = thread_get(samples, sample->pid, sample->tid, sample->time_ns, &thread);
	if (err)
		return err;
	if (sample->kind != SAMPLE_WAKE_UP && !(sample->flags & SAMPLE_IS_STILL))
		thread->cpu = sample->cpu;
	if (sample->kind == SAMPLE_EVENT)
		event = samples->snapshot->sample_events[sample->event];
	samples->context.is_clock = event && is_clock(event);
	if (!event ||
	    (is_time(event) && (sample->ip_cnt || sample->stack_size || sample->flags & SAMPLE_HAS_REGS)))
		err = add_to(samples, sample, thread);
	else
		err = add_count(samples, sample);
	thread->last_ns = sample->time_ns;
	return err || sample->kind != SAMPLE_PAGE_FAULT ? err : name_fault(samples, sample, thread);
}

/* ---- hits ---- */

/* The hit's stack, behind `calls` calls that are not on it. */
static int hit_stack(const struct hit *hit, size_t calls, struct sample_stack *ret_stack)
{
	if (sample_stack_new(ret_stack, calls + hit->stack_cnt))
		return -ENOMEM;
	ret_stack->reached = hit_reg(hit, HIT_SP);
	for (size_t i = calls; i < ret_stack->cnt; i++)
		ret_stack->ips[i] = hit->stack[i - calls] - !!i;
	return 0;
}

/* Its frame ends where the stack pointer is now. */
static int add_returned(const struct samples *samples, const struct hit *hit, uint64_t time_ns,
			struct sample_items *thread)
{
	struct returned_call call = {
		.begin_ns = trace_clock_from_monotonic(&samples->snapshot->clock, hit->begin_ns),
		.end_ns = time_ns};
	int err = hit_stack(hit, 1, &call.stack);

	if (err)
		return err;
	call.stack.ips[0] = hit_call_ip(samples->decoded->history, samples->snapshot, hit);
	call.stack.cfas[0] = hit_reg(hit, HIT_SP);
	return returned_call_add(thread, &samples->context, &call);
}

/* At a function's beginning nothing was pushed yet but the return address. */
static int add_hit(struct samples *samples, const struct hit *hit, uint64_t time_ns)
{
	uint64_t ip = hit_reg(hit, HIT_IP);
	const struct symbol *symbol =
		history_symbol_at(samples->decoded->history, (int32_t)hit->pid, ip, time_ns);
	bool is_begin = symbol && symbol->start == ip && symbol->named;
	struct sample_items *thread;
	struct sample_stack stack;
	int err;

	if (!hit_has_registers(hit))
		return 0;
	err = thread_get(samples, (int32_t)hit->pid, (int32_t)hit->tid, time_ns, &thread);
	if (!err && hit_call_is_known(hit))
		err = add_returned(samples, hit, time_ns, thread);
	if (!err)
		err = hit_stack(hit, 0, &stack);
	if (err)
		return err;
	stack.cfas[0] = is_begin ? stack.reached + sizeof(uint64_t) : 0;
	return sample_items_hit(thread, &samples->context, time_ns, &stack, is_begin);
}

/* ---- all, in the order of time ---- */

/* The first that is known; of a thread that waits all the time only that. */
static uint64_t begin_of(const struct samples *samples, uint64_t first_ns)
{
	for (size_t i = 0; i < samples->snapshot->sample_cnt; i++) {
		const struct stack_sample *sample = &samples->snapshot->samples[i];

		if (sample->flags & SAMPLE_IS_STILL && sample->since_ns < first_ns)
			first_ns = sample->since_ns;
	}
	return first_ns;
}

static int add_all(struct samples *samples)
{
	const struct sample_order *order = &samples->order;
	int err = 0;

	samples->first_ns = samples->context.base_ns = begin_of(samples, sample_order_time_ns(order, 0));
	samples->last_ns = sample_order_time_ns(order, order->cnt - 1);
	for (size_t i = 0; i < order->cnt && !err; i++) {
		const struct stack_sample *sample = sample_order_sample(order, i);

		err = sample ? add_sample(samples, sample)
			     : add_hit(samples, sample_order_hit(order, i), sample_order_time_ns(order, i));
	}
	return err;
}

/* ---- the timeline ---- */

/* Samples have times, the rest of what decoding asks has ticks of the recording's clock. */
struct clocked {
	struct resolver resolver;
	uint64_t time_ns, tsc; /* the last that was converted */
};

static uint64_t tsc_of(struct clocked *clocked, uint64_t time_ns)
{
	if (clocked->time_ns != time_ns)
		clocked->tsc = trace_clock_tsc(&clocked->resolver.snapshot->clock, time_ns);
	clocked->time_ns = time_ns;
	return clocked->tsc;
}

static const struct symbol *symbol_at(void *ctx, uint64_t ip, uint64_t time_ns)
{
	struct clocked *clocked = ctx;

	return ip == SAMPLE_KERNEL_IP ? &kernel
				      : resolver_symbol_at(&clocked->resolver, ip, tsc_of(clocked, time_ns));
}

static const struct inline_chain *inlines_at(void *ctx, uint64_t ip, uint64_t time_ns, uint64_t *ret_end)
{
	struct clocked *clocked = ctx;

	return arch_is_kernel(ip)
		       ? NULL
		       : resolver_inlines_at(&clocked->resolver, ip, tsc_of(clocked, time_ns), ret_end);
}

static uint64_t since_base(void *ctx, uint64_t time_ns)
{
	const struct clocked *clocked = ctx;

	return time_ns > clocked->resolver.base_ns ? time_ns - clocked->resolver.base_ns : 0;
}

/*
 * Whether each thread that runs is sampled, in the kernel as well, and whether it runs is known: as BPF
 * programs see it. Else a thread may be anywhere between two ticks.
 */
static bool is_complete(const struct samples *samples)
{
	const struct snapshot *snapshot = samples->snapshot;
	bool sees_kernel = false;

	for (size_t i = 0; i < snapshot->sample_cnt && !sees_kernel; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];

		sees_kernel =
			sample->kind == SAMPLE_WAKE_UP ||
			(sample->kind == SAMPLE_EVENT && sample->ip_cnt && arch_is_kernel(sample->ips[0]));
	}
	return sees_kernel && sample_order_has_switches(snapshot);
}

static void warn_of_holes(const struct sample_holes *holes)
{
	if (holes->cnt)
		log_warn("the trace has %zu gap%s, %.0f ms together, in which a thread ran without a sample: "
			 "the kernel throttled sampling (sysctl kernel.perf_cpu_time_max_percent, "
			 "kernel.perf_event_max_sample_rate), or the host stopped this machine",
			 holes->cnt, holes->cnt == 1 ? "" : "s", (double)holes->total_ns / 1000000);
}

static int build_thread(struct samples *samples, struct sample_items *from, uint64_t period)
{
	struct history *history = samples->decoded->history;
	struct timeline *timeline = samples->decoded->timeline;
	struct clocked clocked = {.resolver = {.snapshot = samples->snapshot,
					       .process = history_process(history, from->pid),
					       .kernel = history->kernel,
					       .base_ns = samples->context.base_ns}};
	const struct stacks_config config = {.symbol_at = symbol_at,
					     .time_ns = since_base,
					     .inlines_at = samples->config->inlines ? inlines_at : NULL,
					     .ctx = &clocked};
	struct timeline_thread *thread;
	int err = sample_items_finish(from, &samples->context, samples->last_ns);

	if (from->switches_ns < samples->complete_ns)
		from->switches_ns = samples->complete_ns;
	if (!err && samples->is_complete)
		err = sample_holes_find(from, &samples->context, period, &samples->holes);
	if (!err)
		err = batch_add(timeline,
				&(struct batch){.pid = from->pid,
						.tid = from->tid,
						.name = thread_name(samples, from->tid),
						.resolver = config,
						.kind = BATCH_STACKS,
						.stacks = {from->items, from->cnt, from->last_ns, period}});
	if (err)
		return err;
	thread = &timeline->threads[timeline->thread_cnt - 1];
	thread->instants = TAKE_PTR(from->instants);
	thread->instant_cnt = from->instant_cnt;
	thread->instant_cap = from->instant_cap;
	from->instant_cnt = 0;
	return 0;
}

/* That of the thread of which most is known. */
static uint64_t find_period(const struct samples *samples)
{
	const struct sample_items *most = NULL;

	for (size_t i = 0; i < samples->thread_cnt; i++)
		if (!most || samples->threads[i].cnt > most->cnt)
			most = &samples->threads[i];
	return most ? sampled_period(most->items, most->cnt) : 0;
}

/* An arrow has two ends. */
static void finish_flows(struct timeline *timeline)
{
	size_t kept = 0;

	for (size_t i = 0; i < timeline->flow_cnt; i++)
		if (timeline_thread_of(timeline, timeline->flows[i].from_tid))
			timeline->flows[kept++] = timeline->flows[i];
	timeline->flow_cnt = kept;
	sort_array(timeline->flows, kept, sizeof(*timeline->flows), sort_by_number);
}

static int build_samples(struct decoded *decoded, const struct snapshot *snapshot,
			 const struct decode_config *config)
{
	CLEANUP(samples_release)
	struct samples samples = {.decoded = decoded, .snapshot = snapshot, .config = config};
	int err;

	samples.context = (struct sample_context){.timeline = decoded->timeline,
						  .thread_name = thread_name,
						  .variable_at = variable_at,
						  .symbol_at = function_at,
						  .ctx = &samples};
	err = sample_order_make(&samples.order, decoded->history, snapshot);
	if (!err)
		err = add_all(&samples);
	decoded->timeline->base_ns = samples.context.base_ns;
	decoded->timeline->period_ns = find_period(&samples);
	samples.is_complete = is_complete(&samples);
	for (size_t i = 0; i < samples.thread_cnt && !err; i++)
		err = build_thread(&samples, &samples.threads[i], decoded->timeline->period_ns);
	warn_of_holes(&samples.holes);
	finish_flows(decoded->timeline);
	return err;
}

static bool has_samples(const struct snapshot *snapshot)
{
	return snapshot->sample_cnt;
}

const struct part part_samples = {has_samples, build_samples};
