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
	spill_free(inlined->items);
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

int inlined_append(struct inlined *inlined, const struct inlined *later, uint64_t offset)
{
	if (spill_reserve(&inlined->items, &inlined->cap, inlined->cnt + later->cnt, sizeof(*inlined->items)))
		return -ENOMEM;
	for (size_t i = 0; i < later->cnt; i++) {
		inlined->items[inlined->cnt] = later->items[i];
		inlined->items[inlined->cnt++].moment += offset;
	}
	return 0;
}

/* ---- putting them in ---- */

struct open_call {
	size_t out; /* index */
	uint64_t end;
	const struct symbol *symbol;
	bool inlined;
};

struct merge {
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

static int pack(struct merge *merge)
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

static int merge_all(const struct inlined *inlined, const struct slice_list *slices, struct merge *merge)
{
	struct slice_reader reader;
	const struct slice *slice;
	size_t next = 0;
	int err = slice_reader_begin(&reader, slices);

	while (!err && (slice = slice_reader_next(&reader))) {
		for (; next < inlined->cnt && inlined->items[next].moment < slice->start_ns && !err; next++)
			err = see(merge, &inlined->items[next]);
		end_before(merge, slice->start_ns);
		if (!err)
			err = begin(merge, *slice);
		if (!err)
			err = pack(merge);
	}
	err = err ? err : reader.err;
	slice_reader_end(&reader);
	for (; next < inlined->cnt && !err; next++)
		err = see(merge, &inlined->items[next]);
	end_before(merge, UINT64_MAX);
	return err;
}

int inlined_insert(const struct inlined *inlined, struct slice_list *slices)
{
	struct merge merge = {.out.store = slices->store};
	int err;

	if (!inlined->cnt)
		return 0;
	err = merge_all(inlined, slices, &merge);
	free(merge.open);
	if (err) {
		slice_list_release(&merge.out);
		return err;
	}
	slice_list_release(slices);
	*slices = merge.out;
	return 0;
}
