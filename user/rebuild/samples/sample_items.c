/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread runs its own code, or is in a span of time in which it does not: in a system call, or without a
 * processor, or in the one within the other. While a span lasts its calls stay as they are, so that any stack
 * seen in it is the stack of all of it.
 *
 *	samples		tick	begin futex	out	wake-up	in	end	tick
 *	items		tick	span..............................	tick
 *	pauses			[syscall] futex....................
 *				        	[off-cpu]	[run-queue]
 *
 * The recording may begin or lose something anywhere: an end without a beginning began before the recording
 * if nothing of the thread was seen yet, and tells nothing otherwise; a beginning within what has not ended
 * ends it.
 */
#include "rebuild/samples/sample_items.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "base/array.h"
#include "rebuild/samples/pause_detail.h"

/* ---- items ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct sampled_item *last_item(const struct sample_items *items)
{
	return items->cnt ? &items->items[items->cnt - 1] : NULL;
}

/* Clocks of processors may disagree a little: time stands still then. */
static int push_item(struct sample_items *items, struct sampled_item item)
{
	const struct sampled_item *last = last_item(items);

	item.start = later(item.start, last ? last->end : 0);
	item.end = later(item.end, item.start);
	return ARRAY_PUSH(items->items, items->cnt, items->cap, item);
}

static int keep_block(struct sample_items *items, uint64_t *block)
{
	int err = block ? ARRAY_PUSH(items->blocks, items->block_cnt, items->block_cap, block) : 0;

	if (err)
		free(block);
	return err;
}

static void set_stack(struct sampled_item *item, const struct sample_stack *stack, size_t from)
{
	item->ips = stack->ips + from;
	item->cfas = stack->cfas ? stack->cfas + from : NULL;
	item->cnt = stack->cnt - from;
	item->reached = stack->reached;
}

/* The kernel's part is what the span is about. */
static void adopt_stack(struct sample_items *items, const struct sample_stack *stack)
{
	size_t from = 0;

	while (from < stack->cnt && arch_is_kernel(stack->ips[from]))
		from++;
	if (!last_item(items)->leaf)
		last_item(items)->leaf = stack->leaf;
	if (from < stack->cnt && !last_item(items)->cnt)
		set_stack(last_item(items), stack, from);
}

static int add_tick(struct sample_items *items, uint64_t time_ns, uint64_t period,
		    const struct sample_stack *stack, bool is_begin)
{
	struct sampled_item item = {.start = time_ns, .end = time_ns, .period = period, .is_begin = is_begin};

	set_stack(&item, stack, 0);
	return push_item(items, item);
}

static int add_instant(struct sample_items *items, const struct sample_context *context, uint64_t time_ns,
		       bool is_event, char *text)
{
	struct instant instant = {.time_ns = later(time_ns, context->base_ns) - context->base_ns,
				  .text = text,
				  .is_event = is_event};

	if (items->instant_cnt)
		instant.time_ns = later(instant.time_ns, items->instants[items->instant_cnt - 1].time_ns);
	if (text && !ARRAY_PUSH(items->instants, items->instant_cnt, items->instant_cap, instant))
		return 0;
	free(text);
	return -ENOMEM;
}

/* ---- spans ---- */

static int begin_span(struct sample_items *items, uint64_t time_ns)
{
	int err = items->in_span ? 0
				 : push_item(items, (struct sampled_item){.start = time_ns, .end = time_ns});

	items->in_span = !err;
	return err;
}

static int begin_pause(struct sample_items *items, enum slice_kind kind, uint64_t time_ns, uint8_t flags,
		       size_t *ret_pause)
{
	struct sampled_pause pause = {.kind = kind, .flags = flags, .depth = items->call ? 1 : 0};
	int err = begin_span(items, time_ns);

	if (err)
		return err;
	pause.start = pause.end = later(time_ns, last_item(items)->start);
	err = ARRAY_PUSH(items->pauses, items->pause_cnt, items->pause_cap, pause);
	if (err)
		return err;
	last_item(items)->pause_cnt++;
	*ret_pause = items->pause_cnt;
	return 0;
}

/* The later one, where more is known by then: what a socket is connected to, or which call was restarted. */
static const struct sample_call *call_of(const struct sample_items *items)
{
	const struct sample_call *left = items->left ? &items->left->call : NULL;

	if (!items->began || (left && (left->about || (left->nr >= 0 && left->nr != items->began->call.nr))))
		return left;
	return &items->began->call;
}

/* Its wait, if it waits, ends here: `by` a wake-up or a switch in, or NULL. */
static int end_off(struct sample_items *items, const struct sample_context *context, uint64_t time_ns,
		   const struct stack_sample *by)
{
	struct sampled_pause *pause = items->off ? &items->pauses[items->off - 1] : NULL;
	const struct stack_sample *woken = by && by->kind == SAMPLE_WAKE_UP ? by : NULL;
	struct pause_about about = {.left = items->left, .woken = woken, .in = woken ? NULL : by};

	if (!pause)
		return 0;
	items->off = 0;
	pause->end = later(time_ns, pause->start);
	about.kind = pause->kind;
	about.call = call_of(items);
	about.length_ns = pause->end - pause->start;
	about.began_before = pause->flags & SLICE_INFERRED_START;
	if (woken && woken->other.tid)
		about.waker = context->thread_name(context->ctx, woken->other.tid);
	return pause_detail(context, items->pid, &about, &pause->detail);
}

/* Its system call, if it is in one, ends here. */
static int end_call(struct sample_items *items, const struct sample_context *context, uint64_t time_ns,
		    const struct stack_sample *end)
{
	struct sampled_pause *pause = items->call ? &items->pauses[items->call - 1] : NULL;
	struct pause_about about = {.kind = SLICE_SYSCALL, .end = end};

	if (!pause)
		return 0;
	items->call = 0;
	pause->end = later(time_ns, pause->start);
	about.call = items->began ? &items->began->call : end ? &end->call : NULL;
	items->began = NULL;
	return pause_detail(context, items->pid, &about, &pause->detail);
}

static void end_span(struct sample_items *items, uint64_t time_ns)
{
	if (items->in_span && !items->call && !items->off) {
		last_item(items)->end = later(time_ns, last_item(items)->start);
		items->in_span = false;
	}
}

static int end_all(struct sample_items *items, const struct sample_context *context, uint64_t time_ns)
{
	int err = end_off(items, context, time_ns, NULL);

	if (!err)
		err = end_call(items, context, time_ns, NULL);
	end_span(items, time_ns);
	return err;
}

/* ---- one sample of each kind ---- */

typedef int (*take_fn)(struct sample_items *, const struct sample_context *, const struct stack_sample *,
		       const struct sample_stack *);

/* Something ends that was so before: since the beginning, if this is the first that is seen of the thread. */
static bool is_since_first(const struct sample_items *items, const struct stack_sample *sample)
{
	return !items->last_ns && sample->time_ns > items->first_ns;
}

/* When it went on after the last interrupt that is known. */
static uint64_t interrupted_until(const struct sample_items *items)
{
	return items->interrupt ? items->pauses[items->interrupt - 1].end : 0;
}

static int take_tick(struct sample_items *items, const struct sample_context *context,
		     const struct stack_sample *sample, const struct sample_stack *stack)
{
	int err = end_off(items, context, sample->time_ns, NULL);

	end_span(items, sample->time_ns);
	if (err || !stack->cnt)
		return err;
	if (!items->in_span && sample->time_ns >= interrupted_until(items))
		return add_tick(items, sample->time_ns, context->is_clock ? sample->period : 0, stack, false);
	adopt_stack(items, stack);
	if (context->is_clock && !items->in_span)
		last_item(items)->period = sample->period;
	return 0;
}

static int take_call(struct sample_items *items, const struct sample_context *context,
		     const struct stack_sample *sample, const struct sample_stack *stack)
{
	int err = end_all(items, context, sample->time_ns);

	if (!err)
		err = begin_pause(items, SLICE_SYSCALL, sample->time_ns, 0, &items->call);
	if (err)
		return err;
	items->began = sample;
	adopt_stack(items, stack);
	return 0;
}

static int take_call_end(struct sample_items *items, const struct sample_context *context,
			 const struct stack_sample *sample, const struct sample_stack *stack)
{
	int err = 0;

	if (!items->call && is_since_first(items, sample))
		err = begin_pause(items, SLICE_SYSCALL, items->first_ns, SLICE_INFERRED_START, &items->call);
	if (err || !items->call)
		return err;
	adopt_stack(items, stack);
	err = end_off(items, context, sample->time_ns, NULL);
	if (!err)
		err = end_call(items, context, sample->time_ns, sample);
	end_span(items, sample->time_ns);
	return err;
}

/* When a wait began that is seen now, if its beginning was not. */
static uint64_t still_since(const struct sample_items *items, const struct stack_sample *sample)
{
	if (is_since_first(items, sample))
		return later(items->first_ns, sample->since_ns);
	return items->last_ns <= sample->since_ns ? sample->since_ns : sample->time_ns;
}

/* It was seen to wait: for what, and with which stack. */
static int take_still(struct sample_items *items, const struct stack_sample *sample,
		      const struct sample_stack *stack)
{
	uint64_t since_ns = still_since(items, sample);
	bool begins = !items->off;
	int err = begins ? begin_pause(items, SLICE_OFF_CPU, since_ns,
				       since_ns < sample->time_ns ? SLICE_INFERRED_START : 0, &items->off)
			 : 0;

	if (err)
		return err;
	if (begins || !items->left || (!items->left->call.about && !items->left->call.has_timeout))
		items->left = sample;
	items->still_ns = sample->time_ns;
	adopt_stack(items, stack);
	return 0;
}

static int take_out(struct sample_items *items, const struct sample_context *context,
		    const struct stack_sample *sample, const struct sample_stack *stack)
{
	bool is_ready = sample->flags & SAMPLE_PREEMPTED || !sample->state, missed_in;
	int err;

	if (sample->flags & SAMPLE_IS_STILL)
		return take_still(items, sample, stack);
	missed_in = items->off;
	err = end_off(items, context, sample->time_ns, NULL);
	if (missed_in) /* it has run since, and may have left where it waited */
		end_span(items, sample->time_ns);
	if (!err && sample->state & SAMPLE_ENDED)
		return end_all(items, context, sample->time_ns);
	if (!err)
		err = begin_pause(items, is_ready ? SLICE_RUN_QUEUE : SLICE_OFF_CPU, sample->time_ns, 0,
				  &items->off);
	if (err)
		return err;
	items->left = sample;
	items->woken = NULL;
	adopt_stack(items, stack);
	return 0;
}

/* The stack is its waker's. */
static int take_wake_up(struct sample_items *items, const struct sample_context *context,
			const struct stack_sample *sample, const struct sample_stack *stack)
{
	int err = 0;

	(void)stack;
	if (!items->off && is_since_first(items, sample))
		err = begin_pause(items, SLICE_OFF_CPU, items->first_ns, SLICE_INFERRED_START, &items->off);
	if (err || !items->off || items->pauses[items->off - 1].kind != SLICE_OFF_CPU)
		return err;
	items->woken = sample;
	err = end_off(items, context, sample->time_ns, sample);
	return err ? err : begin_pause(items, SLICE_RUN_QUEUE, sample->time_ns, 0, &items->off);
}

static int add_flow(struct sample_items *items, const struct sample_context *context, uint64_t to_ns)
{
	const struct stack_sample *woken = items->woken;
	struct timeline *timeline = context->timeline;
	struct flow flow = {.to_pid = items->pid, .to_tid = items->tid};

	items->woken = NULL;
	if (!woken || woken->other.tid <= 0 || woken->flags & (SAMPLE_FROM_IRQ | SAMPLE_FROM_TIMER))
		return 0;
	flow.from_pid = woken->other.pid;
	flow.from_tid = woken->other.tid;
	flow.from_ns = later(woken->time_ns, context->base_ns) - context->base_ns;
	flow.to_ns = later(to_ns, later(woken->time_ns, context->base_ns)) - context->base_ns;
	return ARRAY_PUSH(timeline->flows, timeline->flow_cnt, timeline->flow_cap, flow);
}

/* It goes on at another processor, whose caches know nothing of it. */
static int add_migration(struct sample_items *items, const struct sample_context *context,
			 const struct stack_sample *sample)
{
	int err;

	if (items->ran_on < 0 || sample->cpu < 0 || items->ran_on == sample->cpu)
		return 0;
	err = add_instant(items, context, sample->time_ns, true,
			  pause_migration_text(items->ran_on, sample->cpu));
	return err ? err
		   : pause_set_migration(&items->instants[items->instant_cnt - 1], items->ran_on,
					 sample->cpu);
}

static int take_in(struct sample_items *items, const struct sample_context *context,
		   const struct stack_sample *sample, const struct sample_stack *stack)
{
	int err = add_migration(items, context, sample);

	if (!err && !items->off && is_since_first(items, sample))
		err = begin_pause(items, SLICE_OFF_CPU, items->first_ns, SLICE_INFERRED_START, &items->off);
	if (err || !items->off)
		return err;
	adopt_stack(items, stack);
	err = end_off(items, context, sample->time_ns, sample);
	items->left = NULL;
	end_span(items, sample->time_ns);
	return err ? err : add_flow(items, context, sample->time_ns);
}

/* The thread's code, or its system call, stands still meanwhile; a softirq may be interrupted in its turn. */
static int take_interrupt(struct sample_items *items, const struct sample_context *context,
			  const struct stack_sample *sample, const struct sample_stack *stack)
{
	bool is_within = sample->time_ns < interrupted_until(items);
	struct sampled_pause pause = {.kind = SLICE_UNTRACED, .depth = (items->call ? 1 : 0) + is_within};
	int err = items->off ? end_off(items, context, sample->time_ns, NULL) : 0;

	(void)stack;
	if (!err && !is_within)
		err = begin_span(items, sample->time_ns);
	if (!err)
		err = pause_interrupt_detail(context->timeline, sample, &pause.detail);
	if (err)
		return err;
	pause.start = later(sample->time_ns, last_item(items)->start);
	pause.end = later(sample->until_ns, pause.start);
	if (is_within && pause.end > interrupted_until(items))
		pause.end = interrupted_until(items);
	err = ARRAY_PUSH(items->pauses, items->pause_cnt, items->pause_cap, pause);
	if (err)
		return err;
	last_item(items)->pause_cnt++;
	if (!is_within) {
		items->interrupt = items->pause_cnt;
		end_span(items, pause.end);
	}
	return 0;
}

static int take_fault(struct sample_items *items, const struct sample_context *context,
		      const struct stack_sample *sample, const struct sample_stack *stack)
{
	char *text;
	int err =
		add_instant(items, context, sample->time_ns, true,
			    asprintf(&text, "[page fault: %#" PRIx64 "]", sample->address) < 0 ? NULL : text);

	if (err || !stack->cnt)
		return err;
	if (!items->in_span)
		return add_tick(items, sample->time_ns, 0, stack, false);
	adopt_stack(items, stack);
	return 0;
}

/* Where ticks are missing, their distance shows it; only where all is missing, nothing goes on. */
static int take_loss(struct sample_items *items, const struct sample_context *context,
		     const struct stack_sample *sample, const struct sample_stack *stack)
{
	const struct sampled_item loss = {.start = sample->since_ns, .end = sample->time_ns, .is_lost = true};
	int err = add_instant(items, context, sample->since_ns, false, pause_loss_text(sample));

	(void)stack;
	items->switches_ns = later(items->switches_ns, sample->time_ns);
	if (err || sample->flags & SAMPLE_LOST_TICKS)
		return err;
	err = end_all(items, context, later(sample->since_ns, items->still_ns));
	return err || sample->flags & SAMPLE_LOST_MOMENTS ? err : push_item(items, loss);
}

/* ---- all of them ---- */

int sample_items_add(struct sample_items *items, const struct sample_context *context,
		     const struct stack_sample *sample, const struct sample_stack *stack)
{
	static const take_fn takes[] = {
		[SAMPLE_EVENT] = take_tick,	     [SAMPLE_SWITCH_OUT] = take_out,
		[SAMPLE_SWITCH_IN] = take_in,	     [SAMPLE_WAKE_UP] = take_wake_up,
		[SAMPLE_SYSCALL_BEGIN] = take_call,  [SAMPLE_SYSCALL_END] = take_call_end,
		[SAMPLE_PAGE_FAULT] = take_fault,    [SAMPLE_LOST] = take_loss,
		[SAMPLE_INTERRUPT] = take_interrupt,
	};
	int err = keep_block(items, stack->ips);

	_Static_assert(ARRAY_SIZE(takes) == SAMPLE_KIND_CNT, "what to do with each kind");
	if (!err)
		err = takes[sample->kind](items, context, sample, stack);
	items->last_ns = sample->time_ns;
	if (sample->kind != SAMPLE_WAKE_UP && sample->kind != SAMPLE_LOST && sample->cpu >= 0)
		items->ran_on = sample->cpu;
	return err;
}

int sample_items_hit(struct sample_items *items, const struct sample_context *context, uint64_t time_ns,
		     const struct sample_stack *stack, bool is_begin)
{
	int err = keep_block(items, stack->ips);

	if (!err)
		err = end_all(items, context, time_ns);
	if (!err)
		err = add_tick(items, time_ns, 0, stack, is_begin);
	items->last_ns = later(items->last_ns, time_ns);
	return err;
}

int sample_items_finish(struct sample_items *items, const struct sample_context *context, uint64_t until)
{
	struct sampled_pause *pauses = items->pauses;
	int err;

	if (items->off)
		pauses[items->off - 1].flags |= SLICE_OPEN_END;
	if (items->call)
		pauses[items->call - 1].flags |= SLICE_OPEN_END;
	err = end_all(items, context, until);
	for (size_t i = 0; i < items->cnt && pauses; i++) {
		items->items[i].pauses = pauses;
		pauses += items->items[i].pause_cnt;
	}
	return err;
}

void sample_items_release(struct sample_items *items)
{
	for (size_t i = 0; i < items->block_cnt; i++)
		free(items->blocks[i]);
	for (size_t i = 0; i < items->instant_cnt; i++)
		instant_release(&items->instants[i]);
	free(items->blocks);
	free(items->instants);
	free(items->items);
	free(items->pauses);
	*items = (struct sample_items){0};
}
