/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two rings of each processor, and the records in them. A program can be interrupted by another one on its
 * processor. So room in a ring is taken in one step, and no less than may be needed; when the record is done,
 * what it did not need is given back, unless another record has followed by then.
 * Only bpf/samples.bpf.c includes this.
 */
#pragma once

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MMAPABLE);
	__uint(max_entries, SIZE_AT_LOAD); /* processors */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 2 * SAMPLES_RECORD_MAX); /* it gets its size when it is loaded, too */
} ticks SEC(".maps"), moments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, MMAPABLE);
	__uint(max_entries, SIZE_AT_LOAD); /* rings of processors */
	__type(key, __u32);
	__type(value, struct samples_head);
} heads SEC(".maps");

const volatile __u64 ring_bytes[SAMPLES_RING_CNT] = {SAMPLES_RECORD_MAX, SAMPLES_RECORD_MAX};
const volatile __u64 secret;

/* Room that was taken in a ring. */
struct place {
	struct samples_head *head;
	__u64 at;
	__u32 room;
};

/* Among what there is one of for each ring of each processor. */
static __always_inline __u32 place_of(__u32 cpu, enum samples_ring ring)
{
	return cpu * SAMPLES_RING_CNT + ring;
}

/* This processor's; NULL: never. `size` is its length, 0: never. */
struct own_ring {
	struct samples_head *head;
	__u8 *bytes;
	__u64 size;
};

static __always_inline struct own_ring own_ring(enum samples_ring ring)
{
	__u32 cpu = bpf_get_smp_processor_id(), nth = place_of(cpu, ring);

	return (struct own_ring){.head = bpf_map_lookup_elem(&heads, &nth),
				 .bytes = ring == SAMPLES_TICKS ? bpf_map_lookup_elem(&ticks, &cpu)
								: bpf_map_lookup_elem(&moments, &cpu),
				 .size = ring_bytes[ring]};
}

/* Room for `room` bytes in a ring; NULL: never. */
static __always_inline void *reserve(enum samples_ring ring, __u32 room, struct place *ret_place)
{
	struct own_ring here = own_ring(ring);
	__u64 at, offset;

	if (!here.head || !here.bytes || !here.size)
		return NULL;
	at = __sync_fetch_and_add(&here.head->head, room);
	offset = at % here.size;
	if (offset > here.size - SAMPLES_ALIGN)
		return NULL;
	ret_place->head = here.head;
	ret_place->at = at;
	ret_place->room = room;
	return here.bytes + offset;
}

/* Whether all but `size` bytes of the room could be given back. */
static __always_inline bool give_back(const struct place *place, __u32 size)
{
	__u64 after = place->at + place->room;

	return __sync_val_compare_and_swap(&place->head->head, after, place->at + size) == after;
}

/* The record is there from now on; `size` bytes of it were needed. */
static __always_inline void commit(const struct place *place, struct samples_record *record, __u32 size)
{
	size = (size + SAMPLES_ALIGN - 1) & ~(SAMPLES_ALIGN - 1u);
	if (size != place->room && !give_back(place, size))
		size = place->room;
	record->size = size;
	asm volatile("" ::: "memory");
	*(volatile __u64 *)&record->mark = place->at ^ secret;
}

static __always_inline void fill(struct samples_record *record, enum samples_kind kind, __u32 pid, __u32 tid,
				 __u64 now)
{
	record->mark = 0;
	asm volatile("" ::: "memory");
	record->time_ns = now;
	record->kind = kind;
	record->flags = 0;
	record->took_ns = SAMPLES_NOT_YET; /* and its switches are not known */
	record->pid = pid;
	record->tid = tid;
}

/* In whole words: there is no need of a helper. */
static __always_inline void copy_name(char *to, const struct task_struct *task)
{
	const __u64 *name = (const __u64 *)task->comm;

	_Static_assert(SAMPLES_NAME == 2 * sizeof(*name), "all of it");
	((__u64 *)to)[0] = name[0];
	((__u64 *)to)[1] = name[1];
}
