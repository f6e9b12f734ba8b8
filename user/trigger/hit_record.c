/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one place that turns BPF's form of a hit into ours. It also does what the BPF program need not do: a
 * hit at a return instruction gets the return address as its place, and the registers that the caller has
 * next.
 */
#include "trigger/hit_record.h"

#include <string.h>

static void read_stack(const struct hit_record *record, struct trigger_hit *hit)
{
	struct caught_hit *caught = &hit->caught;
	uint32_t cnt = record->frame_cnt < HIT_STACK_MAX ? record->frame_cnt : HIT_STACK_MAX;

	hit->values = record->tail;
	hit->copy = hit->values + record->value_bytes;
	hit->copy_size = record->copy_bytes;
	memcpy(caught->stack, hit->copy + record->copy_room, cnt * sizeof(*caught->stack));
	caught->hit.stack_cnt = (uint16_t)cnt;
}

static void step_over_return(struct trigger_hit *hit)
{
	struct caught_hit *caught = &hit->caught;

	caught->regs[HIT_IP] = caught->hit.return_address;
	caught->regs[HIT_SP] += sizeof(uint64_t);
	if (caught->hit.stack_cnt)
		caught->stack[0] = caught->hit.return_address;
	if (hit->copy_size < sizeof(uint64_t))
		return;
	hit->copy += sizeof(uint64_t);
	hit->copy_size -= sizeof(uint64_t);
}

void hit_record_read(const struct hit_record *record, struct trigger_hit *ret_hit)
{
	struct caught_hit *caught = &ret_hit->caught;

	caught->hit = (struct hit){
		.time_ns = record->time_ns,
		.begin_ns = record->begin_ns,
		.return_address = record->top,
		.cpu = record->cpu,
		.pid = record->pid,
		.tid = record->tid,
		.trigger = record->trigger,
		.action = (uint16_t)record->action,
		.args_known = (uint16_t)record->args_known,
	};
	memcpy(caught->hit.comm, record->comm, sizeof(caught->hit.comm));
	memcpy(caught->regs, record->regs, sizeof(caught->regs));
	memcpy(caught->args, record->args, sizeof(caught->args));
	read_stack(record, ret_hit);
	if (record->action & HIT_RETURN)
		step_over_return(ret_hit);
}
