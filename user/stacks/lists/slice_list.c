/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/lists/slice_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/spill.h"

void slice_list_release(struct slice_list *list)
{
	for (size_t i = 0; i < list->block_cnt; i++)
		free(list->blocks[i].open);
	free(list->blocks);
	spill_free(list->items);
	*list = (struct slice_list){0};
}

/* The block that the slice is in. */
static struct slice_block *block_of(struct slice_list *list, size_t index)
{
	return &list->blocks[BISECT_LAST(list->block_cnt, i, list->blocks[i].first <= index)];
}

struct slice *slice_list_packed_at(struct slice_list *list, size_t index)
{
	struct slice_block *block = block_of(list, index);
	size_t nth = BISECT_LAST(block->open_cnt, i, block->open[i].nth <= index - block->first);

	return &block->open[nth].slice;
}

/* ---- packing ---- */

/*
 * The first one packs most of the memory that there is: a trace that fits into it costs nothing. From then
 * on the array is kept short.
 */
bool slice_list_is_long(const struct slice_list *list)
{
	return list->store && list->cnt > list->store->slices * 3 / 2 &&
	       (list->block_cnt || spill_is_tight());
}

/* The first `cnt` of the array, from `from` on. */
static int pack_block(struct slice_list *list, size_t from, size_t cnt, const size_t *open, size_t open_cnt)
{
	struct slice_block block = {.first = list->packed_cnt + from, .cnt = cnt};
	int err = 0;

	for (size_t i = 0; i < open_cnt && open[i] < block.first + cnt && !err; i++) {
		struct open_slice one = {open[i] - block.first, list->items[open[i] - list->packed_cnt]};

		if (open[i] >= block.first)
			err = ARRAY_PUSH(block.open, block.open_cnt, block.open_cap, one);
	}
	if (!err)
		err = pack_slices(list->store, list->items + from, cnt, &block.packed);
	if (!err)
		err = ARRAY_PUSH(list->blocks, list->block_cnt, list->block_cap, block);
	if (err)
		free(block.open);
	return err;
}

int slice_list_pack(struct slice_list *list, const size_t *open, size_t open_cnt, bool all)
{
	size_t block = list->store->slices, cnt = all ? list->cnt : (list->cnt - 1) / block * block;
	int err = 0;

	for (size_t at = 0; at < cnt && !err; at += block) {
		size_t part = cnt - at < block ? cnt - at : block;

		err = pack_block(list, at, part, open, open_cnt);
		while (open_cnt && *open < list->packed_cnt + at + part) {
			open++;
			open_cnt--;
		}
		SPILL_PASS(list->items, at);
	}
	if (err || !cnt)
		return err;
	err = spill_drop(&list->items, &list->cnt, &list->cap, cnt, sizeof(*list->items));
	list->packed_cnt += err ? 0 : cnt;
	return err;
}

/* ---- joining ---- */

/* The blocks stay as they are. */
static int append_blocks(struct slice_list *list, struct slice_list *more, int32_t deeper)
{
	int err = array_reserve(&list->blocks, &list->block_cap, list->block_cnt + more->block_cnt,
				sizeof(*list->blocks));

	for (size_t i = 0; i < more->block_cnt && !err; i++) {
		struct slice_block block = more->blocks[i];

		block.first += list->packed_cnt;
		block.deeper += deeper;
		list->blocks[list->block_cnt++] = block;
	}
	if (err)
		return err;
	list->packed_cnt += more->packed_cnt;
	more->block_cnt = more->packed_cnt = 0;
	return 0;
}

/* Behind packed ones `more` stands in memory once; behind others, twice. */
bool slice_list_makes_room(const struct slice_list *list, const struct slice_list *more)
{
	return more->block_cnt || (list->store && spill_is_tight_with(more->cnt * sizeof(*more->items)));
}

static int append_items(struct slice_list *list, struct slice_list *more)
{
	int err = spill_reserve(&list->items, &list->cap, list->cnt + more->cnt, sizeof(*list->items));

	for (size_t i = 0; i < more->cnt && !err; i++) {
		list->items[list->cnt++] = more->items[i];
		SPILL_PASS(more->items, i);
	}
	return err;
}

/* Nothing is copied. */
static void take_items(struct slice_list *list, struct slice_list *more)
{
	spill_free(list->items);
	list->items = more->items;
	list->cnt = more->cnt;
	list->cap = more->cap;
	more->items = NULL;
	more->cnt = more->cap = 0;
}

int slice_list_append(struct slice_list *list, struct slice_list *more, int32_t deeper)
{
	int err = more->block_cnt ? append_blocks(list, more, deeper) : 0;
	size_t before = list->cnt;

	if (!err && !before)
		take_items(list, more);
	else if (!err)
		err = append_items(list, more);
	for (size_t i = before; i < list->cnt && deeper; i++)
		list->items[i].depth += (uint32_t)deeper;
	return err;
}

/* ---- reading ---- */

int slice_reader_begin(struct slice_reader *reader, const struct slice_list *list)
{
	*reader = (struct slice_reader){.list = list};
	if (list->block_cnt)
		reader->unpacked = malloc(list->store->slices * sizeof(*reader->unpacked));
	return list->block_cnt && !reader->unpacked ? -ENOMEM : 0;
}

static int read_block(struct slice_reader *reader)
{
	const struct slice_list *list = reader->list;
	const struct slice_block *block = &list->blocks[reader->block];
	int err = unpack_slices(list->store, block->packed, block->cnt, reader->unpacked);

	if (err)
		return err;
	for (size_t i = 0; i < block->open_cnt; i++)
		reader->unpacked[block->open[i].nth] = block->open[i].slice;
	for (size_t i = 0; i < block->cnt; i++)
		reader->unpacked[i].depth += (uint32_t)block->deeper;
	reader->items = reader->unpacked;
	reader->cnt = block->cnt;
	return 0;
}

/* Whether there are more: 1, or 0. */
int slice_reader_more(struct slice_reader *reader)
{
	const struct slice_list *list = reader->list;

	reader->at = 0;
	if (reader->err || reader->block > list->block_cnt) {
		reader->cnt = 0;
	} else if (reader->block < list->block_cnt) {
		reader->cnt = 0;
		reader->err = read_block(reader);
	} else {
		reader->items = list->items;
		reader->cnt = list->cnt;
	}
	reader->block++;
	return reader->cnt > 0;
}

void slice_reader_end(struct slice_reader *reader)
{
	free(reader->unpacked);
	reader->unpacked = NULL;
}

int slice_list_unpack(struct slice_list *list)
{
	struct slice_list whole = {0};
	struct slice_reader reader;
	const struct slice *slice;
	int err = slice_reader_begin(&reader, list);

	if (!err)
		err = spill_reserve(&whole.items, &whole.cap, slice_list_cnt(list), sizeof(*whole.items));
	while (!err && (slice = slice_reader_next(&reader)))
		whole.items[whole.cnt++] = *slice;
	err = err ? err : reader.err;
	slice_reader_end(&reader);
	if (err) {
		slice_list_release(&whole);
		return err;
	}
	slice_list_release(list);
	*list = whole;
	return 0;
}
