/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices and time stamps stay packed, and who goes through them gives slices nanoseconds on the way, in the
 * order of moments (moments.h). Two things he cannot know where he is, so they are looked for once, when the
 * thread is complete:
 *
 *	used stamps	with the number of slices among which the time up to the next one is shared
 *	late ends	of slices that do not end within their part: he looks at one part of the slices
 *			at a time
 *
 *	parts		|    1     |    2     |    3     |
 *	slices		 a-----------------------b		a's end is a late one
 *			  c--d  e--f				their ends are found in their part
 */
#include "stacks/stored.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/log.h"
#include "base/sort.h"
#include "base/spill.h"
#include "stacks/lists/stamp_clock.h"

struct stored {
	struct stored_slices slices; /* first: what the timeline sees */
	struct pack_store *store;    /* a part is as long as a block */
	struct slice_list list;	     /* times are moments */
	struct stamp_list stamps;    /* those used; their TSC is nanoseconds */
	uint64_t end_ns;	     /* up to which the last one's time goes */
	struct sort_key *late;	     /* end, index of the slice: in the order of the slices */
	size_t late_cnt, late_cap;
};

/* ---- what is looked for once ---- */

/* A moment of the stamp at hand: its time is known when the next stamp that is used is. */
struct waiting {
	uint64_t before; /* slices that have begun before it in its stamp */
	size_t late;	 /* index; SIZE_MAX: it is an instant's */
	struct instant *instant;
};

struct scan {
	struct stored *stored;
	const struct stacks_config *config;
	struct timeline_thread *thread;
	size_t instant; /* the next */
	struct stamp_clock clock;
	bool is_used; /* the stamp at hand */
	struct stamp used;
	bool has_used; /* `used` is not in the list yet, and `waiting` are for its end */
	struct waiting *waiting;
	size_t waiting_cnt, waiting_cap;
	size_t settled; /* so many of them are of `used`, the others of the stamp at hand */
	struct scan_open {
		size_t slice;
		uint64_t end;
	} * open;
	size_t open_cnt, open_cap;
};

/* The last used stamp is over at that time. */
static int settle(struct scan *scan, uint64_t end_ns)
{
	struct stored *stored = scan->stored;
	const struct stamp_share share = stamp_share(scan->used.tsc, end_ns, scan->used.takes);
	size_t left = scan->waiting_cnt - scan->settled;

	for (size_t i = 0; i < scan->settled; i++) {
		const struct waiting *waiting = &scan->waiting[i];
		uint64_t ns = stamp_share_ns(&share, waiting->before);

		if (waiting->instant)
			waiting->instant->time_ns = ns;
		else
			stored->late[waiting->late].value = ns;
	}
	for (size_t i = 0; i < left; i++)
		scan->waiting[i] = scan->waiting[scan->settled + i];
	scan->waiting_cnt = left;
	scan->settled = 0;
	return scan->has_used ? stamp_list_push(&stored->stamps, &scan->used) : 0;
}

/* The stamp at hand is over. */
static int end_stamp(struct scan *scan)
{
	struct stamp used = scan->clock.stamp;
	int err;

	if (!scan->is_used)
		return 0;
	used.tsc = scan->config->time_ns(scan->config->ctx, used.tsc);
	used.takes = (uint32_t)scan->clock.taken;
	err = settle(scan, used.tsc);
	scan->used = used;
	scan->has_used = true;
	scan->is_used = false;
	scan->settled = scan->waiting_cnt;
	if (err || !stamp_list_is_long(&scan->stored->stamps))
		return err;
	return stamp_list_pack(&scan->stored->stamps, false);
}

/* Something happens at that moment. */
static int go_to(struct scan *scan, uint64_t moment)
{
	struct stamp_clock *clock = &scan->clock;
	int err = 0;

	for (; stamp_clock_is_behind(clock, moment) && !err; stamp_clock_step(clock))
		err = end_stamp(scan);
	scan->is_used = true;
	return err ? err : clock->reader.err;
}

static int wait_for_time(struct scan *scan, uint64_t moment, size_t late, struct instant *instant)
{
	const struct waiting waiting = {stamp_clock_before(&scan->clock, moment), late, instant};

	return ARRAY_PUSH(scan->waiting, scan->waiting_cnt, scan->waiting_cap, waiting);
}

/* Instants up to that moment, and then it. */
static int reach(struct scan *scan, uint64_t moment)
{
	struct timeline_thread *thread = scan->thread;
	int err = 0;

	while (scan->instant < thread->instant_cnt && thread->instants[scan->instant].time_ns <= moment &&
	       !err) {
		struct instant *instant = &thread->instants[scan->instant++];
		uint64_t at = instant->time_ns;

		err = go_to(scan, at);
		if (!err)
			err = wait_for_time(scan, at, SIZE_MAX, instant);
	}
	return err || moment == UINT64_MAX ? err : go_to(scan, moment);
}

/* The innermost slice ends; `part` is the part of the next one. */
static int end_slice(struct scan *scan, size_t part)
{
	struct stored *stored = scan->stored;
	const struct scan_open *open = &scan->open[--scan->open_cnt];
	struct sort_key late = {.nth = open->slice};
	int err = reach(scan, open->end);

	if (err || open->slice / stored->store->slices == part)
		return err;
	err = wait_for_time(scan, open->end, stored->late_cnt, NULL);
	return err ? err : SPILL_PUSH(stored->late, stored->late_cnt, stored->late_cap, late);
}

static int begin_slice(struct scan *scan, const struct slice *slice, size_t index)
{
	const struct scan_open open = {index, slice->end_ns};
	size_t part = index / scan->stored->store->slices;
	int err = 0;

	while (scan->open_cnt > slice->depth && !err)
		err = end_slice(scan, part);
	if (!err)
		err = reach(scan, slice->start_ns);
	if (!err)
		stamp_clock_take(&scan->clock, slice);
	return err ? err : ARRAY_PUSH(scan->open, scan->open_cnt, scan->open_cap, open);
}

static int scan_slices(struct scan *scan)
{
	struct slice_reader reader;
	const struct slice *slice;
	int err = slice_reader_begin(&reader, &scan->stored->list);

	for (size_t i = 0; !err && (slice = slice_reader_next(&reader)); i++)
		err = begin_slice(scan, slice, i);
	err = err ? err : reader.err;
	slice_reader_end(&reader);
	while (scan->open_cnt && !err)
		err = end_slice(scan, SIZE_MAX);
	return err ? err : reach(scan, UINT64_MAX);
}

static int compare_late(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;

	return ORDER_UP(a->nth, b->nth);
}

static int scan_all(struct scan *scan, const struct moments *moments)
{
	struct stored *stored = scan->stored;
	int err = stamp_clock_begin(&scan->clock, &moments->stamps);

	if (!err)
		err = scan_slices(scan);
	if (!err)
		err = end_stamp(scan);
	stored->end_ns = scan->config->time_ns(scan->config->ctx, moments->tsc);
	if (!err)
		err = settle(scan, stored->end_ns);
	stamp_clock_end(&scan->clock);
	free(scan->waiting);
	free(scan->open);
	if (!err)
		sort_array(stored->late, stored->late_cnt, sizeof(*stored->late), compare_late);
	return err;
}

/* ---- going through them ---- */

struct pass {
	const struct stored *stored;
	struct slice_reader reader;
	struct stamp_clock clock;
	struct stamp_share share; /* of the stamp at hand */
	struct slice *part;	  /* with nanoseconds */
	size_t at, cnt;
	struct pass_open {
		size_t nth; /* in the part */
		uint64_t end;
	} * open; /* a part */
	size_t open_cnt;
	size_t late; /* the next */
};

static uint64_t pass_ns(struct pass *pass, uint64_t moment)
{
	struct stamp_clock *clock = &pass->clock;

	if (stamp_clock_is_behind(clock, moment)) {
		do
			stamp_clock_step(clock);
		while (stamp_clock_is_behind(clock, moment));
		pass->share =
			stamp_share(clock->stamp.tsc, clock->next ? clock->next->tsc : pass->stored->end_ns,
				    clock->stamp.takes);
	}
	return stamp_share_ns(&pass->share, stamp_clock_before(clock, moment));
}

static void add_to_part(struct pass *pass, const struct slice *slice)
{
	struct slice *out = &pass->part[pass->cnt];

	while (pass->open_cnt && pass->part[pass->open[pass->open_cnt - 1].nth].depth >= slice->depth) {
		const struct pass_open *open = &pass->open[--pass->open_cnt];

		pass->part[open->nth].end_ns = pass_ns(pass, open->end);
	}
	*out = *slice;
	out->start_ns = pass_ns(pass, slice->start_ns);
	stamp_clock_take(&pass->clock, slice);
	pass->open[pass->open_cnt++] = (struct pass_open){pass->cnt++, slice->end_ns};
}

/* The next part. */
static int fill_part(struct pass *pass)
{
	const struct slice *slice;

	pass->at = pass->cnt = pass->open_cnt = 0;
	while (pass->cnt < pass->stored->store->slices && (slice = slice_reader_next(&pass->reader)))
		add_to_part(pass, slice);
	for (size_t i = 0; i < pass->open_cnt; i++)
		pass->part[pass->open[i].nth].end_ns = pass->stored->late[pass->late++].value;
	SPILL_PASS(pass->stored->late, pass->late);
	return pass->reader.err ? pass->reader.err : pass->clock.reader.err;
}

static void pass_end(void *ctx)
{
	struct pass *pass = ctx;

	slice_reader_end(&pass->reader);
	stamp_clock_end(&pass->clock);
	free(pass->part);
	free(pass->open);
	free(pass);
}

static int pass_begin(const struct stored_slices *slices, void **ret_pass)
{
	const struct stored *stored = (const struct stored *)slices;
	struct pass *pass = calloc(1, sizeof(*pass));
	int err;

	if (!pass)
		return -ENOMEM;
	pass->stored = stored;
	pass->part = malloc(stored->store->slices * sizeof(*pass->part));
	pass->open = malloc(stored->store->slices * sizeof(*pass->open));
	err = pass->part && pass->open ? slice_reader_begin(&pass->reader, &stored->list) : -ENOMEM;
	if (!err)
		err = stamp_clock_begin(&pass->clock, &stored->stamps);
	if (err)
		pass_end(pass);
	else
		*ret_pass = pass;
	return err;
}

static const struct slice *pass_next(void *ctx, int *ret_err)
{
	struct pass *pass = ctx;

	if (pass->at == pass->cnt)
		*ret_err = fill_part(pass);
	return pass->at < pass->cnt && !*ret_err ? &pass->part[pass->at++] : NULL;
}

static const struct symbol *symbol_nth(const struct stored_slices *slices, size_t nth)
{
	const struct stored *stored = (const struct stored *)slices;

	return stored->store->names[nth].symbol;
}

/* ---- life ---- */

static void stored_free(struct stored_slices *slices)
{
	struct stored *stored = (struct stored *)slices;

	slice_list_release(&stored->list);
	stamp_list_release(&stored->stamps);
	spill_free(stored->late);
	pack_store_free(stored->store);
	free(stored);
}

static const struct stored_ops ops = {
	.begin = pass_begin, .next = pass_next, .end = pass_end, .symbol = symbol_nth, .free = stored_free};

int stored_new(struct timeline_thread *thread, struct slice_list *slices, struct moments *moments,
	       const struct stacks_config *config, struct pack_store **store)
{
	struct stored *stored = calloc(1, sizeof(*stored));
	struct scan scan = {.stored = stored, .config = config, .thread = thread};
	int err = stored ? slice_list_pack(slices, NULL, 0, true) : -ENOMEM;

	if (err) {
		free(stored);
		return err;
	}
	stored->slices.ops = &ops;
	stored->list = *slices;
	*slices = (struct slice_list){0};
	stored->store = stored->stamps.store = TAKE_PTR(*store);
	err = scan_all(&scan, moments);
	moments_release(moments);
	stored->slices.cnt = slice_list_cnt(&stored->list);
	stored->slices.symbol_cnt = stored->store->name_cnt;
	log_debug("thread %d: %zu calls are packed in %zu bytes", thread->tid, stored->slices.cnt,
		  stored->store->size);
	if (err)
		stored_free(&stored->slices);
	else
		thread->stored = &stored->slices;
	return err;
}
