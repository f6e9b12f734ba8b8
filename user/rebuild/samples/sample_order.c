/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers are one for each processor, so the samples are brought into the order of time first. A hit is a
 * sample, too, and a sharp one. Where perf recorded switches, they stand for those of the samples source.
 */
#include "rebuild/samples/sample_order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sort.h"

bool sample_order_has_switches(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		if (snapshot->samples[i].kind == SAMPLE_SWITCH_OUT)
			return true;
	return false;
}

static int make_switches(struct sample_order *order, const struct history *history)
{
	if (sample_order_has_switches(order->snapshot))
		return 0;
	order->switches = calloc(history->switch_cnt + 1, sizeof(*order->switches));
	if (!order->switches)
		return -ENOMEM;
	for (size_t i = 0; i < history->switch_cnt; i++) {
		const struct history_switch *from = &history->switches[i];

		if (from->tid > 0 && from->pid > 0)
			order->switches[order->switch_cnt++] = (struct stack_sample){
				.time_ns = trace_clock_ns(&order->snapshot->clock, from->tsc),
				.pid = from->pid,
				.tid = from->tid,
				.cpu = from->cpu,
				.kind = from->out ? SAMPLE_SWITCH_OUT : SAMPLE_SWITCH_IN,
				.state = from->preempted ? 0 : SAMPLE_INTERRUPTIBLE,
				.call.nr = SAMPLE_NO_SYSCALL};
	}
	return 0;
}

/* Gaps are first among what has one time. */
static const struct stack_sample *sample_at(const struct sample_order *order, size_t gap_cnt, uint64_t nth)
{
	if (nth < gap_cnt)
		return &order->gaps.found[nth];
	nth -= gap_cnt;
	if (nth < order->snapshot->sample_cnt)
		return &order->snapshot->samples[nth];
	nth -= order->snapshot->sample_cnt;
	return nth < order->switch_cnt ? &order->switches[nth] : NULL;
}

static const struct hit *hit_at(const struct sample_order *order, size_t gap_cnt, uint64_t nth)
{
	return order->snapshot->hits->hits[nth - gap_cnt - order->snapshot->sample_cnt - order->switch_cnt];
}

/* With the first gaps that were found. */
static int sort(struct sample_order *order, size_t gap_cnt)
{
	const struct snapshot *snapshot = order->snapshot;
	size_t cnt = gap_cnt + snapshot->sample_cnt + order->switch_cnt + snapshot->hits->cnt;

	free(order->keys);
	order->cnt = 0;
	order->keys = calloc(cnt, sizeof(*order->keys));
	if (!order->keys)
		return -ENOMEM;
	for (; order->cnt < cnt; order->cnt++) {
		const struct stack_sample *sample = sample_at(order, gap_cnt, order->cnt);

		order->keys[order->cnt].nth = order->cnt;
		order->keys[order->cnt].value =
			sample ? sample->time_ns
			       : trace_clock_from_monotonic(&snapshot->clock,
							    hit_at(order, gap_cnt, order->cnt)->time_ns);
	}
	sort_array(order->keys, cnt, sizeof(*order->keys), sort_by_key);
	return 0;
}

static int find_gaps(struct sample_order *order)
{
	int err = sample_gaps_expect(&order->gaps, order->snapshot);

	for (size_t i = 0; i < order->cnt && order->gaps.loss_cnt && !err; i++) {
		const struct stack_sample *sample = sample_at(order, 0, order->keys[i].nth);

		err = sample ? sample_gaps_add(&order->gaps, sample) : 0;
	}
	return err;
}

int sample_order_make(struct sample_order *order, const struct history *history,
		      const struct snapshot *snapshot)
{
	int err;

	order->snapshot = snapshot;
	err = make_switches(order, history);
	if (!err)
		err = sort(order, 0);
	if (!err)
		err = find_gaps(order);
	return err || !order->gaps.found_cnt ? err : sort(order, order->gaps.found_cnt);
}

uint64_t sample_order_time_ns(const struct sample_order *order, size_t nth)
{
	return order->keys[nth].value;
}

const struct stack_sample *sample_order_sample(const struct sample_order *order, size_t nth)
{
	return sample_at(order, order->gaps.found_cnt, order->keys[nth].nth);
}

const struct hit *sample_order_hit(const struct sample_order *order, size_t nth)
{
	return hit_at(order, order->gaps.found_cnt, order->keys[nth].nth);
}

void sample_order_release(struct sample_order *order)
{
	free(order->switches);
	free(order->keys);
	sample_gaps_release(&order->gaps);
}
