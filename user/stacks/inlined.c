/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An inlined call is neither a call nor a return: that one began or ended is seen by where control is. What
 * was seen, and the slices of the real calls, are gone through together, in order; the inlined calls lie
 * between a function's slice and what is called from them:
 *
 *	calls		main |---------------|		seen	in f, in f and g, in f, in nothing
 *			         puts |--|
 *	together	main |---------------|
 *			  f   |-----------|
 *			   g   |---|
 *			    puts |--|				(g ends later than what it called)
 */
#include "stacks/inlined.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/spill.h"

void inlined_release(struct inlined *inlined)
{
	free(inlined->blocks);
	spill_free(inlined->items);
	pack_store_free(inlined->store);
	*inlined = (struct inlined){0};
}

void inlined_see(struct inlined *inlined, const struct inline_chain *chain, uint64_t ip,
		 const struct symbol *function, uint64_t moment)
{
	struct inlined_event event = {.moment = moment, .chain = chain, .function = function, .ip = ip};
	const struct inlined_event *last = inlined->cnt ? &inlined->items[inlined->cnt - 1] : NULL;

	/* Nothing changed, and no slice began or ended in between. */
	if (last && last->chain == chain && last->function == function && last->moment + 1 == moment)
		return;
	if (SPILL_PUSH(inlined->items, inlined->cnt, inlined->cap, event))
		inlined->no_memory = true;
}

/* ---- packing ---- */

/* As differences, so that a loop's events are the same bytes again and again. */
static int pack_block(struct inlined *inlined, struct inlined_event *events, size_t cnt)
{
	struct inlined_block block = {.cnt = cnt};
	int err;

	for (size_t i = cnt; i-- > 1;)
		events[i].moment -= events[i - 1].moment;
	err = pack_bytes(inlined->store, events, cnt * sizeof(*events), &block.packed);
	return err ? err : ARRAY_PUSH(inlined->blocks, inlined->block_cnt, inlined->block_cap, block);
}

static int unpack_block(const struct inlined *inlined, const struct inlined_block *block,
			struct inlined_event *events)
{
	int err = unpack_bytes(inlined->store, block->packed, events, block->cnt * sizeof(*events));

	for (size_t i = 1; i < block->cnt && !err; i++)
		events[i].moment += events[i - 1].moment;
	return err;
}

/* As slices and stamps: if they are many, all but some of the last. */
static int pack(struct inlined *inlined)
{
	size_t block, cnt = 0;
	int err = 0;

	if (!inlined->store && !spill_is_tight())
		return 0;
	if (!inlined->store)
		inlined->store = pack_store_new();
	if (!inlined->store)
		return -ENOMEM;
	block = inlined->store->slices;
	if (inlined->cnt <= block * 3 / 2)
		return 0;
	for (; cnt + block < inlined->cnt && !err; cnt += block)
		err = pack_block(inlined, inlined->items + cnt, block);
	return err ? err
		   : spill_drop(&inlined->items, &inlined->cnt, &inlined->cap, cnt, sizeof(*inlined->items));
}

int inlined_append(struct inlined *inlined, const struct inlined *later, uint64_t offset)
{
	if (spill_reserve(&inlined->items, &inlined->cap, inlined->cnt + later->cnt, sizeof(*inlined->items)))
		return -ENOMEM;
	for (size_t i = 0; i < later->cnt; i++) {
		inlined->items[inlined->cnt] = later->items[i];
		inlined->items[inlined->cnt++].moment += offset;
	}
	return pack(inlined);
}

/* All of them, one after the other. */
struct reader {
	const struct inlined *inlined;
	size_t block;			   /* the next */
	const struct inlined_event *items; /* those at hand */
	size_t at, cnt;
	struct inlined_event *unpacked; /* a block */
	int err;
};

static int reader_begin(struct reader *reader, const struct inlined *inlined)
{
	*reader = (struct reader){.inlined = inlined};
	if (inlined->block_cnt)
		reader->unpacked = malloc(inlined->store->slices * sizeof(*reader->unpacked));
	return inlined->block_cnt && !reader->unpacked ? -ENOMEM : 0;
}

static void reader_more(struct reader *reader)
{
	const struct inlined *inlined = reader->inlined;

	reader->at = reader->cnt = 0;
	if (reader->err || reader->block > inlined->block_cnt)
		return;
	if (reader->block < inlined->block_cnt) {
		const struct inlined_block *block = &inlined->blocks[reader->block];

		reader->err = unpack_block(inlined, block, reader->unpacked);
		reader->items = reader->unpacked;
		reader->cnt = reader->err ? 0 : block->cnt;
	} else {
		reader->items = inlined->items;
		reader->cnt = inlined->cnt;
	}
	reader->block++;
}

/* The next, which stays so until reader->at is one higher; NULL: there is none, or reader->err. */
static const struct inlined_event *reader_next(struct reader *reader)
{
	if (reader->at == reader->cnt)
		reader_more(reader);
	return reader->at < reader->cnt ? &reader->items[reader->at] : NULL;
}

/* ---- putting them in ---- */

struct open_call {
	size_t out; /* index */
	uint64_t end;
	const struct symbol *symbol;
	bool inlined;
};

struct merge {
	struct reader events; /* that were seen */
	struct slice_list out;
	struct open_call *open;
	size_t open_cnt, open_cap;
};

static int begin(struct merge *merge, struct slice slice)
{
	struct open_call open = {.out = slice_list_cnt(&merge->out),
				 .end = slice.end_ns,
				 .symbol = slice.symbol,
				 .inlined = slice.flags & SLICE_INLINED};

	slice.depth = (uint32_t)merge->open_cnt;
	return slice_list_push(&merge->out, &slice) ||
			       ARRAY_PUSH(merge->open, merge->open_cnt, merge->open_cap, open)
		       ? -ENOMEM
		       : 0;
}

/* Ends open slices down to `keep`, the inlined ones at `moment` at the latest. */
static void end_to(struct merge *merge, size_t keep, uint64_t moment)
{
	while (merge->open_cnt > keep) {
		const struct open_call *open = &merge->open[--merge->open_cnt];

		if (open->inlined)
			slice_list_at(&merge->out, open->out)->end_ns = moment;
	}
}

/* The number of open slices up to the innermost real one. */
static size_t real_cnt(const struct merge *merge)
{
	size_t cnt = merge->open_cnt;

	while (cnt && merge->open[cnt - 1].inlined)
		cnt--;
	return cnt;
}

/* Real slices that are over by then end, and the inlined ones in them with them. */
static void end_before(struct merge *merge, uint64_t moment)
{
	for (size_t real; (real = real_cnt(merge)) && merge->open[real - 1].end <= moment;)
		end_to(merge, real - 1, merge->open[real - 1].end);
}

static int see(struct merge *merge, const struct inlined_event *event)
{
	size_t real, same = 0;
	int err = 0;

	end_before(merge, event->moment);
	real = real_cnt(merge);
	if (!real || merge->open[real - 1].symbol != event->function)
		return 0;
	while (same < event->chain->cnt && real + same < merge->open_cnt &&
	       merge->open[real + same].symbol == event->chain->symbols[same])
		same++;
	end_to(merge, real + same, event->moment);
	for (size_t i = same; i < event->chain->cnt && !err; i++)
		err = begin(merge, (struct slice){.start_ns = event->moment,
						  .end_ns = event->moment,
						  .symbol = event->chain->symbols[i],
						  .ip = event->ip,
						  .kind = SLICE_CALL,
						  .flags = SLICE_INLINED});
	return err;
}

static int pack_out(struct merge *merge)
{
	size_t *open, cnt = 0;
	int err;

	if (!slice_list_is_long(&merge->out))
		return 0;
	open = calloc(merge->open_cnt + 1, sizeof(*open));
	for (size_t i = 0; open && i < merge->open_cnt; i++)
		if (merge->open[i].out >= merge->out.packed_cnt)
			open[cnt++] = merge->open[i].out;
	err = open ? slice_list_pack(&merge->out, open, cnt, false) : -ENOMEM;
	free(open);
	return err;
}

/* All that was seen before that moment. */
static int see_until(struct merge *merge, uint64_t moment)
{
	const struct inlined_event *event;
	int err = 0;

	for (; !err && (event = reader_next(&merge->events)) && event->moment < moment; merge->events.at++)
		err = see(merge, event);
	return err ? err : merge->events.err;
}

static int merge_all(const struct slice_list *slices, struct merge *merge)
{
	struct slice_reader reader;
	const struct slice *slice;
	int err = slice_reader_begin(&reader, slices);

	while (!err && (slice = slice_reader_next(&reader))) {
		err = see_until(merge, slice->start_ns);
		end_before(merge, slice->start_ns);
		if (!err)
			err = begin(merge, *slice);
		if (!err)
			err = pack_out(merge);
	}
	err = err ? err : reader.err;
	slice_reader_end(&reader);
	if (!err)
		err = see_until(merge, UINT64_MAX);
	end_before(merge, UINT64_MAX);
	return err;
}

int inlined_insert(const struct inlined *inlined, struct slice_list *slices)
{
	struct merge merge = {.out.store = slices->store};
	int err;

	if (!inlined->cnt)
		return 0;
	err = reader_begin(&merge.events, inlined);
	if (!err)
		err = merge_all(slices, &merge);
	free(merge.events.unpacked);
	free(merge.open);
	if (err) {
		slice_list_release(&merge.out);
		return err;
	}
	slice_list_release(slices);
	*slices = merge.out;
	return 0;
}
