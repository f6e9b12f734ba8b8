/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arrays of pieces that wait. As long as these are few they stay where they are; those of later pieces
 * are packed, and unpacked when their turn comes.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/spill.h"
#include "stacks/stacks_internal.h"

/* Arrays of which no more is known than their bytes. */
enum { PLAIN_ARRAYS = 3 };

/* This part of all memory for large arrays holds pieces as they are. */
enum { HELD_SHARE = 4 };

struct array {
	void **items;
	size_t bytes;
	bool is_spill; /* of base/spill.h */
};

static void arrays_of(struct stacks_piece *piece, struct array arrays[static PLAIN_ARRAYS])
{
	struct segment *segment = &piece->segment;
	struct inlined *inlined = &piece->inlined;

	arrays[0] = (struct array){(void **)&segment->frames, segment->frame_cnt * sizeof(*segment->frames),
				   false};
	arrays[1] = (struct array){(void **)&inlined->items, inlined->cnt * sizeof(*inlined->items), true};
	arrays[2] = (struct array){(void **)&piece->runs, piece->run_cnt * sizeof(*piece->runs), false};
}

static size_t size_of(struct stacks_piece *piece)
{
	struct array arrays[PLAIN_ARRAYS];
	size_t size = piece->segment.slices.cnt * sizeof(struct slice) +
		      piece->moments.stamps.cnt * sizeof(struct stamp);

	arrays_of(piece, arrays);
	for (size_t i = 0; i < PLAIN_ARRAYS; i++)
		size += arrays[i].bytes;
	return size;
}

static void release(struct array *array)
{
	if (array->is_spill)
		spill_free(*array->items);
	else
		free(*array->items);
	*array->items = NULL;
}

static int pack(struct stacks_piece *piece, struct pack_store *store)
{
	struct array arrays[PLAIN_ARRAYS];
	int err;

	arrays_of(piece, arrays);
	piece->packed = calloc(PLAIN_ARRAYS, sizeof(*piece->packed));
	if (!piece->packed)
		return -ENOMEM;
	piece->segment.slices.store = piece->moments.stamps.store = store;
	err = slice_list_pack(&piece->segment.slices, NULL, 0, true);
	if (!err)
		err = stamp_list_pack(&piece->moments.stamps, true);
	for (size_t i = 0; i < PLAIN_ARRAYS && !err; i++) {
		err = pack_bytes(store, *arrays[i].items, arrays[i].bytes, &piece->packed[i]);
		release(&arrays[i]);
	}
	return err;
}

int stacks_piece_put(struct stacks_piece *piece, struct stacks_store *store)
{
	size_t size = size_of(piece);

	if (store->held + size < spill_memory() / HELD_SHARE) {
		store->held += size;
		return 0;
	}
	if (!store->pack)
		store->pack = pack_store_new();
	return store->pack ? pack(piece, store->pack) : -ENOMEM;
}

int piece_unpack(struct stacks_piece *piece)
{
	struct pack_store *store = piece->segment.slices.store;
	struct array arrays[PLAIN_ARRAYS];
	int err;

	if (!piece->packed)
		return 0;
	err = slice_list_unpack(&piece->segment.slices);
	if (!err)
		err = stamp_list_unpack(&piece->moments.stamps);
	arrays_of(piece, arrays);
	for (size_t i = 0; i < PLAIN_ARRAYS && !err; i++) {
		size_t cap = 0;

		err = arrays[i].is_spill ? spill_reserve(arrays[i].items, &cap, arrays[i].bytes + 1, 1)
					 : array_reserve(arrays[i].items, &cap, arrays[i].bytes + 1, 1);
		if (!err)
			err = unpack_bytes(store, piece->packed[i], *arrays[i].items, arrays[i].bytes);
	}
	return err;
}

void stacks_store_release(struct stacks_store *store)
{
	pack_store_free(store->pack);
	*store = (struct stacks_store){0};
}
