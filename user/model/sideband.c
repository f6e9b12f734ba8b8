/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records are put together in a buffer, strings padded to 8 bytes, and appended whole. Reading trusts
 * nothing: sizes are checked against the buffer and strings must end within their record.
 *
 *	header | body ... | name, zero padded | sample_id trailer
 */
#include "model/sideband.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"

enum {
	NAME_MAX_BYTES = 4000,
	RECORD_MAX = 8192,
	MMAP2_NAME_AT = 8 + 64,
	COMM_NAME_AT = 8 + 8,
	TASK_BODY_END = 8 + 24
};

/* linux/perf_event.h, PERF_RECORD_MMAP2 */
struct mmap2_body {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};

_Static_assert(sizeof(struct mmap2_body) == 64, "as the kernel lays it out");

/* PERF_RECORD_FORK and _EXIT */
struct task_body {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct builder {
	uint8_t bytes[RECORD_MAX];
	size_t size;
};

static void builder_put(struct builder *builder, const void *bytes, size_t size)
{
	memcpy(builder->bytes + builder->size, bytes, size);
	builder->size += size;
}

static void builder_put_name(struct builder *builder, const char *name)
{
	size_t len = strnlen(name, NAME_MAX_BYTES);
	size_t padded = (len + 8) & ~(size_t)7;

	memset(builder->bytes + builder->size, 0, padded);
	memcpy(builder->bytes + builder->size, name, len);
	builder->size += padded;
}

static int builder_append(struct builder *builder, struct snapshot *snapshot, uint32_t type, uint16_t misc,
			  int32_t pid, int32_t tid, uint64_t time_ns)
{
	struct sideband_trailer trailer = {
		.pid = (uint32_t)pid, .tid = (uint32_t)tid, .time = time_ns, .id = SIDEBAND_EVENT_ID};
	struct perf_event_header header = {.type = type, .misc = misc};

	builder_put(builder, &trailer, sizeof(trailer));
	header.size = (uint16_t)builder->size;
	memcpy(builder->bytes, &header, sizeof(header));
	if (array_reserve(&snapshot->sideband, &snapshot->sideband_cap,
			  snapshot->sideband_size + builder->size, 1))
		return -ENOMEM;
	memcpy(snapshot->sideband + snapshot->sideband_size, builder->bytes, builder->size);
	snapshot->sideband_size += builder->size;
	return 0;
}

int sideband_add_mmap(struct snapshot *snapshot, int32_t pid, int32_t tid, uint64_t time_ns,
		      const struct sideband_mapping *mapping)
{
	struct builder builder = {.size = sizeof(struct perf_event_header)};
	struct mmap2_body body = {
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.addr = mapping->addr,
		.len = mapping->size,
		.pgoff = mapping->file_offset,
		.maj = mapping->maj,
		.min = mapping->min,
		.ino = mapping->ino,
		.prot = 5,  /* PROT_READ | PROT_EXEC */
		.flags = 2, /* MAP_PRIVATE */
	};

	builder_put(&builder, &body, sizeof(body));
	builder_put_name(&builder, mapping->name);
	return builder_append(&builder, snapshot, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, pid, tid,
			      time_ns);
}

int sideband_add_comm(struct snapshot *snapshot, int32_t pid, int32_t tid, uint64_t time_ns, const char *comm,
		      int exec)
{
	struct builder builder = {.size = sizeof(struct perf_event_header)};
	uint32_t ids[2] = {(uint32_t)pid, (uint32_t)tid};

	builder_put(&builder, ids, sizeof(ids));
	builder_put_name(&builder, comm);
	return builder_append(&builder, snapshot, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
			      pid, tid, time_ns);
}

int sideband_add_task(struct snapshot *snapshot, uint32_t type, int32_t pid, int32_t tid, int32_t parent_pid,
		      int32_t parent_tid, uint64_t time_ns)
{
	struct builder builder = {.size = sizeof(struct perf_event_header)};
	struct task_body body = {.pid = (uint32_t)pid,
				 .ppid = (uint32_t)parent_pid,
				 .tid = (uint32_t)tid,
				 .ptid = (uint32_t)parent_tid,
				 .time = time_ns};

	builder_put(&builder, &body, sizeof(body));
	return builder_append(&builder, snapshot, type, 0, pid, tid, time_ns);
}

/* ---- reading ---- */

static int damaged(size_t pos, const char *what)
{
	return fail(-EBADMSG, "damaged sideband: %s at byte %zu", what, pos);
}

/* The string at `at` ends within the record's body? */
static int name_at(const uint8_t *record, size_t body_end, size_t at, const char **ret_name)
{
	if (at >= body_end || !memchr(record + at, 0, body_end - at))
		return -EBADMSG;
	*ret_name = (const char *)record + at;
	return 0;
}

static int parse_mmap2(const uint8_t *record, size_t body_end, struct sideband_record *ret_record)
{
	struct mmap2_body body;

	if (body_end < MMAP2_NAME_AT)
		return -EBADMSG;
	memcpy(&body, record + 8, sizeof(body));
	ret_record->pid = (int32_t)body.pid;
	ret_record->tid = (int32_t)body.tid;
	ret_record->mapping = (struct sideband_mapping){.addr = body.addr,
							.size = body.len,
							.file_offset = body.pgoff,
							.maj = body.maj,
							.min = body.min,
							.ino = body.ino};
	if (body.addr + body.len < body.addr)
		return -EBADMSG;
	return name_at(record, body_end, MMAP2_NAME_AT, &ret_record->mapping.name);
}

static int parse_comm(const uint8_t *record, size_t body_end, struct sideband_record *ret_record)
{
	struct perf_event_header header;
	uint32_t ids[2];

	if (body_end < COMM_NAME_AT)
		return -EBADMSG;
	memcpy(&header, record, sizeof(header));
	memcpy(ids, record + 8, sizeof(ids));
	ret_record->pid = (int32_t)ids[0];
	ret_record->tid = (int32_t)ids[1];
	ret_record->exec = !!(header.misc & PERF_RECORD_MISC_COMM_EXEC);
	return name_at(record, body_end, COMM_NAME_AT, &ret_record->name);
}

static int parse_task(const uint8_t *record, size_t body_end, struct sideband_record *ret_record)
{
	struct task_body body;

	if (body_end < TASK_BODY_END)
		return -EBADMSG;
	memcpy(&body, record + 8, sizeof(body));
	ret_record->pid = (int32_t)body.pid;
	ret_record->tid = (int32_t)body.tid;
	ret_record->parent_pid = (int32_t)body.ppid;
	ret_record->parent_tid = (int32_t)body.ptid;
	return 0;
}

/* Its body is empty, or names the other side of the switch, or repeats the trailer. */
static int parse_switch(const struct perf_event_header *header, const struct sideband_trailer *trailer,
			struct sideband_record *ret_record)
{
	if (header->type != PERF_RECORD_ITRACE_START)
		ret_record->type = PERF_RECORD_SWITCH;
	ret_record->pid = (int32_t)trailer->pid;
	ret_record->tid = (int32_t)trailer->tid;
	ret_record->out = !!(header->misc & PERF_RECORD_MISC_SWITCH_OUT);
	ret_record->preempted = ret_record->out && header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	return 0;
}

/* 1: taken apart; 0: of no interest; -EBADMSG. */
static int parse(const uint8_t *record, size_t size, struct sideband_record *ret_record)
{
	size_t body_end = size - SIDEBAND_ID_BYTES;
	struct perf_event_header header;
	struct sideband_trailer trailer;
	int err;

	memcpy(&header, record, sizeof(header));
	memcpy(&trailer, record + body_end, sizeof(trailer));
	*ret_record = (struct sideband_record){
		.type = header.type, .time_ns = trailer.time, .cpu = (int32_t)trailer.cpu};
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		err = parse_mmap2(record, body_end, ret_record);
		break;
	case PERF_RECORD_COMM:
		err = parse_comm(record, body_end, ret_record);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		err = parse_task(record, body_end, ret_record);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_ITRACE_START:
		err = parse_switch(&header, &trailer, ret_record);
		break;
	default:
		return 0;
	}
	return err ? err : 1;
}

int sideband_next(const struct snapshot *snapshot, size_t *pos, struct sideband_record *ret_record)
{
	while (*pos < snapshot->sideband_size) {
		const uint8_t *record = snapshot->sideband + *pos;
		size_t left = snapshot->sideband_size - *pos;
		struct sideband_record parsed;
		struct perf_event_header header;
		int found;

		if (left < sizeof(header))
			return damaged(*pos, "half a record");
		memcpy(&header, record, sizeof(header));
		if (header.size < sizeof(header) + SIDEBAND_ID_BYTES || header.size > left)
			return damaged(*pos, "a record's size");
		found = parse(record, header.size, &parsed);
		if (found < 0)
			return damaged(*pos, "a record's content");
		*pos += header.size;
		if (found) {
			*ret_record = parsed;
			return 1;
		}
	}
	return 0;
}
