/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit records where the thread was and the return addresses on its stack. The calls that the trace has seen
 * must be the innermost of them, without exception; then the rest are the callers of the segment's outermost
 * frame:
 *
 *	recorded	parse  read  serve  main  _start	(functions of the addresses, innermost first)
 *	in the trace	parse  read  serve			(the call of parse nearest in time, and what it is in)
 *	callers				     main  _start
 *
 * A stack walked by frame pointers may be wrong, where functions keep none: then it does not fit, and tells
 * nothing. The last recorded stack that fits is taken. Nearest in time, since the clocks of hits and packets
 * differ a little.
 */
#include "stacks/callers.h"

#include <errno.h>

#include "base/array.h"
#include "base/spill.h"
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

static uint64_t distance(const struct moments *moments, const struct slice *slice, uint64_t tsc)
{
	uint64_t start = moments_tsc(moments, slice->start_ns), end = moments_tsc(moments, slice->end_ns);

	if (tsc < start)
		return start - tsc;
	return tsc > end ? tsc - end : 0;
}

/*
 * Index of the function's slice nearest to the time, the last of equally near ones; SIZE_MAX: there is none.
 */
static size_t find_nearest(const struct segment *segment, const struct moments *moments,
			   const struct symbol *symbol, uint64_t tsc)
{
	size_t best = SIZE_MAX;
	uint64_t best_distance = UINT64_MAX;

	for (size_t i = 0; i < segment->slice_cnt; i++) {
		const struct slice *slice = &segment->slices[i];
		uint64_t far;

		SPILL_PASS(segment->slices, i);
		if (!slice->symbol || !same_function(slice->symbol, symbol))
			continue;
		far = distance(moments, slice, tsc);
		if (far <= best_distance) {
			best = i;
			best_distance = far;
		}
	}
	return best;
}

/* The slice of that depth which slice i lies in; NULL: the segment knows none. */
static const struct slice *find_outer(const struct segment *segment, size_t i, int32_t depth)
{
	while (i-- > 0)
		if ((int32_t)segment->slices[i].depth == depth)
			return &segment->slices[i];
	for (i = 0; i < segment->inferred_cnt; i++)
		if ((int32_t)segment->inferred[i].depth == depth)
			return &segment->inferred[i];
	return NULL;
}

/* How many of the addresses are functions that the segment knows; 0: it does not fit. */
static size_t fit(const struct segment *segment, const struct moments *moments,
		  const struct stacks_config *config, const struct known_stack *known)
{
	size_t i = find_nearest(segment, moments, function_at(config, known, 0), known->tsc), cnt = 1;
	int32_t depth;

	if (i == SIZE_MAX)
		return 0;
	for (depth = (int32_t)segment->slices[i].depth - 1; depth > segment->outer; depth--, cnt++) {
		const struct slice *slice = find_outer(segment, i, depth);

		if (!slice || cnt >= known->cnt ||
		    !same_function(slice->symbol, function_at(config, known, cnt)))
			return 0;
	}
	return cnt;
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

int callers_add(struct segment *segment, uint64_t end, const struct moments *moments,
		const struct stacks_config *config)
{
	uint64_t start_tsc = moments_tsc(moments, segment->start), end_tsc = moments_tsc(moments, end);
	size_t tries = TRIES_MAX;

	for (size_t i = config->known_cnt; i-- > 0 && tries;) {
		const struct known_stack *known = &config->known[i];
		size_t seen;
		int err = 0;

		if (!known->cnt || known->tsc < start_tsc || known->tsc > end_tsc + SLACK_TSC)
			continue;
		tries--;
		seen = fit(segment, moments, config, known);
		for (size_t at = seen; seen && at < known->cnt && !err; at++)
			err = add(segment, end, function_at(config, known, at));
		if (seen)
			return err;
	}
	return 0;
}
