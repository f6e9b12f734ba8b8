/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two neighbouring stacks are laid over each other from the outermost call on:
 *
 *	before		now
 *	main		main		goes on
 *	  serve +10	  serve +50	goes on: same function, same frame; it has moved to its next call site
 *	    read	    read	another call: serve made it from another place
 *	      copy	      copy	... and so is all that is within it
 *
 * A call goes on if its function and its frame (CFA) agree, and its caller is still at the call. So a caller
 * that has moved is not cut in two, recursion is told apart by frames, and a second call of the same function
 * shows unless it comes from the same place. Where frame pointers gave no CFA, functions and call sites have
 * to do.
 *
 * A stack may be cut: its outermost frames were not copied, or are on another stack than a coroutine or a
 * signal's handler. It is laid where its frames fit; the callers above them go on. Where none fits, those go
 * on that the next whole stack shows again; where there is none, those that can be on the same stack. If the
 * first stack was cut, its callers are inferred as soon as a whole one shows them.
 */
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "stacks/sampled/sampled_internal.h"

/* Callers that no copy has held. */
static const struct symbol unseen_callers = {.name = "[unknown]", .object = ""};

/* A frame is hardly larger: some have a path in them, or two. */
enum { FRAME_MAX = 1 << 14 };

/* So large is a stack, if nobody asks for more. */
enum { STACK_MAX = 8 << 20 };

static void add_call(struct sampler *sampler, struct calls *to, const struct call *call)
{
	if (ARRAY_PUSH(to->items, to->cnt, to->cap, *call))
		sampler->no_memory = true;
}

static void add_inlined(struct sampler *sampler, struct calls *to, const struct call *function, uint64_t time)
{
	const struct stacks_config *config = sampler->config;
	uint64_t end;
	const struct inline_chain *chain =
		config->inlines_at ? config->inlines_at(config->ctx, function->ip, time, &end) : NULL;

	for (size_t i = 0; chain && i < chain->cnt; i++) {
		struct call call = {.symbol = chain->symbols[i],
				    .ip = function->ip,
				    .cfa = function->cfa,
				    .is_inlined = true};

		add_call(sampler, to, &call);
	}
}

void sampled_read(struct sampler *sampler, const struct sampled_item *item, struct calls *to)
{
	uint64_t site = 0;

	to->cnt = 0;
	for (size_t i = item->cnt; i-- > 0;) {
		struct call call = {.ip = item->ips[i], .cfa = item->cfas ? item->cfas[i] : 0, .site = site};

		call.symbol = sampler->config->symbol_at(sampler->config->ctx, call.ip, item->start);
		add_call(sampler, to, &call);
		add_inlined(sampler, to, &call, item->start);
		site = call.ip;
	}
}

static bool agree(uint64_t a, uint64_t b)
{
	return a == b || !a || !b;
}

static bool goes_on(const struct call *open, const struct call *now)
{
	return open->is_inlined == now->is_inlined && symbol_same_function(open->symbol, now->symbol) &&
	       agree(open->cfa, now->cfa) && agree(open->site, now->site);
}

/* How many calls go on from open[at] and those of `stack` from `from` on. */
static size_t run_length_in(const struct sampler *sampler, size_t at, const struct calls *stack, size_t from)
{
	size_t cnt = 0;

	while (at + cnt < sampler->open.cnt && from + cnt < stack->cnt &&
	       goes_on(&sampler->open.items[at + cnt], &stack->items[from + cnt]))
		cnt++;
	return cnt;
}

static size_t run_length(const struct sampler *sampler, size_t at, size_t from)
{
	return run_length_in(sampler, at, &sampler->now, from);
}

/* Where the item's stack is, as far out as it is known. */
static uint64_t limit_of(const struct sampler *sampler, const struct sampled_item *item)
{
	return sampler->now.items[0].cfa ? sampler->now.items[0].cfa : item->reached;
}

/* From the item on. */
static void find_whole(struct sampler *sampler, const struct sampled_item *item)
{
	struct whole_stacks *whole = &sampler->whole;

	whole->cnt = 0;
	for (; item < whole->end && !item->is_lost; item++) {
		struct sort_key key = {.nth = (uint64_t)(item - whole->items)};

		if (!item->cnt || item->reached || !item->cfas)
			continue;
		key.value = item->cfas[item->cnt - 1];
		if (ARRAY_PUSH(whole->keys, whole->cnt, whole->cap, key))
			sampler->no_memory = true;
	}
	whole->until = item;
	sort_array(whole->keys, whole->cnt, sizeof(*whole->keys), sort_by_key);
}

/* The next stack that is whole and begins as the open calls do; NULL: there is none. */
static const struct sampled_item *next_whole(struct sampler *sampler, const struct sampled_item *item)
{
	struct whole_stacks *whole = &sampler->whole;
	struct sort_key here = {.value = sampler->open.items[0].cfa, .nth = (uint64_t)(item - whole->items)};
	size_t at;

	if (!here.value)
		return NULL;
	if (!whole->until || item >= whole->until)
		find_whole(sampler, item);
	at = BISECT(whole->cnt, i, sort_by_key(&whole->keys[i], &here) <= 0);
	if (at == whole->cnt || whole->keys[at].value != here.value)
		return NULL;
	return &whole->items[whole->keys[at].nth];
}

/* So many of the open calls, from the outermost on, the next whole stack shows again. */
static size_t shared_later(struct sampler *sampler, const struct sampled_item *item)
{
	const struct sampled_item *later = next_whole(sampler, item);

	if (!later)
		return 0;
	if (later != sampler->later)
		sampled_read(sampler, later, &sampler->later_calls);
	sampler->later = later;
	return run_length_in(sampler, 0, &sampler->later_calls, 0);
}

/* Whether the innermost open call is there later, too, and has called another one. */
static bool is_caller_later(struct sampler *sampler, const struct sampled_item *item)
{
	return shared_later(sampler, item) == sampler->open.cnt &&
	       sampler->later_calls.cnt > sampler->open.cnt;
}

/* The open calls whose frames lie above all that was looked at. */
static size_t above(struct sampler *sampler, const struct sampled_item *item)
{
	uint64_t limit = limit_of(sampler, item);
	size_t kept = 0;

	/* Nothing of their stack is above the outermost of them: the item is on another one. */
	if (sampler->is_whole && sampler->open.cnt && sampler->open.items[0].cfa &&
	    sampler->open.items[0].cfa < limit)
		return sampler->open.cnt;
	for (size_t i = 0; i < sampler->open.cnt; i++) {
		uint64_t cfa = sampler->open.items[i].cfa;

		if (cfa && cfa <= limit)
			break;
		if (cfa)
			kept = i + 1;
	}
	if (!kept || sampler->now.items[0].cfa)
		return kept;
	/* The innermost of them is the place where the item's outermost frame stands, or has called that. */
	return kept == sampler->open.cnt && is_caller_later(sampler, item) ? kept : kept - 1;
}

/* Erlang has stacks without an end for what runs in turns on one thread. */
static bool is_elsewhere(const struct sampler *sampler, const struct sampled_item *item, size_t cnt)
{
	uint64_t here = limit_of(sampler, item), there = sampler->open.items[cnt - 1].cfa;

	return there && (there > here ? there - here : here - there) > STACK_MAX;
}

/* The loader leads to the program, but does not call it: its calls have ended. */
static bool is_behind_loader(const struct sampler *sampler, size_t cnt)
{
	const struct call *open = sampler->open.items;
	const char *object = open[0].symbol->object, *name = object ? strrchr(object, '/') : NULL;

	if (!name || strncmp(name, "/ld-", strlen("/ld-")) != 0)
		return false;
	for (size_t i = 1; i < cnt; i++)
		if (!open[i].symbol->object || strcmp(open[i].symbol->object, object) != 0)
			return false;
	return strcmp(sampler->now.items[0].symbol->object, object) != 0;
}

/*
 * Of the `cnt` calls that the open ones and those of a later stack share: without the innermost one if both
 * stacks end there, and at the same place. It runs there, as a function does that waits in a system call, and
 * has called nothing on its stack in between.
 */
static size_t callers_among(const struct sampler *sampler, const struct sampled_item *item, size_t cnt)
{
	const struct call *open = sampler->open.items, *later = sampler->later_calls.items;

	if (!cnt || cnt != sampler->open.cnt || cnt != sampler->later_calls.cnt ||
	    open[cnt - 1].ip != later[cnt - 1].ip || open[cnt - 1].cfa <= limit_of(sampler, item))
		return cnt;
	while (cnt > 1 && open[cnt - 1].is_inlined)
		cnt--;
	return cnt - 1;
}

/*
 * Of the first `cnt` open calls, above the item's, those that are there later, too, as far as is known: all
 * if the last of them called what is outermost now as it called what was there before.
 */
static size_t lasting(struct sampler *sampler, const struct sampled_item *item, size_t cnt)
{
	uint64_t outermost = sampler->now.items[0].cfa;
	size_t length = 0;

	if (!cnt)
		return 0;
	if (cnt == sampler->open.cnt || sampler->open.items[cnt].cfa != outermost)
		length = callers_among(sampler, item, shared_later(sampler, item));
	if (length)
		return length < cnt ? length : cnt;
	return is_elsewhere(sampler, item, cnt) || is_behind_loader(sampler, cnt) ? 0 : cnt;
}

/* The callers of a call with this frame, if that of the last one above cannot be its neighbour. */
static struct call unseen_below(const struct call *last, uint64_t cfa)
{
	if (!cfa || last->symbol == &unseen_callers || last->cfa <= cfa + FRAME_MAX)
		return (struct call){0};
	return (struct call){.symbol = &unseen_callers, .cfa = cfa + FRAME_MAX};
}

static struct fit fit_cut(struct sampler *sampler, const struct sampled_item *item)
{
	struct fit fit = {.kept = above(sampler, item)};
	size_t longest = 0;

	for (size_t at = 0; at < sampler->open.cnt; at++) {
		size_t length = run_length(sampler, at, 0);

		if (length <= longest)
			continue;
		longest = length;
		fit = (struct fit){.kept = at + length, .fresh = length};
	}
	if (longest)
		return fit;
	fit.kept = lasting(sampler, item, fit.kept);
	if (fit.kept)
		fit.unseen = unseen_below(&sampler->open.items[fit.kept - 1], sampler->now.items[0].cfa);
	return fit;
}

static struct fit fit_whole(const struct sampler *sampler)
{
	struct fit fit = {0};

	if (sampler->open.cnt && !sampler->is_whole)
		while (fit.outer < sampler->now.cnt && !run_length(sampler, 0, fit.outer))
			fit.outer++;
	if (fit.outer == sampler->now.cnt)
		fit.outer = 0;
	fit.kept = run_length(sampler, 0, fit.outer);
	fit.fresh = fit.outer + fit.kept;
	return fit;
}

static bool is_wait(const struct sampled_item *item)
{
	for (size_t i = 0; i < item->pause_cnt; i++)
		if (item->pauses[i].kind != SLICE_RUN_QUEUE && item->pauses[i].kind != SLICE_UNTRACED)
			return true;
	return false;
}

/*
 * The calls that end where both stacks do and run there: what waited between was called by them, or they are
 * two.
 */
static void part_innermost(const struct sampler *sampler, struct fit *fit)
{
	if (sampler->open.items[fit->kept - 1].ip == sampler->now.items[fit->fresh - 1].ip)
		return;
	do {
		fit->kept--;
		fit->fresh--;
	} while (fit->fresh && sampler->now.items[fit->fresh].is_inlined);
}

size_t sampled_open_as_it_waits(const struct sampler *sampler, size_t cnt, const struct sampled_item *item)
{
	const struct call *open = sampler->open.items;
	const struct symbol *leaf;
	size_t kept = cnt;

	if (!item->leaf || !is_wait(item))
		return cnt;
	leaf = sampler->config->symbol_at(sampler->config->ctx, item->leaf, item->start);
	if (!cnt || symbol_same_function(leaf, open[cnt - 1].symbol) || !leaf->object)
		return cnt;
	while (kept && open[kept - 1].symbol->object && !strcmp(leaf->object, open[kept - 1].symbol->object))
		kept--;
	/* Where the program has no libraries, only the innermost one is not the same. */
	return kept ? kept : cnt == sampler->open.cnt ? cnt - 1 : cnt;
}

static void part_library(const struct sampler *sampler, struct fit *fit, const struct sampled_item *item)
{
	size_t cut = fit->kept - sampled_open_as_it_waits(sampler, fit->kept, item);

	if (cut > fit->fresh)
		cut = fit->fresh;
	fit->kept -= cut;
	fit->fresh -= cut;
}

void sampled_part(const struct sampler *sampler, struct fit *fit)
{
	for (size_t i = 0; i < sampler->waiting_cnt; i++) {
		const struct sampled_item *item = &sampler->waiting[i];

		if (!fit->kept || fit->fresh != sampler->now.cnt || fit->kept != sampler->open.cnt)
			return;
		if (item->leaf)
			part_library(sampler, fit, item);
		else if (is_wait(item))
			part_innermost(sampler, fit);
	}
}

struct fit sampled_fit(struct sampler *sampler, const struct sampled_item *item)
{
	return item->reached ? fit_cut(sampler, item) : fit_whole(sampler);
}
