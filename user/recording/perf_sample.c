/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample_type says which fields a sample has. Their order is fixed, and differs from the order of the bits.
 * Every size is checked against the record's. Fields after the copy of the stack are ignored.
 */
#include "recording/perf_sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/error.h"

enum { IPS_MAX = 1 << 15, ABI_64 = 2 };

/* `cnt` items of `size` bytes each. */
static const uint8_t *take_items(struct cursor *cursor, uint64_t cnt, size_t size)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(cnt, size, &bytes))
		bytes = UINT64_MAX;
	return cursor_take(cursor, bytes);
}

static size_t size_of(uint64_t fields)
{
	return 8 * (size_t)__builtin_popcountll(fields);
}

size_t perf_sample_id_at(const struct perf_event_attr *attr)
{
	const uint64_t before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return sizeof(struct perf_event_header);
	if (attr->sample_type & PERF_SAMPLE_ID)
		return sizeof(struct perf_event_header) + size_of(attr->sample_type & before);
	return 0;
}

/* ---- the fields ---- */

static void read_fixed(struct cursor *cursor, const struct perf_event_attr *attr, struct stack_sample *sample,
		       uint64_t *ret_ip)
{
	uint64_t fields = attr->sample_type;
	const uint8_t *ids, *cpu;

	cursor_take(cursor, size_of(fields & PERF_SAMPLE_IDENTIFIER));
	*ret_ip = fields & PERF_SAMPLE_IP ? cursor_u64(cursor) : 0;
	ids = fields & PERF_SAMPLE_TID ? cursor_take(cursor, 8) : NULL;
	if (ids) {
		memcpy(&sample->pid, ids, 4);
		memcpy(&sample->tid, ids + 4, 4);
	}
	if (fields & PERF_SAMPLE_TIME)
		sample->time_ns = cursor_u64(cursor);
	else
		sample->tid = -1;
	cursor_take(cursor, size_of(fields & (PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)));
	cpu = fields & PERF_SAMPLE_CPU ? cursor_take(cursor, 8) : NULL;
	if (cpu)
		memcpy(&sample->cpu, cpu, sizeof(sample->cpu));
	sample->period = fields & PERF_SAMPLE_PERIOD ? cursor_u64(cursor) : attr->sample_period;
}

static void pass_counts(struct cursor *cursor, uint64_t format)
{
	uint64_t each = size_of(format & (PERF_FORMAT_ID | 1u << 4 /* PERF_FORMAT_LOST */)) + 8;
	uint64_t cnt = format & PERF_FORMAT_GROUP ? cursor_u64(cursor) : 1;

	cursor_take(cursor,
		    size_of(format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)));
	take_items(cursor, cnt, each);
}

/*
 * Without the marks between the kernel's part and the user's. There, frame pointers that were none give what
 * cannot be an address of the user's.
 */
static int read_chain(struct cursor *cursor, struct stack_sample *sample)
{
	uint64_t cnt = cursor_u64(cursor);
	const uint8_t *ips = take_items(cursor, cnt, 8);
	bool is_user = false;

	if (!ips || !cnt)
		return 0;
	sample->ips = calloc(cnt, sizeof(*sample->ips));
	if (!sample->ips)
		return -ENOMEM;
	for (uint64_t i = 0; i < cnt && sample->ip_cnt < IPS_MAX; i++) {
		uint64_t ip;

		memcpy(&ip, ips + 8 * i, sizeof(ip));
		if (ip >= PERF_CONTEXT_MAX)
			is_user = ip == PERF_CONTEXT_USER;
		else if (!is_user || !arch_is_kernel(ip))
			sample->ips[sample->ip_cnt++] = ip;
	}
	return 0;
}

/* Without a call stack, where it was is all of it. */
static int put_ip(struct stack_sample *sample, uint64_t ip)
{
	free(sample->ips);
	sample->ips = malloc(sizeof(*sample->ips));
	if (!sample->ips)
		return -ENOMEM;
	sample->ips[0] = ip;
	sample->ip_cnt = ip != 0;
	return 0;
}

/* What our own recordings add, with `about_size` bytes of text behind it. */
static int take_more(struct stack_sample *sample, const uint8_t *raw, size_t about_size)
{
	const char *about = (const char *)raw + sizeof(struct perf_sample_more);
	struct perf_sample_more more;

	memcpy(&more, raw, sizeof(more));
	if (more.magic != PERF_SAMPLE_MORE_MAGIC || more.kind >= SAMPLE_KIND_CNT)
		return 0;
	sample->kind = more.kind;
	sample->flags = more.flags & ~(uint32_t)SAMPLE_HAS_REGS;
	sample->state = more.state;
	sample->call.nr = more.nr;
	if (perf_sample_has_switches(more.kind))
		sample->switches = (uint32_t)more.switches;
	else
		sample->call.result = more.result;
	if (perf_sample_has_other(more.kind)) {
		sample->other = more.other;
		sample->other.name[SAMPLE_NAME_BYTES - 1] = '\0';
	} else {
		memcpy(sample->call.args, more.args, sizeof(more.args));
	}
	sample->address = more.address;
	*(more.kind == SAMPLE_INTERRUPT ? &sample->until_ns : &sample->since_ns) = more.other_ns;
	sample->lost_cnt = more.lost_cnt;
	sample->call.has_timeout = more.has_timeout;
	sample->call.timeout_ns = more.timeout_ns;
	sample->call.about = about_size ? strndup(about, about_size) : NULL;
	return about_size && !sample->call.about ? -ENOMEM : 0;
}

static int read_raw(struct cursor *cursor, struct stack_sample *sample)
{
	const uint8_t *size_at = cursor_take(cursor, 4), *bytes;
	size_t fixed = sizeof(struct perf_sample_more) - sizeof(uint32_t);
	uint32_t size;

	if (!size_at)
		return 0;
	memcpy(&size, size_at, sizeof(size));
	bytes = cursor_take(cursor, size);
	return bytes && size >= fixed ? take_more(sample, size_at, size - fixed) : 0;
}

static void pass_branches(struct cursor *cursor, const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) {
		uint64_t cnt = cursor_u64(cursor);

		cursor_take(cursor, attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX ? 8 : 0);
		take_items(cursor, cnt, sizeof(struct perf_branch_entry));
	}
}

/* Those of programs of 32 bits are passed over. */
static int read_registers(struct cursor *cursor, const struct perf_event_attr *attr,
			  struct stack_sample *sample)
{
	uint64_t abi = cursor_u64(cursor);

	if (abi == ABI_64 && !stack_sample_add_regs(sample))
		return -ENOMEM;
	for (unsigned int bit = 0; abi && bit < 64; bit++)
		if (attr->sample_regs_user >> bit & 1) {
			uint64_t value = cursor_u64(cursor);

			if (sample->regs && bit < ARCH_PERF_CNT && arch_perf_registers[bit] < HIT_REG_CNT)
				sample->regs[arch_perf_registers[bit]] = value;
		}
	return 0;
}

static void read_stack(struct cursor *cursor, struct stack_sample *sample)
{
	uint64_t size = cursor_u64(cursor), filled;
	const uint8_t *bytes = cursor_take(cursor, size);

	if (!size || !bytes)
		return;
	filled = cursor_u64(cursor);
	if (cursor->bad || !sample->regs)
		return;
	sample->stack = bytes;
	sample->stack_size = (uint32_t)(filled < size ? filled : size);
}

int perf_sample_read(struct stack_sample *ret_sample, const struct perf_event_attr *attr,
		     const uint8_t *record, size_t size)
{
	struct cursor cursor = {record + sizeof(struct perf_event_header), record + size, false};
	struct stack_sample sample = {.tid = -1, .cpu = -1, .call.nr = SAMPLE_NO_SYSCALL};
	uint64_t ip;
	int err = 0;

	read_fixed(&cursor, attr, &sample, &ip);
	if (attr->sample_type & PERF_SAMPLE_READ)
		pass_counts(&cursor, attr->read_format);
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		err = read_chain(&cursor, &sample);
	if (!err && attr->sample_type & PERF_SAMPLE_RAW)
		err = read_raw(&cursor, &sample);
	pass_branches(&cursor, attr);
	if (!err && attr->sample_type & PERF_SAMPLE_REGS_USER)
		err = read_registers(&cursor, attr, &sample);
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		read_stack(&cursor, &sample);
	if (!err && !sample.ip_cnt && !sample.stack && !(sample.regs && sample.regs[HIT_IP] == ip))
		err = put_ip(&sample, ip);
	if (!err && cursor.bad)
		err = fail(-EBADMSG, "a sample of it is cut off");
	if (err) {
		stack_sample_release(&sample);
		return err;
	}
	*ret_sample = sample;
	return 0;
}

/* ---- names ---- */

char *perf_event_name(const struct perf_event_attr *attr)
{
	static const char *const hardware[] = {"cycles",
					       "instructions",
					       "cache-references",
					       "cache-misses",
					       "branches",
					       "branch-misses",
					       "bus-cycles",
					       "stalled-cycles-frontend",
					       "stalled-cycles-backend",
					       "ref-cycles"};
	static const char *const software[] = {
		"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches"};
	char *name;

	if (attr->type == PERF_TYPE_HARDWARE && (uint32_t)attr->config < ARRAY_SIZE(hardware))
		return strdup(hardware[(uint32_t)attr->config]);
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config < ARRAY_SIZE(software))
		return strdup(software[attr->config]);
	return asprintf(&name, "event %u %#llx", attr->type, (unsigned long long)attr->config) < 0 ? NULL
												   : name;
}
