/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	words	... [site 7] [low] [high] [RING_BEFORE] [low] [high] [RING_AFTER] [block 12] ...
 *
 * What two words mean that are no numbers is known from the third: so the ring is split into entries from its
 * end, then they are told in their order. The first one says where control was; what came before it, of the
 * branch before, was overwritten.
 */
#include "source/translate/words.h"

#include <stdlib.h>

#include "base/array.h"

struct entry {
	uint32_t word;
	uint64_t value;
};

struct entries {
	struct entry *items;
	size_t cnt, cap;
};

static void entries_release(struct entries *entries)
{
	free(entries->items);
}

/* Newest first. */
static int split(const struct ring_copy *copy, struct entries *entries)
{
	size_t left = copy->cnt;

	while (left) {
		struct entry entry = {.word = copy->words[--left]};
		int err;

		if (entry.word >= RING_TAG) {
			if (left < 2)
				break;
			entry.value = (uint64_t)copy->words[left - 1] << 32 | copy->words[left - 2];
			left -= 2;
		}
		err = ARRAY_PUSH(entries->items, entries->cnt, entries->cap, entry);
		if (err)
			return err;
	}
	return 0;
}

struct walk {
	struct arena *arena;
	struct encoder *encoder;
	const struct tsc_clock *clock;
	const struct code_changes *changes;
	size_t changed; /* so many of them were before ns */
	uint64_t ns;
	uint64_t ip;		   /* where control was at the last word ... */
	const struct block *block; /* ... the block there, once it is looked for ... */
	uint32_t conds;		   /* ... and how many conditional jumps of it were passed */
	uint32_t epoch;		   /* as far as is known: of that block, ... */
	uint32_t epoch_min;	   /* ... if it is not an earlier one */
	uint64_t next;		   /* where a system call goes on */
};

static void set_ns(struct walk *walk, uint64_t ns)
{
	if (ns <= walk->ns)
		return;
	encoder_flush(walk->encoder);
	walk->ns = ns;
}

static void set_time(struct walk *walk, uint64_t tsc)
{
	set_ns(walk, tsc_clock_ns(walk->clock, tsc));
}

/* Control is at the beginning of the block. */
static void enter(struct walk *walk, const struct block *block)
{
	walk->block = block;
	walk->conds = 0;
}

static void pass(struct walk *walk, uint32_t conds)
{
	for (; walk->conds < conds; walk->conds++)
		encoder_conditional(walk->encoder, walk->ns, false);
}

/* To the end of the block, and beyond it where no word would tell. False: that is not known. */
static bool go_on(struct walk *walk)
{
	if (!walk->block || walk->block->end != BLOCK_GOES_ON)
		return false;
	pass(walk, walk->block->cond_cnt);
	enter(walk, arena_block_at(walk->arena, walk->block->next, walk->epoch));
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
	while (block) {
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
 * A thread comes to new blocks without notice where another one has linked them; and how early the first words
 * are is not known. Decoding learns of a change as if the ring told of it.
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
	set_time(walk, *ended + 1);
	walk->encoder->psb_wanted = true;
	encoder_boundary(walk->encoder, walk->ns, walk->ip);
}

static void look_for(struct walk *walk, struct goal goal)
{
	const struct block *block = goal.block;

	if (block && walk->epoch < block->born)
		walk->epoch = block->born;
	if (block && walk->ip == block->guest) {
		enter(walk, block);
		return;
	}
	if (arena_shared(walk->arena)->epoch)
		settle_epoch(walk, &goal);
	enter(walk, arena_block_at(walk->arena, walk->ip, walk->epoch));
}

static void look_for_end(struct walk *walk, enum block_end end)
{
	look_for(walk, (struct goal){.end = (int)end});
}

/* ---- words ---- */

/* The ring and the blocks do not fit together. */
static void lose(struct walk *walk, uint64_t ip)
{
	encoder_overflow(walk->encoder, walk->ns, ip);
}

/* Which block stands there is asked only with the next word, which may know it, or of another epoch. */
static void arrive(struct walk *walk, uint64_t ip)
{
	enter(walk, NULL);
	walk->ip = ip;
	if (walk->encoder->enabled)
		encoder_boundary(walk->encoder, walk->ns, ip);
}

static void on_site(struct walk *walk, const struct site *site)
{
	const struct block *block = arena_block(walk->arena, site->block);

	if (!walk->encoder->enabled) {
		encoder_enable(walk->encoder, walk->ns, site->to);
		arrive(walk, site->to);
		return;
	}
	look_for(walk, (struct goal){.block = block, .end = -1});
	while (walk->block && walk->block->guest != block->guest)
		if (!go_on(walk))
			break;
	if (!walk->block || walk->block->guest != block->guest) {
		lose(walk, site->to);
		arrive(walk, site->to);
		return;
	}
	pass(walk, site->conds_before);
	if (site->conds_before < block->cond_cnt)
		encoder_conditional(walk->encoder, walk->ns, true);
	arrive(walk, site->to);
}

/* To a block's end of that kind. */
static bool find_end(struct walk *walk, enum block_end end)
{
	while (walk->block && walk->block->end != end)
		if (!go_on(walk))
			return false;
	if (!walk->block)
		return false;
	pass(walk, walk->block->cond_cnt);
	return true;
}

static void on_block(struct walk *walk, const struct block *block)
{
	look_for_end(walk, BLOCK_INDIRECT);
	if (!walk->encoder->enabled)
		encoder_enable(walk->encoder, walk->ns, block->guest);
	else if (find_end(walk, BLOCK_INDIRECT))
		encoder_indirect(walk->encoder, walk->ns, block->guest);
	else
		lose(walk, block->guest);
	if (walk->epoch < block->born)
		walk->epoch = block->born;
	arrive(walk, block->guest);
}

static void before_syscall(struct walk *walk)
{
	if (!walk->encoder->enabled)
		return;
	look_for_end(walk, BLOCK_SYSCALL);
	if (!find_end(walk, BLOCK_SYSCALL)) {
		lose(walk, 0);
		walk->next = 0;
		return;
	}
	walk->next = walk->block->next;
	encoder_disable(walk->encoder, walk->ns);
}

static void go(struct walk *walk, uint64_t ip)
{
	walk->next = 0;
	if (walk->encoder->enabled)
		return;
	encoder_enable(walk->encoder, walk->ns, ip);
	arrive(walk, ip);
}

static uint32_t conds_before(const struct walk *walk, const struct block *block, uint64_t ip)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < block->cond_cnt; i++)
		cnt += block->guest + arena_site(walk->arena, block->first_site + i)->from < ip;
	return cnt;
}

static void stop(struct walk *walk, uint64_t ip)
{
	walk->next = 0;
	if (!walk->encoder->enabled)
		return;
	look_for(walk, (struct goal){.end = -1, .ip = ip});
	while (walk->block && !is_in(walk->block, ip) && !is_behind_break(walk->block, ip))
		if (!go_on(walk))
			break;
	if (walk->block && is_behind_break(walk->block, ip)) {
		pass(walk, walk->block->cond_cnt);
		encoder_disable(walk->encoder, walk->ns);
		return;
	}
	if (walk->block && is_in(walk->block, ip))
		pass(walk, conds_before(walk, walk->block, ip));
	encoder_disable_async(walk->encoder, walk->ns, ip);
}

static void leave(struct walk *walk, uint64_t ip)
{
	if (!walk->encoder->enabled)
		return;
	look_for_end(walk, BLOCK_INDIRECT);
	if (find_end(walk, BLOCK_INDIRECT))
		encoder_disable_at(walk->encoder, walk->ns, ip);
	else
		encoder_disable_async(walk->encoder, walk->ns, ip);
}

static void tell(struct walk *walk, const struct entry *entry)
{
	uint32_t number = entry->word & ~(uint32_t)BLOCK_WORD;

	switch (entry->word) {
	case RING_BEFORE:
		set_time(walk, entry->value);
		before_syscall(walk);
		break;
	case RING_AFTER:
		set_time(walk, entry->value);
		for (; walk->changed < walk->changes->cnt && walk->changes->times[walk->changed] <= walk->ns;
		     walk->changed++)
			walk->encoder->psb_wanted = true;
		if (walk->next)
			go(walk, walk->next);
		break;
	case RING_TIME:
		set_time(walk, entry->value);
		break;
	case RING_STOP:
		stop(walk, entry->value);
		break;
	case RING_GO:
		go(walk, entry->value);
		break;
	case RING_LOST:
		lose(walk, entry->value);
		arrive(walk, entry->value);
		break;
	case RING_EPOCH:
		walk->epoch = walk->epoch_min = (uint32_t)entry->value;
		walk->encoder->psb_wanted = true;
		break;
	case RING_LEAVE:
		leave(walk, entry->value);
		break;
	default:
		if (entry->word & BLOCK_WORD && arena_has_block(walk->arena, number))
			on_block(walk, arena_block(walk->arena, number));
		else if (arena_has_site(walk->arena, entry->word))
			on_site(walk, arena_site(walk->arena, entry->word));
		else
			lose(walk, 0);
		break;
	}
}

static bool tells_time(uint32_t word)
{
	return word == RING_BEFORE || word == RING_AFTER || word == RING_TIME;
}

/*
 * The entries between two that tell the time share what is between. What packets can tell is told of some of
 * them, not to make the trace longer than it has to be.
 */
static void tell_between(struct walk *walk, const struct entries *entries, size_t from, size_t to)
{
	enum { TELLS_TIME_EVERY = 64 };
	const uint64_t start = walk->ns, end = tsc_clock_ns(walk->clock, entries->items[to].value);

	for (size_t i = from; i-- > to + 1;) {
		if (end > start && (from - i) % TELLS_TIME_EVERY == 0)
			set_ns(walk, start + (uint64_t)((double)(end - start) * (double)(from - i) /
							(double)(from - to)));
		tell(walk, &entries->items[i]);
	}
}

/*
 * The first words may come from long after the last ones: they have the first time that is told, unless they
 * go on where the copy before ended, and the epoch before the first one that is told. The thread's code does
 * not change before.
 */
static void begin(struct walk *walk, const struct ring_copy *copy, const struct entries *entries)
{
	size_t i = entries->cnt;

	walk->ns = walk->encoder->cyc_tsc > walk->clock->ns ? walk->encoder->cyc_tsc : walk->clock->ns;
	if (copy->continues)
		set_ns(walk, copy->since_ns);
	while (!copy->continues && i--) {
		uint32_t word = entries->items[i].word;

		if (!tells_time(word))
			continue;
		set_time(walk, entries->items[i].value);
		break;
	}
	for (i = 0; i < entries->cnt; i++)
		if (entries->items[i].word == RING_EPOCH)
			walk->epoch = (uint32_t)entries->items[i].value - 1;
}

static void tell_all(struct walk *walk, const struct entries *entries)
{
	size_t told = entries->cnt;

	for (size_t i = entries->cnt; i--;) {
		if (!tells_time(entries->items[i].word))
			continue;
		tell_between(walk, entries, told, i);
		tell(walk, &entries->items[i]);
		told = i;
	}
	while (told--)
		tell(walk, &entries->items[told]);
}

int words_encode(struct arena *arena, const struct ring_copy *copy, const struct tsc_clock *clock,
		 const struct code_changes *changes, struct encoder *encoder)
{
	CLEANUP(entries_release) struct entries entries = {0};
	struct walk walk = {.arena = arena,
			    .encoder = encoder,
			    .clock = clock,
			    .changes = changes,
			    .epoch = copy->epoch,
			    .epoch_min = copy->epoch_min};
	int err = split(copy, &entries);

	if (err)
		return err;
	begin(&walk, copy, &entries);
	tell_all(&walk, &entries);
	if (encoder->enabled)
		encoder_disable_async(encoder, walk.ns, walk.ip);
	encoder_flush(encoder);
	return 0;
}
