/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time stamps in their order, kept as slices are (slice_list.h): an array, with packed ones in front of it.
 */
#pragma once

#include "stacks/lists/pack.h"

struct stamp_list {
	struct pack_store *store; /* NULL: none is packed; else it outlives the list */
	struct stamp_block {
		struct packed packed;
		size_t cnt;
		uint64_t first; /* of its first stamp */
	} * blocks;
	size_t block_cnt, block_cap;
	struct stamp *items; /* those behind them, an array of base/spill.h */
	size_t cnt, cap;
};

/* 0 or -ENOMEM. */
int stamp_list_push(struct stamp_list *list, const struct stamp *stamp);

/* Whether it should be packed. */
bool stamp_list_is_long(const struct stamp_list *list);

/* Packs what stands in the array: all of it, or `all` false, all but some of the last. 0 or -ENOMEM. */
int stamp_list_pack(struct stamp_list *list, bool all);

/* All of them stand in the array then, and none is packed later. 0 or -ENOMEM. */
int stamp_list_unpack(struct stamp_list *list);

void stamp_list_release(struct stamp_list *list);

/* All of them, one after the other. */
struct stamp_reader {
	const struct stamp_list *list;
	size_t block;		   /* the next */
	const struct stamp *items; /* those at hand */
	size_t at, cnt;
	struct stamp *unpacked; /* a block */
	int err;
};

/* 0 or -ENOMEM. */
int stamp_reader_begin(struct stamp_reader *reader, const struct stamp_list *list);

/* From the last stamp on that is not behind that moment, or the first. */
void stamp_reader_seek(struct stamp_reader *reader, uint64_t moment);

/* The next, good until the one after it; NULL: there is none, or reader->err. */
const struct stamp *stamp_reader_next(struct stamp_reader *reader);

void stamp_reader_end(struct stamp_reader *reader);
