/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/lists/stamp_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/spill.h"

int stamp_list_push(struct stamp_list *list, const struct stamp *stamp)
{
	return SPILL_PUSH(list->items, list->cnt, list->cap, *stamp);
}

void stamp_list_release(struct stamp_list *list)
{
	free(list->blocks);
	spill_free(list->items);
	*list = (struct stamp_list){0};
}

/* ---- packing ---- */

static int pack_block(struct stamp_list *list, size_t from, size_t cnt)
{
	struct stamp_block block = {.cnt = cnt, .first = list->items[from].first};
	int err = pack_stamps(list->store, list->items + from, cnt, &block.packed);

	return err ? err : ARRAY_PUSH(list->blocks, list->block_cnt, list->block_cap, block);
}

bool stamp_list_is_long(const struct stamp_list *list)
{
	return list->store && list->cnt > list->store->stamps * 3 / 2 &&
	       (list->block_cnt || spill_is_tight());
}

int stamp_list_pack(struct stamp_list *list, bool all)
{
	size_t block = list->store->stamps, cnt = all ? list->cnt : (list->cnt - 1) / block * block;
	int err = 0;

	for (size_t at = 0; at < cnt && !err; at += block)
		err = pack_block(list, at, cnt - at < block ? cnt - at : block);
	return err || !cnt ? err
			   : spill_drop(&list->items, &list->cnt, &list->cap, cnt, sizeof(*list->items));
}

/* ---- reading ---- */

int stamp_reader_begin(struct stamp_reader *reader, const struct stamp_list *list)
{
	*reader = (struct stamp_reader){.list = list};
	if (list->block_cnt)
		reader->unpacked = malloc(list->store->stamps * sizeof(*reader->unpacked));
	return list->block_cnt && !reader->unpacked ? -ENOMEM : 0;
}

/* Whether there are more. */
static bool more(struct stamp_reader *reader)
{
	const struct stamp_list *list = reader->list;

	reader->at = reader->cnt = 0;
	if (reader->err || reader->block > list->block_cnt)
		return false;
	if (reader->block == list->block_cnt) {
		reader->items = list->items;
		reader->cnt = list->cnt;
	} else {
		const struct stamp_block *block = &list->blocks[reader->block];

		reader->err = unpack_stamps(list->store, block->packed, block->cnt, reader->unpacked);
		reader->items = reader->unpacked;
		reader->cnt = reader->err ? 0 : block->cnt;
	}
	reader->block++;
	return reader->cnt;
}

const struct stamp *stamp_reader_next(struct stamp_reader *reader)
{
	return reader->at < reader->cnt || more(reader) ? &reader->items[reader->at++] : NULL;
}

void stamp_reader_end(struct stamp_reader *reader)
{
	free(reader->unpacked);
	reader->unpacked = NULL;
}

/* The block that the moment is in; list->block_cnt: it is in none. */
static size_t block_of(const struct stamp_list *list, uint64_t moment)
{
	size_t low = 0, high = list->block_cnt + 1;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		uint64_t first = mid < list->block_cnt ? list->blocks[mid].first
				 : list->cnt	       ? list->items[0].first
						       : UINT64_MAX;

		if (first <= moment)
			low = mid;
		else
			high = mid;
	}
	return low;
}

void stamp_reader_seek(struct stamp_reader *reader, uint64_t moment)
{
	size_t block = block_of(reader->list, moment), low = 0, high;

	if (reader->block != block + 1) {
		reader->block = block;
		more(reader);
	}
	for (high = reader->cnt; high - low > 1;) {
		size_t mid = low + (high - low) / 2;

		if (reader->items[mid].first <= moment)
			low = mid;
		else
			high = mid;
	}
	reader->at = low;
}

int stamp_list_unpack(struct stamp_list *list)
{
	struct stamp_list whole = {0};
	struct stamp_reader reader;
	const struct stamp *stamp;
	int err = stamp_reader_begin(&reader, list);

	while (!err && (stamp = stamp_reader_next(&reader)))
		err = stamp_list_push(&whole, stamp);
	err = err ? err : reader.err;
	stamp_reader_end(&reader);
	if (err) {
		stamp_list_release(&whole);
		return err;
	}
	stamp_list_release(list);
	*list = whole;
	return 0;
}
