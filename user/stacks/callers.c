/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit records where the thread was and the return addresses on its stack. The calls that the trace has seen
 * must be the innermost of them, without exception; then the rest are the callers of the segment's outermost
 * frame:
 *
 *	recorded	parse  read  serve  main  _start   (functions of the addresses, innermost first)
 *	in the trace	parse  read  serve		   (the nearest call of parse, and its callers)
 *	callers				     main  _start
 *
 * A stack walked by frame pointers may be wrong, where functions keep none: then it does not fit, and tells
 * nothing. The last recorded stack that fits is taken. Nearest in time, since the clocks of hits and packets
 * differ a little.
 */
#include "stacks/callers.h"

#include <errno.h>

#include "base/array.h"
#include "stacks/stacks_internal.h"

enum {
	TRIES_MAX = 8,	     /* each looks at all slices */
	SLACK_TSC = 1000000, /* by which the clocks may differ */
};

/* The function of address i: return addresses are past their call. */
static const struct symbol *function_at(const struct stacks_config *config, const struct known_stack *known,
					size_t i)
{
	return config->symbol_at(config->ctx, known->ips[i] - (i ? 1 : 0), known->tsc);
}

/* The segment's slices, and the time stamps of their moments. */
struct search {
	const struct segment *segment;
	const struct moments *moments;
	struct stamp_reader stamps;
	const struct symbol *
		*outer; /* functions that slice `nearest` lies in, by depth from the outermost on */
	size_t nearest;
	int32_t depth; /* its */
	int err;
};

static uint64_t tsc_at(struct search *search, uint64_t moment)
{
	return moments_tsc(search->moments, &search->stamps, moment);
}

static uint64_t distance(struct search *search, const struct slice *slice, uint64_t tsc)
{
	uint64_t start = tsc_at(search, slice->start_ns), end = tsc_at(search, slice->end_ns);

	if (tsc < start)
		return start - tsc;
	return tsc > end ? tsc - end : 0;
}

/* The function's slice nearest to the time, the last of equally near ones; false: there is none. */
static bool find_nearest(struct search *search, const struct symbol *symbol, uint64_t tsc)
{
	struct slice_reader reader;
	const struct slice *slice;
	uint64_t best_distance = UINT64_MAX;
	bool found = false;

	search->err = slice_reader_begin(&reader, &search->segment->slices);
	for (size_t i = 0; !search->err && (slice = slice_reader_next(&reader)); i++) {
		uint64_t far;

		if (!slice->symbol || !symbol_same_function(slice->symbol, symbol))
			continue;
		far = distance(search, slice, tsc);
		if (far > best_distance)
			continue;
		search->nearest = i;
		search->depth = (int32_t)slice->depth;
		best_distance = far;
		found = true;
	}
	search->err = search->err ? search->err : reader.err;
	slice_reader_end(&reader);
	return found && !search->err;
}

/* What slice `nearest` lies in: the last slice of each depth before it, or else what was inferred. */
static void find_outer(struct search *search)
{
	const struct segment *segment = search->segment;
	struct slice_reader reader;
	const struct slice *slice;

	search->outer = calloc((size_t)(search->depth - segment->outer), sizeof(*search->outer));
	if (!search->outer)
		search->err = -ENOMEM;
	for (size_t i = 0; i < segment->inferred_cnt && !search->err; i++)
		if ((int32_t)segment->inferred[i].depth < search->depth)
			search->outer[(int32_t)segment->inferred[i].depth - segment->outer - 1] =
				segment->inferred[i].symbol;
	if (!search->err)
		search->err = slice_reader_begin(&reader, &segment->slices);
	if (search->err)
		return;
	for (size_t i = 0; i < search->nearest && (slice = slice_reader_next(&reader)); i++)
		if ((int32_t)slice->depth < search->depth)
			search->outer[(int32_t)slice->depth - segment->outer - 1] = slice->symbol;
	search->err = reader.err;
	slice_reader_end(&reader);
}

/* How many of the addresses are functions that the segment knows; 0: it does not fit. */
static size_t fit(struct search *search, const struct stacks_config *config, const struct known_stack *known)
{
	size_t cnt = 1;

	if (!find_nearest(search, function_at(config, known, 0), known->tsc))
		return 0;
	find_outer(search);
	for (int32_t depth = search->depth - 1; depth > search->segment->outer && cnt && !search->err;
	     depth--) {
		const struct symbol *symbol = search->outer[depth - search->segment->outer - 1];

		cnt = cnt < known->cnt && symbol &&
				      symbol_same_function(symbol, function_at(config, known, cnt))
			      ? cnt + 1
			      : 0;
	}
	freep(&search->outer);
	return search->err ? 0 : cnt;
}

static int add(struct segment *segment, uint64_t end, const struct symbol *symbol)
{
	struct slice slice = {.start_ns = segment->start,
			      .end_ns = end,
			      .symbol = symbol,
			      .depth = (uint32_t)segment->outer--,
			      .kind = SLICE_CALL,
			      .flags = SLICE_INFERRED_START | SLICE_OPEN_END};

	return ARRAY_PUSH(segment->inferred, segment->inferred_cnt, segment->inferred_cap, slice);
}

static int try_stacks(struct search *search, struct segment *segment, uint64_t end,
		      const struct stacks_config *config)
{
	uint64_t start_tsc = tsc_at(search, segment->start), end_tsc = tsc_at(search, end);
	size_t tries = TRIES_MAX;

	for (size_t i = config->known_cnt; i-- > 0 && tries;) {
		const struct known_stack *known = &config->known[i];
		size_t seen;
		int err = 0;

		if (!known->cnt || known->tsc < start_tsc || known->tsc > end_tsc + SLACK_TSC)
			continue;
		tries--;
		seen = fit(search, config, known);
		for (size_t at = seen; seen && at < known->cnt && !err; at++)
			err = add(segment, end, function_at(config, known, at));
		if (seen || search->err)
			return err ? err : search->err;
	}
	return 0;
}

int callers_add(struct segment *segment, uint64_t end, const struct moments *moments,
		const struct stacks_config *config)
{
	struct search search = {.segment = segment, .moments = moments};
	int err;

	if (!config->known_cnt)
		return 0;
	err = stamp_reader_begin(&search.stamps, &moments->stamps);
	if (!err)
		err = try_stacks(&search, segment, end, config);
	stamp_reader_end(&search.stamps);
	return err;
}
