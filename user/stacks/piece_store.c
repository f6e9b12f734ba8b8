/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arrays of pieces that wait, one behind the other in a single array, which may outgrow memory. While a
 * piece is in there, its pointers hold offsets.
 */
#include <string.h>

#include "base/array.h"
#include "base/spill.h"
#include "stacks/stacks_internal.h"

enum { ARRAYS = 5, ALIGN = 64 };

struct array {
	void **items;
	size_t bytes;
	void (*release)(void *items);
};

static void arrays_of(struct stacks_piece *piece, struct array arrays[static ARRAYS])
{
	struct segment *segment = &piece->segment;
	struct moments *moments = &piece->moments;
	struct inlined *inlined = &piece->inlined;

	arrays[0] = (struct array){(void **)&segment->slices.items,
				   segment->slices.cnt * sizeof(struct slice), spill_free};
	arrays[1] = (struct array){(void **)&segment->frames, segment->frame_cnt * sizeof(*segment->frames),
				   free};
	arrays[2] = (struct array){(void **)&moments->stamps.items,
				   moments->stamps.cnt * sizeof(struct stamp), spill_free};
	arrays[3] =
		(struct array){(void **)&inlined->items, inlined->cnt * sizeof(*inlined->items), spill_free};
	arrays[4] = (struct array){(void **)&piece->runs, piece->run_cnt * sizeof(*piece->runs), free};
}

/* There is room. */
static void put(struct stacks_store *store, const struct array *array)
{
	size_t at = (store->cnt + ALIGN - 1) / ALIGN * ALIGN;

	if (array->bytes)
		memcpy(store->bytes + at, *array->items, array->bytes);
	store->cnt = at + array->bytes;
	array->release(*array->items);
	*array->items = (void *)(uintptr_t)at;
}

int stacks_piece_put(struct stacks_piece *piece, struct stacks_store *store)
{
	struct array arrays[ARRAYS];
	size_t most = ARRAYS * ALIGN;

	arrays_of(piece, arrays);
	for (size_t i = 0; i < ARRAYS; i++)
		most += arrays[i].bytes;
	/* All or none. */
	if (spill_reserve(&store->bytes, &store->cap, store->cnt + most, 1))
		return -ENOMEM;
	for (size_t i = 0; i < ARRAYS; i++)
		put(store, &arrays[i]);
	piece->store = store;
	return 0;
}

void piece_unpack(struct stacks_piece *piece)
{
	struct array arrays[ARRAYS];

	if (!piece->store)
		return;
	arrays_of(piece, arrays);
	for (size_t i = 0; i < ARRAYS; i++)
		*arrays[i].items = piece->store->bytes + (uintptr_t)*arrays[i].items;
}

void piece_forget_stored(struct stacks_piece *piece)
{
	struct array arrays[ARRAYS];

	if (!piece->store)
		return;
	arrays_of(piece, arrays);
	for (size_t i = 0; i < ARRAYS; i++)
		*arrays[i].items = NULL;
}

void stacks_store_release(struct stacks_store *store)
{
	spill_free(store->bytes);
	*store = (struct stacks_store){0};
}
