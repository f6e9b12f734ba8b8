/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/translate/walk.h"

#include "model/branch.h"
#include "source/translate/words.h"

void walk_set_ns(struct walk *walk, uint64_t ns)
{
	if (ns <= walk->newest_ns)
		return;
	walk->newest_ns = ns;
	if (!walk->call_cnt)
		walk_now(walk);
}

void walk_set_time(struct walk *walk, uint64_t tsc)
{
	walk_set_ns(walk, tsc_clock_ns(walk->clock, tsc));
}

/* Of more calls than that, the last ones have the time of the next packet. */
void walk_set_call(struct walk *walk, uint64_t tsc)
{
	uint64_t ns = tsc_clock_ns(walk->clock, tsc);

	if (walk->call_cnt < WALK_CALLS)
		walk->calls[walk->call_cnt++] = ns;
	walk_set_ns(walk, ns);
}

static void pass_to(struct walk *walk, uint64_t ns)
{
	if (ns <= walk->ns)
		return;
	encoder_flush(walk->encoder);
	walk->ns = ns;
}

uint64_t walk_now(struct walk *walk)
{
	walk->call = walk->call_cnt = 0;
	pass_to(walk, walk->newest_ns);
	return walk->ns;
}

void walk_pass_changes(struct walk *walk)
{
	const struct code_changes *changes = walk->changes;

	for (; walk->changed < changes->cnt && changes->times[walk->changed] <= walk_now(walk);
	     walk->changed++)
		walk->encoder->psb_wanted = true;
}

void walk_call(struct walk *walk, const struct block *block, uint64_t to)
{
	if (block->last_kind != BRANCH_CALL || walk->call == walk->call_cnt)
		return;
	pass_to(walk, walk->calls[walk->call++]);
	encoder_position(walk->encoder, walk->ns, to);
}

/* Control is at the beginning of the block. */
static void enter(struct walk *walk, const struct block *block)
{
	walk->block = block;
	walk->conds = 0;
}

static void tell_conditional(struct walk *walk, bool taken)
{
	if (walk->cond_cnt >= walk->passed)
		encoder_conditional(walk->encoder, walk->ns, taken);
	walk->conds_told = walk->conds_told << 1 | taken;
	walk->cond_cnt++;
}

void walk_conditional(struct walk *walk, bool taken)
{
	walk_now(walk);
	tell_conditional(walk, taken);
}

void walk_pass(struct walk *walk, uint32_t conds)
{
	for (; walk->conds < conds; walk->conds++)
		tell_conditional(walk, block_turns(walk->block, walk->conds));
}

static const struct block *block_at(struct walk *walk, uint64_t guest)
{
	const struct block **recent = &walk->recent[(guest ^ guest >> 13) % WALK_RECENT];

	if (arena_shared(walk->arena)->epoch)
		return arena_block_at(walk->arena, guest, walk->epoch);
	if (!*recent || (*recent)->guest != guest)
		*recent = arena_block_at(walk->arena, guest, walk->epoch);
	return *recent;
}

/* Blocks: a way without a word has fewer. Of those of several epochs there may be some that lead around. */
enum { WAY_MAX = 1 << 14 };

/* To the end of the block, and beyond it where no word would tell. False: that is not known. */
static bool go_on(struct walk *walk)
{
	if (!walk->block || walk->block->end != BLOCK_GOES_ON || ++walk->way > WAY_MAX)
		return false;
	walk_pass(walk, walk->block->cond_cnt);
	walk_call(walk, walk->block, walk->block->next);
	enter(walk, block_at(walk, walk->block->next));
	return walk->block;
}

/* ---- the way to what a word tells of ---- */

/* The way leads to one of these. */
struct goal {
	const struct block *block; /* or NULL */
	int end;		   /* enum block_end; -1: none of that kind is one */
	uint64_t ip;		   /* 0: none */
};

static bool is_in(const struct block *block, uint64_t ip)
{
	return ip >= block->guest && ip < block->guest_end;
}

static bool is_behind_break(const struct block *block, uint64_t ip)
{
	return block->end == BLOCK_BREAK && ip == block->next;
}

static bool is_goal(const struct goal *goal, const struct block *block)
{
	if (goal->block)
		return block->guest == goal->block->guest;
	return block->end == goal->end ||
	       (goal->ip && (is_in(block, goal->ip) || is_behind_break(block, goal->ip)));
}

/*
 * Whether the blocks of that epoch lead there. *ret_change: the block on the way that was the first one to be
 * another one later, or NULL.
 */
static bool leads_to(const struct walk *walk, const struct goal *goal, uint32_t epoch,
		     const struct block **ret_change)
{
	const struct block *block = arena_block_at(walk->arena, walk->ip, epoch);

	*ret_change = NULL;
	for (unsigned int i = 0; block && i < WAY_MAX; i++) {
		if (block->died > epoch && (!*ret_change || block->died < (*ret_change)->died))
			*ret_change = block;
		if (is_goal(goal, block))
			return true;
		if (block->end != BLOCK_GOES_ON)
			return false;
		block = arena_block_at(walk->arena, block->next, epoch);
	}
	return false;
}

/* The first epoch from this one on whose blocks lead there. False: there is none. */
static bool find_epoch(const struct walk *walk, const struct goal *goal, uint32_t *epoch,
		       const struct block **ret_change)
{
	enum { TRIES = 64 };
	const struct block *change;

	*ret_change = NULL;
	for (int i = 0; i < TRIES; i++) {
		if (leads_to(walk, goal, *epoch, &change))
			return true;
		if (!change)
			return false;
		*epoch = change->died;
		*ret_change = change;
	}
	return false;
}

/*
 * A thread comes to new blocks without notice where another one has linked them; and how early the first
 * words are is not known. Decoding learns of a change as if the ring told of it.
 */
static void settle_epoch(struct walk *walk, const struct goal *goal)
{
	const struct block *change;
	const uint64_t *ended;
	uint32_t epoch = walk->epoch;

	if (!find_epoch(walk, goal, &epoch, &change)) {
		epoch = walk->epoch_min;
		if (!find_epoch(walk, goal, &epoch, &change))
			return;
		walk->epoch = epoch;
		return;
	}
	walk->epoch = epoch;
	ended = change && change->is_kept ? arena_ended_at(walk->arena, change) : NULL;
	if (!ended || !walk->encoder->enabled)
		return;
	walk_set_time(walk, *ended + 1);
	walk->encoder->psb_wanted = true;
	encoder_boundary(walk->encoder, walk_now(walk), walk->ip);
}

static void look_for(struct walk *walk, struct goal goal)
{
	const struct block *block = goal.block;

	walk->way = 0;
	if (block && walk->epoch < block->born)
		walk->epoch = block->born;
	if (block && walk->ip == block->guest) {
		enter(walk, block);
		return;
	}
	if (arena_shared(walk->arena)->epoch)
		settle_epoch(walk, &goal);
	enter(walk, block_at(walk, walk->ip));
}

void walk_lose(struct walk *walk, uint64_t ip)
{
	encoder_overflow(walk->encoder, walk_now(walk), ip);
	walk->is_lost = true;
}

void walk_resume(struct walk *walk, uint64_t at, uint64_t word_ip, uint32_t cond_cnt)
{
	encoder_enable(walk->encoder, walk_now(walk), at);
	enter(walk, NULL);
	walk->at = at;
	walk->ip = word_ip;
	walk->passed = cond_cnt;
}

void walk_lose_all(struct walk *walk)
{
	if (!walk->encoder->enabled)
		return;
	walk->encoder->enabled = false;
	walk_lose(walk, 0);
}

void walk_arrive(struct walk *walk, uint64_t ip)
{
	enter(walk, NULL);
	walk->at = walk->ip = ip;
	walk->cond_cnt = walk->passed = 0;
	walk->is_lost = false;
	if (walk->encoder->enabled)
		encoder_boundary(walk->encoder, walk_now(walk), ip);
}

/* ---- ways that are known ---- */

static bool keeps_ways(const struct walk *walk)
{
	return walk->ways && !walk->call_cnt && !walk->passed && !arena_shared(walk->arena)->epoch;
}

static struct way *way_of(const struct walk *walk, uint32_t key, uint64_t from)
{
	return &walk->ways[(key * 0x9e3779b9u ^ (uint32_t)from * 0x85ebca6bu) >> (32 - WALK_WAYS_BITS)];
}

bool walk_known(struct walk *walk, uint32_t key)
{
	const struct way *way;

	if (!walk->encoder->enabled || !keeps_ways(walk))
		return false;
	way = way_of(walk, key, walk->ip);
	if (way->key != key || way->from != walk->ip)
		return false;
	encoder_conditionals(walk->encoder, walk->ns, way->conds, way->cond_cnt);
	if (way->is_indirect)
		encoder_indirect(walk->encoder, walk->ns, way->to);
	walk_arrive(walk, way->to);
	return true;
}

void walk_note(struct walk *walk, uint32_t key, uint64_t from, uint64_t to, bool is_indirect)
{
	if (walk->cond_cnt <= 64 && keeps_ways(walk))
		*way_of(walk, key, from) = (struct way){.from = from,
							.to = to,
							.conds = walk->conds_told,
							.key = key,
							.cond_cnt = (uint8_t)walk->cond_cnt,
							.is_indirect = is_indirect};
}

/* ---- the way to what a word tells of ---- */

bool walk_to_block(struct walk *walk, const struct block *block, uint64_t to)
{
	look_for(walk, (struct goal){.block = block, .end = -1});
	while (walk->block && walk->block->guest != block->guest)
		if (!go_on(walk))
			break;
	if (walk->block && walk->block->guest == block->guest)
		return true;
	walk_lose(walk, to);
	walk_arrive(walk, to);
	return false;
}

bool walk_to_end(struct walk *walk, enum block_end end)
{
	look_for(walk, (struct goal){.end = (int)end});
	while (walk->block && walk->block->end != end)
		if (!go_on(walk))
			return false;
	if (!walk->block)
		return false;
	walk_pass(walk, walk->block->cond_cnt);
	return true;
}

static uint32_t conds_before(const struct walk *walk, const struct block *block, uint64_t ip)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < block->cond_cnt; i++)
		cnt += block->guest + arena_site(walk->arena, block->first_site + i)->from < ip;
	return cnt;
}

/* Whether the way leads there once more: blocks overlap, and a call leads back. */
static bool comes_again(struct walk *walk, uint64_t ip)
{
	const struct block *block = walk->block;

	for (unsigned int i = 0; i < WAY_MAX && block && block->end == BLOCK_GOES_ON; i++) {
		block = block_at(walk, block->next);
		if (block && (is_in(block, ip) || is_behind_break(block, ip)))
			return true;
	}
	return false;
}

bool walk_to_address(struct walk *walk, uint64_t ip)
{
	bool is_behind;

	look_for(walk, (struct goal){.end = -1, .ip = ip});
	while (walk->block && !is_in(walk->block, ip) && !is_behind_break(walk->block, ip))
		if (!go_on(walk))
			break;
	if (comes_again(walk, ip)) {
		walk_lose(walk, ip);
		return false;
	}
	is_behind = walk->block && is_behind_break(walk->block, ip);
	if (is_behind)
		walk_pass(walk, walk->block->cond_cnt);
	else if (walk->block && is_in(walk->block, ip))
		walk_pass(walk, conds_before(walk, walk->block, ip));
	return is_behind;
}
