/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices in the order in which they began: an array, in front of which stand blocks of packed ones (pack.h)
 * where there is a store and the array has become long. What is packed stays as it is, but for slices that
 * were still open.
 */
#pragma once

#include "base/spill.h"
#include "stacks/lists/pack.h"

struct slice_block {
	struct packed packed;
	size_t first, cnt; /* index in the list, and how many */
	int32_t deeper;	   /* than they were when they were packed */
	struct open_slice {
		size_t nth; /* in the block */
		struct slice slice;
	} * open; /* whose end was not known then; with depth of then */
	size_t open_cnt, open_cap;
};

struct slice_list {
	struct pack_store *store; /* NULL: none is packed; else it outlives the list */
	struct slice_block *blocks;
	size_t block_cnt, block_cap;
	size_t packed_cnt;   /* slices in blocks */
	struct slice *items; /* those behind them, an array of base/spill.h */
	size_t cnt, cap;
};

static inline size_t slice_list_cnt(const struct slice_list *list)
{
	return list->packed_cnt + list->cnt;
}

/* 0 or -ENOMEM. */
static inline int slice_list_push(struct slice_list *list, const struct slice *slice)
{
	return SPILL_PUSH(list->items, list->cnt, list->cap, *slice);
}

/* A packed one that was not open. */
struct slice *slice_list_packed_at(struct slice_list *list, size_t index);

/* The slice of that index. Of those packed only what was open when it was packed can be had. */
static inline struct slice *slice_list_at(struct slice_list *list, size_t index)
{
	return index < list->packed_cnt ? slice_list_packed_at(list, index)
					: &list->items[index - list->packed_cnt];
}

/* Whether it should be packed. */
bool slice_list_is_long(const struct slice_list *list);

/*
 * Packs what stands in the array: all of it, or `all` false, all but some of the last. `open` are the indices
 * of slices that have not ended, which rise. 0 or -ENOMEM.
 */
int slice_list_pack(struct slice_list *list, const size_t *open, size_t open_cnt, bool all);

/* Whether all of the list is to be packed before `more` comes behind it. */
bool slice_list_makes_room(const struct slice_list *list, const struct slice_list *more);

/*
 * Puts the slices of `more`, `deeper` than they are, behind those of the list; `more` may lose them. Where it
 * has packed ones, the list's are packed already (slice_list_pack()). 0 or -ENOMEM.
 */
int slice_list_append(struct slice_list *list, struct slice_list *more, int32_t deeper);

/* All of them stand in the array then, and none is packed later. 0 or -ENOMEM. */
int slice_list_unpack(struct slice_list *list);

void slice_list_release(struct slice_list *list);

/* All of them, one after the other. */
struct slice_reader {
	const struct slice_list *list;
	size_t block;		   /* the next */
	const struct slice *items; /* those at hand */
	size_t at, cnt;
	struct slice *unpacked; /* a block */
	int err;
};

/* 0 or -ENOMEM. */
int slice_reader_begin(struct slice_reader *reader, const struct slice_list *list);

int slice_reader_more(struct slice_reader *reader);

/* The next, good until the one after it; NULL: there is none, or reader->err. */
static inline const struct slice *slice_reader_next(struct slice_reader *reader)
{
	if (reader->at == reader->cnt && !slice_reader_more(reader))
		return NULL;
	return &reader->items[reader->at++];
}

void slice_reader_end(struct slice_reader *reader);
