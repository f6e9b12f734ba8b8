/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring is copied first, word by word in the order of addresses: a record's mark is written last and
 * stands first, so what has its mark in the copy was complete when it was copied. Then the head is looked at
 * again: what it has passed by a whole ring may have been overwritten in the meantime.
 *
 * A call that has not returned gets a record of its own for its end once its begin was read. This is agreed
 * with the program by a compare and exchange of `took_ns`, which it does too.
 */
#include "source/samples/ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "source/samples/about.h"
#include "source/samples/slots.h"
#include "source/samples/told.h"

/* A read that is under way. */
struct reading {
	struct samples_reader *reader;
	uint8_t *copy;
	uint8_t *ring;
	uint64_t low, high; /* positions that may be looked at */
	int (*add)(void *ctx, const struct stack_sample *sample);
	void *ctx;
};

/* ---- records ---- */

static bool is_full(const struct samples_record *record)
{
	return record->flags & SAMPLES_WITH_STACK;
}

static bool is_sane(const struct samples_record *record)
{
	const struct samples_full *full = (const struct samples_full *)record;

	if (record->size < sizeof(*record) || record->size % SAMPLES_ALIGN ||
	    record->size > SAMPLES_RECORD_MAX)
		return false;
	if (!is_full(record))
		return true;
	return record->size >= sizeof(*full) && full->chunk_cnt <= SAMPLES_CHUNK_MAX &&
	       full->coded_cnt <= SAMPLES_CODED_MAX && full->kernel_cnt <= SAMPLES_KERNEL_MAX &&
	       full->slot < SAMPLES_SLOTS && samples_fresh_cnt(full) <= full->coded_cnt &&
	       record->size >= sizeof(*full) + 2ul * samples_kernel_at(full) + 8u * full->kernel_cnt;
}

/* The record that begins there; NULL: none does. */
static const struct samples_record *record_at(const struct reading *reading, uint64_t position)
{
	const struct samples_reader *reader = reading->reader;
	const struct samples_record *record =
		(const struct samples_record *)(reading->copy + position % reader->bytes);

	if (record->mark != (position ^ reader->secret) || !is_sane(record) ||
	    record->size > reading->high - position)
		return NULL;
	return record;
}

/* ---- stacks ---- */

static uint64_t user_ip(const struct samples_record *record)
{
	return record->kind == SAMPLES_OUT ? record->out.ip : record->tick.ip;
}

static int put_registers(struct stack_sample *sample, const uint64_t *regs, uint64_t ip)
{
#define NAME(reg, field) HIT_##reg,
	static const enum hit_reg names[] = {ARCH_SAMPLED(NAME)};
#undef NAME

	if (!stack_sample_add_regs(sample))
		return -ENOMEM;
	for (size_t i = 0; i < ARCH_SAMPLED_CNT; i++)
		sample->regs[names[i]] = regs[i];
	sample->regs[HIT_IP] = ip;
	return 0;
}

/* The kernel's part, then where the program was; 0: that is told elsewhere. */
static int put_ips(struct stack_sample *sample, const uint8_t *ips, size_t cnt, uint64_t ip)
{
	if (!cnt && !ip)
		return 0;
	sample->ips = calloc(cnt + 1, sizeof(*sample->ips));
	if (!sample->ips)
		return -ENOMEM;
	if (cnt)
		memcpy(sample->ips, ips, cnt * sizeof(*sample->ips));
	sample->ips[cnt] = ip;
	sample->ip_cnt = (uint32_t)cnt + !!ip;
	return 0;
}

static int put_full(struct samples_reader *reader, struct stack_sample *sample,
		    const struct samples_full *full)
{
	bool is_known = samples_slots_update(reader->slots, full);
	uint64_t ip = user_ip(&full->record);
	int err = put_ips(sample, (const uint8_t *)(full->coded + samples_kernel_at(full)), full->kernel_cnt,
			  is_known ? 0 : ip);

	if (full->record.flags & SAMPLES_CUT || !is_known)
		sample->flags |= SAMPLE_IS_CUT;
	if (err || !is_known)
		return err;
	sample->flags |= SAMPLE_LEFT_OUT;
	err = put_registers(sample, samples_slots_registers(reader->slots, full), ip);
	return err ? err : samples_slots_keep(reader->slots, full, reader->stacks, sample);
}

/* ---- what is behind a descriptor ---- */

/* What the thread's next record is about: what was told of that descriptor, if it stands for a file. */
static int set_about(struct samples_reader *reader, uint32_t tid, int32_t fd, bool is_file,
		     int64_t timeout_ns)
{
	const char *known = is_file ? samples_told_find(reader->told, tid, fd) : NULL;

	free(reader->about);
	reader->about = known ? strdup(known) : NULL;
	reader->about_tid = tid;
	reader->timeout_ns = timeout_ns;
	return known && !reader->about ? -ENOMEM : 0;
}

static int keep_about(struct samples_reader *reader, const struct samples_record *record)
{
	struct samples_about about = {0};
	int32_t fd = record->about.fd;
	bool is_file = record->about.mode || record->about.inode;
	int err = 0;

	memcpy(&about, record, record->size < sizeof(about) ? record->size : sizeof(about) - 1);
	if (is_file && !(record->flags & SAMPLES_KNOWN))
		err = samples_told_note(&reader->told, record->tid, fd,
					samples_about_text(&about, reader->files));
	return err ? err : set_about(reader, record->tid, fd, is_file, record->about.timeout_ns);
}

/* A call or wait that has nothing to add to what was told. */
static int use_told(struct samples_reader *reader, const struct samples_record *record)
{
	uint64_t fd = record->kind == SAMPLES_ENTER ? record->enter.args[0] : record->out.args[0];

	return set_about(reader, record->tid, (int32_t)fd, true,
			 record->flags & SAMPLES_UNTIMED ? SAMPLES_FOREVER : SAMPLES_NO_TIMEOUT);
}

/* Once: the next call is about something else. */
static void take_about(struct samples_reader *reader, struct stack_sample *sample)
{
	if (reader->about_tid != (uint32_t)sample->tid ||
	    (sample->kind != SAMPLE_SWITCH_OUT && sample->kind != SAMPLE_SYSCALL_BEGIN))
		return;
	sample->call.about = TAKE_PTR(reader->about);
	sample->call.timeout_ns = reader->timeout_ns;
	sample->call.has_timeout = reader->timeout_ns != SAMPLES_NO_TIMEOUT;
	reader->about_tid = 0;
}

/* ---- samples ---- */

static void put_out(struct stack_sample *sample, const struct samples_record *record)
{
	sample->kind = SAMPLE_SWITCH_OUT;
	sample->switches = record->switches;
	/* The kernel calls it preemption only where the thread was in kernel code. */
	if (record->flags & SAMPLES_PREEMPT || !record->out.state)
		sample->flags |= SAMPLE_PREEMPTED;
	else if (record->out.state & SAMPLE_STATE_MASK)
		sample->state = record->out.state & SAMPLE_STATE_MASK;
	else
		sample->state = SAMPLE_UNINTERRUPTIBLE; /* it is parked, or was frozen before Linux 6.1 */
	sample->call.nr = record->out.nr < 0 ? SAMPLE_NO_SYSCALL : record->out.nr;
	memcpy(sample->call.args, record->out.args, sizeof(record->out.args));
}

static void put_other(struct stack_sample *sample, const struct samples_record *record)
{
	sample->other.pid = (int32_t)record->other.pid;
	sample->other.tid = (int32_t)record->other.tid;
	memcpy(sample->other.name, record->other.name, sizeof(sample->other.name) - 1);
}

static void put_interrupt(struct stack_sample *sample, const struct samples_record *record)
{
	static const char *const soft[] = {"hi",       "timer",	  "net_tx", "net_rx",  "block",
					   "irq_poll", "tasklet", "sched",  "hrtimer", "rcu"};
	uint32_t number = record->interrupt.number, form = record->interrupt.form;
	const char *name = form == SAMPLES_IRQ_DEVICE  ? record->interrupt.name
			   : form == SAMPLES_IRQ_CLOCK ? "clock"
			   : number < ARRAY_SIZE(soft) ? soft[number]
						       : "?";

	sample->kind = SAMPLE_INTERRUPT;
	sample->until_ns = record->interrupt.end_ns;
	sample->other.pid = form == SAMPLES_IRQ_SOFT;
	memcpy(sample->other.name, name, strnlen(name, sizeof(sample->other.name) - 1));
}

static void put_kind(struct stack_sample *sample, const struct samples_record *record)
{
	switch (record->kind) {
	case SAMPLES_TICK:
		sample->period = record->tick.period;
		sample->event = record->tick.event;
		break;
	case SAMPLES_OUT:
		put_out(sample, record);
		break;
	case SAMPLES_IN:
		sample->kind = SAMPLE_SWITCH_IN;
		sample->switches = record->switches;
		put_other(sample, record);
		break;
	case SAMPLES_WAKE:
		sample->kind = SAMPLE_WAKE_UP;
		put_other(sample, record);
		sample->flags |= record->flags & SAMPLES_TIMER ? SAMPLE_FROM_TIMER
				 : record->flags & SAMPLES_IRQ ? SAMPLE_FROM_IRQ
							       : 0;
		break;
	case SAMPLES_ENTER:
		sample->kind = SAMPLE_SYSCALL_BEGIN;
		sample->call.nr = record->enter.nr;
		memcpy(sample->call.args, record->enter.args, sizeof(record->enter.args));
		break;
	case SAMPLES_LEAVE:
		sample->kind = SAMPLE_SYSCALL_END;
		sample->call.nr = record->leave.nr;
		sample->call.result = record->leave.result;
		break;
	case SAMPLES_FAULT:
		sample->kind = SAMPLE_PAGE_FAULT;
		sample->address = record->fault.address;
		break;
	case SAMPLES_INTERRUPT:
		put_interrupt(sample, record);
		break;
	case SAMPLES_GONE:
		sample->kind = SAMPLE_LOST;
		sample->lost_cnt = record->gone.cnt;
		sample->since_ns = record->gone.since_ns;
		sample->flags = record->flags & SAMPLES_ONLY_TICKS ? SAMPLE_LOST_TICKS : 0;
		break;
	}
}

/* The address where it stopped running, of a switch or page fault without more. */
static uint64_t only_ip(const struct samples_record *record)
{
	return is_full(record)		       ? 0
	       : record->kind == SAMPLES_OUT   ? record->out.ip
	       : record->kind == SAMPLES_FAULT ? record->fault.ip
					       : 0;
}

/* The end that is in the record of the call's begin. */
static int put_end(struct reading *reading, const struct samples_record *record)
{
	struct stack_sample sample = {.time_ns = record->time_ns + record->took_ns,
				      .pid = (int32_t)record->pid,
				      .tid = (int32_t)record->tid,
				      .cpu = reading->reader->cpu,
				      .kind = SAMPLE_SYSCALL_END,
				      .call = {.nr = record->enter.nr, .result = record->enter.result}};

	return reading->add(reading->ctx, &sample);
}

static int put_record(struct reading *reading, const struct samples_record *record)
{
	struct samples_reader *reader = reading->reader;
	struct stack_sample sample = {.time_ns = record->time_ns,
				      .pid = (int32_t)record->pid,
				      .tid = (int32_t)record->tid,
				      .cpu = reader->cpu,
				      .kind = SAMPLE_EVENT,
				      .call.nr = SAMPLE_NO_SYSCALL};
	uint64_t ip = only_ip(record);
	int err = 0;

	if (record->kind == SAMPLES_ABOUT)
		return keep_about(reader, record);
	if (record->flags & SAMPLES_KNOWN)
		err = use_told(reader, record);
	if (err)
		return err;
	put_kind(&sample, record);
	if (sample.kind == SAMPLE_LOST && !sample.since_ns)
		sample.since_ns = reader->last_ns;
	err = is_full(record) ? put_full(reader, &sample, (const struct samples_full *)record)
			      : put_ips(&sample, NULL, 0, ip);
	if (!err && !sample.ip_cnt && record->kind == SAMPLES_TICK && record->tick.kernel_ip)
		err = put_ips(&sample, NULL, 0, record->tick.kernel_ip);
	take_about(reader, &sample);
	if (!err) {
		err = reading->add(reading->ctx, &sample);
		return !err && record->kind == SAMPLES_ENTER && record->took_ns > SAMPLES_TAKEN
			       ? put_end(reading, record)
			       : err;
	}
	stack_sample_release(&sample);
	return err;
}

/* From the last record until `now_ns`; at first from before anything is known. */
static int put_lost(struct reading *reading, uint64_t now_ns)
{
	const struct samples_reader *reader = reading->reader;
	const struct stack_sample lost = {.time_ns = now_ns,
					  .since_ns = reader->last_ns,
					  .cpu = reader->cpu,
					  .kind = SAMPLE_LOST,
					  .flags = reader->ring == SAMPLES_MOMENTS ? SAMPLE_LOST_MOMENTS
										   : SAMPLE_LOST_TICKS,
					  .call.nr = SAMPLE_NO_SYSCALL};

	return reading->add(reading->ctx, &lost);
}

/* ---- all of it ---- */

/* Whole words in order, so that what was written last is read first. */
static void copy_ordered(uint8_t *to, const volatile uint8_t *from, size_t size)
{
	const volatile uint64_t *words = (const volatile uint64_t *)from;
	uint64_t *out = (uint64_t *)to;

	for (size_t i = 0; i < size / sizeof(*words); i++)
		out[i] = words[i];
}

/* What stands at the positions from `from` to `to`, each at its place. */
static void copy_ring(uint8_t *copy, const volatile uint8_t *bytes, size_t size, uint64_t from, uint64_t to)
{
	size_t first = from % size, last = to % size;

	if (to - from >= size)
		first = last = 0;
	if (first < last) {
		copy_ordered(copy + first, bytes + first, last - first);
		return;
	}
	copy_ordered(copy + first, bytes + first, size + SAMPLES_RECORD_MAX - first);
	copy_ordered(copy, bytes, last);
}

/* The last records may be of calls that return now; those before cannot. */
enum { MAY_RETURN = 64 * sizeof(struct samples_record) };

/* What stands from `size` to `took_ns`. */
static uint64_t *state_of(struct samples_record *record)
{
	return (uint64_t *)&record->size;
}

_Static_assert(offsetof(struct samples_record, took_ns) + sizeof(uint32_t) ==
			       offsetof(struct samples_record, size) + sizeof(uint64_t) &&
		       offsetof(struct samples_record, size) % sizeof(uint64_t) == 0,
	       "one word");

/* If another record stands there by now, at the worst its end gets a record of its own. */
static void take_call(const struct reading *reading, uint64_t position)
{
	size_t at = position % reading->reader->bytes;
	struct samples_record *copied = (struct samples_record *)(reading->copy + at), taken = *copied;
	struct samples_record *record = (struct samples_record *)(reading->ring + at);
	uint64_t state = *state_of(copied);
	int32_t result;

	taken.took_ns = SAMPLES_TAKEN;
	if (copied->mark != (position ^ reading->reader->secret) || copied->kind != SAMPLES_ENTER ||
	    copied->took_ns ||
	    __atomic_compare_exchange_n(state_of(record), &state, *state_of(&taken), false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return;
	*state_of(&taken) = state;
	result = *(volatile __s32 *)&record->enter.result;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (*(volatile __u64 *)&record->mark != copied->mark)
		return;
	copied->took_ns = taken.took_ns;
	copied->enter.result = result;
}

/* Before anything else, so that the ring does not come round meanwhile. */
static void take_calls(const struct reading *reading)
{
	uint64_t position = reading->high > MAY_RETURN ? reading->high - MAY_RETURN : 0;

	if (reading->reader->ring != SAMPLES_MOMENTS)
		return;
	if (position < reading->reader->next)
		position = reading->reader->next;
	for (; position + sizeof(struct samples_record) <= reading->high; position += SAMPLES_ALIGN)
		take_call(reading, position);
}

/* What is found between where the last read ended and `high`. */
static int read_records(struct reading *reading)
{
	struct samples_reader *reader = reading->reader;
	uint64_t position = reader->next;
	bool is_lost = position < reading->low;
	int err = 0;

	if (is_lost)
		position = reading->low;
	while (position < reading->high && !err) {
		const struct samples_record *record = record_at(reading, position);

		if (!record) {
			is_lost = true;
			position += SAMPLES_ALIGN;
			continue;
		}
		if (is_lost) {
			samples_told_forget(&reader->told);
			samples_slots_skip(reader->slots, position - reader->next);
			err = put_lost(reading, record->time_ns);
		}
		if (!err)
			err = put_record(reading, record);
		is_lost = false;
		position += record->size;
		reader->next = position;
		reader->last_ns = record->time_ns;
	}
	return err;
}

int samples_reader_read(struct samples_reader *reader, volatile uint8_t *bytes,
			const volatile struct samples_head *head,
			int (*add)(void *ctx, const struct stack_sample *sample), void *ctx)
{
	size_t size = reader->bytes + SAMPLES_RECORD_MAX;
	CLEANUP(freep) uint8_t *copy = NULL;
	struct reading reading = {
		.reader = reader, .ring = (uint8_t *)bytes, .high = head->head, .add = add, .ctx = ctx};
	uint64_t after;

	if (reading.high == reader->next)
		return 0;
	if (!reader->slots && samples_slots_new(&reader->slots))
		return -ENOMEM;
	samples_slots_begin_pool(reader->slots);
	copy = aligned_alloc(SAMPLES_ALIGN, (size + SAMPLES_ALIGN - 1) & ~(SAMPLES_ALIGN - 1ull));
	if (!copy)
		return -ENOMEM;
	copy_ring(copy, bytes, reader->bytes, reader->next, reading.high);
	reading.copy = copy;
	take_calls(&reading);
	after = head->head;
	reading.low = after > reader->bytes ? after - reader->bytes : 0;
	return read_records(&reading);
}

void samples_reader_release(struct samples_reader *reader)
{
	free(reader->slots);
	free(reader->about);
	samples_told_forget(&reader->told);
	reader->slots = NULL;
	reader->about = NULL;
}
