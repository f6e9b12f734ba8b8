/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aux_head is an offset into the area, and pages start as zeroes: an area that has never wrapped has only
 * zeroes after its head. Later that no longer helps, but the bytes right before the last head do: the writer
 * reaches them only after all the others.
 *
 * 	taken at h:	[ d d d d h . . . ]		head now at n, d before h unchanged: new is h..n
 * 			[ n n n n n d d d ]		what is not before n may be old,
 * 							at most a window of it
 */
#include "source/pt_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t load(const volatile __u64 *value)
{
	return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}

/* ---- AUX ---- */

static bool all_zero(const uint8_t *bytes, size_t size)
{
	return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

static void copy_round(const struct pt_event_map *map, uint64_t from, uint8_t *to, size_t size)
{
	size_t first = map->aux_size - from < size ? map->aux_size - from : size;

	memcpy(to, map->aux + from, first);
	memcpy(to + first, map->aux, size - first);
}

static uint64_t before(const struct pt_event_map *map, uint64_t head, size_t size)
{
	return (head + map->aux_size - size) & (map->aux_size - 1);
}

static bool written_round(const struct pt_event_map *map, const struct pt_taken *taken, uint64_t head)
{
	uint8_t window[PT_WINDOW_BYTES];

	if (!taken->any)
		return !all_zero(map->aux + head, map->aux_size - head);
	copy_round(map, before(map, taken->head, sizeof(window)), window, sizeof(window));
	return memcmp(window, taken->window, sizeof(window)) != 0;
}

int pt_ring_take(const struct pt_event_map *map, struct pt_taken *taken, uint8_t **ret_bytes,
		 size_t *ret_size, bool *ret_round)
{
	uint64_t head = load(&map->page->aux_head) & (map->aux_size - 1);
	uint64_t from = taken->any ? taken->head : 0;
	size_t size = (head - from) & (map->aux_size - 1);

	*ret_round = written_round(map, taken, head);
	if (*ret_round) {
		from = head;
		size = map->aux_size;
	}
	*ret_bytes = malloc(size + 1);
	if (!*ret_bytes)
		return -ENOMEM;
	copy_round(map, from, *ret_bytes, size);
	taken->any = true;
	taken->head = head;
	copy_round(map, before(map, head, PT_WINDOW_BYTES), taken->window, PT_WINDOW_BYTES);
	*ret_size = size;
	return 0;
}

ssize_t pt_ring_stream(const struct pt_event_map *map, FILE *file)
{
	uint64_t head = load(&map->page->aux_head), tail = map->page->aux_tail;
	size_t size = head - tail, at = tail & (map->aux_size - 1);
	size_t first = map->aux_size - at < size ? map->aux_size - at : size;

	if (fwrite(map->aux + at, 1, first, file) != first ||
	    fwrite(map->aux, 1, size - first, file) != size - first)
		return -errno;
	__atomic_store_n(&map->page->aux_tail, head, __ATOMIC_RELEASE);
	return (ssize_t)size;
}

/* linux/perf_event.h: u64 aux_offset, aux_size, flags */
bool pt_ring_is_truncated(const struct perf_event_header *record)
{
	const uint64_t *body = (const uint64_t *)(record + 1);

	return record->type == PERF_RECORD_AUX && record->size >= sizeof(*record) + 24 &&
	       body[2] & PERF_AUX_FLAG_TRUNCATED;
}

/* ---- records ---- */

/* The record at `tail`, in one piece: in place, or in `copy`. NULL: its size is impossible. */
static const struct perf_event_header *record_at(const struct pt_event_map *map, uint64_t tail, uint64_t left,
						 uint8_t *copy)
{
	const uint8_t *data = (const uint8_t *)map->page + map->page->data_offset;
	size_t at = tail & (map->data_size - 1), first = map->data_size - at;
	const struct perf_event_header *header = (const void *)(data + at); /* records are of 8 byte units */

	if (left < sizeof(*header) || header->size < sizeof(*header) || header->size > left)
		return NULL;
	if (header->size <= first)
		return header;
	memcpy(copy, data + at, first);
	memcpy(copy + first, data, header->size - first);
	return (const void *)copy;
}

int pt_ring_records(const struct pt_event_map *map,
		    int (*fn)(void *ctx, const struct perf_event_header *record), void *ctx)
{
	_Alignas(8) uint8_t copy[UINT16_MAX + 1];
	uint64_t head = load(&map->page->data_head), tail = map->page->data_tail;
	int err = 0;

	while (tail < head && !err) {
		const struct perf_event_header *record = record_at(map, tail, head - tail, copy);

		if (record) {
			tail += record->size;
			err = fn(ctx, record);
		} else {
			tail = head;
			err = -EBADMSG;
		}
	}
	__atomic_store_n(&map->page->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}

uint64_t pt_ring_lost(const struct perf_event_header *record)
{
	const uint64_t *body = (const uint64_t *)(record + 1); /* id, lost */

	return record->size >= sizeof(*record) + 16 ? body[1] : 0;
}

/* linux/perf_event.h, "lock" and "cap_user_time_zero": the fields are written under a sequence number. */
int pt_ring_clock(const struct pt_event_map *map, struct trace_clock *ret_clock)
{
	const volatile struct perf_event_mmap_page *page = map->page;
	uint32_t sequence;
	bool known;

	do {
		sequence = page->lock;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		known = page->cap_user_time_zero;
		ret_clock->mult = page->time_mult;
		ret_clock->shift = page->time_shift;
		ret_clock->zero = page->time_zero;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (page->lock != sequence || (sequence & 1));
	return known ? 0 : -ENOTSUP;
}
