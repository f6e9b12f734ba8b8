/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "ctf/reader_internal.h"

/* The head has the time's last bits. */
static inline int64_t event_time(const struct ctf_packet *packet, uint32_t head)
{
	uint64_t begin = (uint64_t)packet->time_begin, low = head & CTF_TIME_MASK;

	if (low < (begin & CTF_TIME_MASK))
		low += 1 << CTF_TIME_BITS;
	return (int64_t)((begin & ~(uint64_t)CTF_TIME_MASK) + low);
}

static int check_time(struct memtrace_reader *reader, const uint8_t *at, int64_t time)
{
	const struct ctf_packet *packet = &reader->packet;

	if (time < packet->time_begin || time > packet->time_end)
		return reader_damaged(reader, at,
				      "an event comes %" PRIu64
				      " us after its packet's begin, which lasts %" PRIu64 " us",
				      (uint64_t)time - (uint64_t)packet->time_begin,
				      (uint64_t)packet->time_end - (uint64_t)packet->time_begin);
	if (time < reader->domain->last_time)
		return reader_damaged(reader, at,
				      "an event comes %" PRIu64 " us before the one ahead of it in domain %u",
				      (uint64_t)reader->domain->last_time - (uint64_t)time, packet->domain);
	return 0;
}

static int read_locations(struct memtrace_reader *reader, const uint8_t *at)
{
	struct memtrace_location locations[CTF_LOCATIONS_MAX];
	struct cursor *cursor = &reader->cursor;
	uint64_t code = cursor_u64(cursor);
	size_t cnt = cursor_u8(cursor);
	int err = 0;

	for (size_t i = 0; i < cnt && !err && !cursor->bad; i++)
		err = ctf_location_get(&locations[i], cursor, &reader->domain->files);
	if (err)
		return reader_damaged(reader, at, "%s", fail_message(err));
	if (cursor->bad)
		return reader_overrun(reader, at);
	err = code_table_add(&reader->codes, code, locations, cnt);
	if (err == -EEXIST)
		return reader_damaged(reader, at,
				      "code %#" PRIx64 " stands for other places in the source than before",
				      code);
	return err;
}

static int read_stack(struct memtrace_reader *reader, const uint8_t *at, unsigned int words,
		      struct memtrace_event *event)
{
	struct ctf_stack *stack = &reader->domain->stack;
	int err;

	if (reader->skip_frames) {
		ctf_stack_skip(&reader->cursor, words);
		return 0;
	}
	err = stack->cache ? 0 : ctf_stack_init(stack);
	if (!err)
		err = ctf_stack_get(stack, &reader->cursor, event->common_prefix, words, &reader->frame_room);
	if (err == -EBADMSG)
		return reader_damaged(reader, at, "the domains' call stacks have more than %d frames",
				      READER_FRAMES_MAX);
	event->frames = stack->frames;
	event->frame_cnt = stack->cnt;
	return err;
}

static inline int read_alloc(struct memtrace_reader *reader, const uint8_t *at, struct cursor *cursor,
			     unsigned int code, struct memtrace_event *event)
{
	unsigned int source = MEMTRACE_MINOR, words;
	int64_t common;

	if (code == CTF_ALLOC) {
		event->length = (uint64_t)ctf_get_vint(cursor);
		event->nsamples = (uint64_t)ctf_get_vint(cursor);
		source = cursor_u8(cursor);
		common = ctf_get_vint(cursor);
		words = cursor_u16(cursor);
	} else {
		event->length = code - CTF_SHORT;
		event->nsamples = 1;
		common = ctf_get_vint(cursor);
		words = cursor_u8(cursor);
	}
	if (source >= MEMTRACE_SOURCE_CNT)
		return reader_damaged(
			reader, at,
			"an allocation's source is %u; there are 0 (minor), 1 (major), 2 (external)", source);
	if (common < 0)
		return reader_damaged(reader, at,
				      "a call stack has %" PRId64 " frames in common with the last one",
				      common);
	event->kind = MEMTRACE_ALLOC;
	event->id = reader->next_id++;
	event->source = source;
	event->common_prefix = reader->skip_frames ? 0 : (size_t)common;
	event->frames = NULL;
	event->frame_cnt = 0;
	reader->cursor = *cursor;
	return read_stack(reader, at, words, event);
}

static inline int read_end(struct memtrace_reader *reader, const uint8_t *at, struct cursor *cursor,
			   unsigned int code, struct memtrace_event *event)
{
	int64_t back = ctf_get_vint(cursor);

	if (code == CTF_PROMOTE && back < 0)
		return reader_damaged(reader, at,
				      "the allocation that is promoted comes %" PRIu64 " allocations later",
				      -(uint64_t)back);
	event->kind = code == CTF_PROMOTE ? MEMTRACE_PROMOTE : MEMTRACE_COLLECT;
	event->id = reader->next_id - 1 - (uint64_t)back;
	reader->cursor = *cursor;
	return 0;
}

static int unknown_event(struct memtrace_reader *reader, const uint8_t *at, unsigned int code)
{
	if (code == CTF_INFO)
		return reader_damaged(reader, at,
				      "how the trace was made is told again, which the first packet did");
	return reader_damaged(reader, at, "an event of code %u; there are 0 to 4, and 101 to 116", code);
}

int reader_get_event(struct memtrace_reader *reader, struct memtrace_event *event)
{
	struct cursor cursor = reader->cursor;
	const uint8_t *at = cursor.at;
	uint32_t head = cursor_u32(&cursor);
	unsigned int code = head >> CTF_TIME_BITS;
	int64_t time = event_time(&reader->packet, head);
	int err;

	if (cursor.bad)
		return reader_overrun(reader, at);
	err = check_time(reader, at, time);
	if (err)
		return err;
	if (code == CTF_ALLOC || (code > CTF_SHORT && code <= CTF_SHORT + CTF_SHORT_MAX)) {
		err = read_alloc(reader, at, &cursor, code, event);
	} else if (code == CTF_PROMOTE || code == CTF_COLLECT) {
		err = read_end(reader, at, &cursor, code, event);
	} else if (code == CTF_LOCATION) {
		reader->cursor = cursor;
		err = read_locations(reader, at);
	} else {
		err = unknown_event(reader, at, code);
	}
	if (err)
		return err;
	if (reader->cursor.bad)
		return reader_overrun(reader, at);
	reader->domain->last_time = time;
	event->time_us = (uint64_t)time - reader->info.start_us;
	event->domain = reader->packet.domain;
	return code != CTF_LOCATION;
}
