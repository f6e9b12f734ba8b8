/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the entries say is told in their order. The first one says where control was; what came before it, of
 * the branch before, was overwritten.
 */
#include "source/translate/words.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "source/translate/entries.h"

/* The trace begins there. */
static void start(struct walk *walk, uint64_t ip)
{
	encoder_enable(walk->encoder, walk_now(walk), ip);
	walk_arrive(walk, ip);
}

/*
 * By the branch of the block behind so many conditional jumps, itself one that goes where its word says or
 * the other way, or its end.
 */
static void branch(struct walk *walk, uint32_t key, const struct block *block, uint32_t conds_before,
		   bool is_as_word, uint64_t to)
{
	const uint64_t from = walk->ip;

	if (!walk_to_block(walk, block, to))
		return;
	walk_pass(walk, conds_before);
	if (conds_before == block->cond_cnt)
		walk_call(walk, block, to);
	else
		walk_conditional(walk, is_as_word != block_turns(block, conds_before));
	walk_note(walk, key, from, to, false);
	walk_arrive(walk, to);
}

static void on_site(struct walk *walk, uint32_t word)
{
	const struct site *site = arena_site(walk->arena, word);

	if (walk->encoder->enabled)
		branch(walk, word, arena_block(walk->arena, site->block), site->conds_before, true, site->to);
	else
		start(walk, site->to);
}

static void on_block(struct walk *walk, uint32_t word)
{
	const struct block *block = arena_block(walk->arena, word & ~(uint32_t)BLOCK_WORD);
	const uint64_t from = walk->ip;

	if (!walk->encoder->enabled) {
		encoder_enable(walk->encoder, walk_now(walk), block->guest);
	} else if (walk_to_end(walk, BLOCK_INDIRECT)) {
		walk_note(walk, word, from, block->guest, true);
		encoder_indirect(walk->encoder, walk_now(walk), block->guest);
	} else {
		walk_lose(walk, block->guest);
	}
	if (walk->epoch < block->born)
		walk->epoch = block->born;
	walk_arrive(walk, block->guest);
}

static void on_number(struct walk *walk, uint32_t word)
{
	if (word & BLOCK_WORD)
		on_block(walk, word);
	else
		on_site(walk, word);
}

/*
 * What led to the site's place in its trace, and what the site says: its conditional jump went another way.
 */
static void on_trace(struct walk *walk, uint32_t word, const struct block *trace)
{
	const uint32_t last_key = word | RING_TAG;
	const struct site *exit = arena_site(walk->arena, word);
	const struct trace_step *steps = arena_steps(walk->arena, trace);
	const struct block *block;

	if (!steps) {
		walk_lose(walk, exit->to);
		walk_arrive(walk, exit->to);
		return;
	}
	if (!walk->encoder->enabled)
		start(walk, trace->guest);
	if (walk->epoch < trace->born)
		walk->epoch = trace->born;
	for (unsigned int i = 0; i < exit->conds_before; i++)
		if (steps[i].word != NO_WORD && !walk_known(walk, steps[i].word))
			on_number(walk, steps[i].word);
	if (exit->from == NO_COND || walk_known(walk, last_key))
		return;
	block = arena_block(walk->arena, steps[exit->conds_before].block);
	branch(walk, last_key, block, exit->from,
	       arena_site(walk->arena, block->first_site + exit->from)->to == exit->to, exit->to);
}

static void before_syscall(struct walk *walk)
{
	if (!walk->encoder->enabled)
		return;
	if (!walk_to_end(walk, BLOCK_SYSCALL)) {
		walk_lose_all(walk);
		walk->next = 0;
		return;
	}
	walk->next = walk->block->next;
	encoder_disable(walk->encoder, walk_now(walk));
}

static void go(struct walk *walk, uint64_t ip)
{
	walk->next = 0;
	if (!walk->encoder->enabled)
		start(walk, ip);
}

static void stop(struct walk *walk, uint64_t ip)
{
	walk->next = 0;
	if (!walk->encoder->enabled)
		return;
	if (walk_to_address(walk, ip))
		encoder_disable(walk->encoder, walk_now(walk));
	else
		encoder_disable_async(walk->encoder, walk_now(walk), ip);
}

static void leave(struct walk *walk, uint64_t ip)
{
	if (!walk->encoder->enabled)
		return;
	if (walk_to_end(walk, BLOCK_INDIRECT))
		encoder_disable_at(walk->encoder, walk_now(walk), ip);
	else
		encoder_disable_async(walk->encoder, walk_now(walk), ip);
}

static void tell_branch(struct walk *walk, uint32_t word)
{
	bool is_block = word & BLOCK_WORD;
	const struct site *site;
	const struct block *block;

	if (walk_known(walk, word))
		return;
	site = arena_site(walk->arena, word);
	block = arena_block(walk->arena, site->block);
	if (is_block ? !arena_has_block(walk->arena, word & ~(uint32_t)BLOCK_WORD)
		     : !arena_has_site(walk->arena, word) || !arena_has_block(walk->arena, site->block))
		walk_lose_all(walk);
	else if (!is_block && block->is_trace)
		on_trace(walk, word, block);
	else
		on_number(walk, word);
}

static void tell(struct walk *walk, const struct entry *entry)
{
	switch (entry->word) {
	case RING_BEFORE:
		walk_set_time(walk, entry->value);
		before_syscall(walk);
		break;
	case RING_AFTER:
		walk_set_time(walk, entry->value);
		walk_pass_changes(walk);
		if (walk->next)
			go(walk, walk->next);
		break;
	case RING_TIME:
		walk_set_time(walk, entry->value);
		break;
	case RING_CALL:
		walk_set_call(walk, entry->value);
		break;
	case RING_AT: /* see probe_at_end() */
		break;
	case RING_STOP:
		stop(walk, entry->value);
		break;
	case RING_GO:
		go(walk, entry->value);
		break;
	case RING_LOST:
		walk_lose(walk, entry->value);
		walk_arrive(walk, entry->value);
		break;
	case RING_EPOCH:
		walk->epoch = walk->epoch_min = (uint32_t)entry->value;
		walk->encoder->psb_wanted = true;
		break;
	case RING_LEAVE:
		leave(walk, entry->value);
		break;
	default:
		tell_branch(walk, entry->word);
		break;
	}
}

static bool tells_time(uint32_t word)
{
	return word == RING_BEFORE || word == RING_AFTER || word == RING_TIME || word == RING_CALL;
}

/* Branches that it stands for, or some more. Site and block are far from one another in memory. */
static unsigned int weight(const struct walk *walk, uint32_t word)
{
	const struct site *site;
	unsigned int cnt;
	uint8_t *known;

	if (word >= BLOCK_WORD)
		return 1;
	known = walk->weights ? &walk->weights[word % SITES_MAX] : NULL;
	cnt = known ? __atomic_load_n(known, __ATOMIC_RELAXED) : 0;
	if (cnt)
		return cnt;
	site = arena_site(walk->arena, word);
	cnt = arena_block(walk->arena, site->block)->is_trace ? site->conds_before + 1u : 1;
	cnt = cnt < UINT8_MAX ? cnt : UINT8_MAX;
	if (known)
		__atomic_store_n(known, (uint8_t)cnt, __ATOMIC_RELAXED);
	return cnt;
}

/*
 * The entries from `at` to `until`, where the time is `tsc`, share what is between. What packets can tell is
 * told of some of them, not to make the trace longer than it has to be.
 */
static void tell_between(struct walk *walk, const struct entries *entries, size_t at, size_t until,
			 uint64_t tsc)
{
	enum { TELLS_TIME_EVERY = 64 };
	const uint64_t start = walk->newest_ns, end = tsc_clock_ns(walk->clock, tsc);
	uint64_t all = 1, so_far = 0, told = 0;

	for (size_t i = at; i < until;)
		all += weight(walk, entries_next(entries, &i).word);
	while (at < until) {
		struct entry entry = entries_next(entries, &at);

		so_far += weight(walk, entry.word);
		if (end > start && so_far - told >= TELLS_TIME_EVERY) {
			walk_set_ns(walk,
				    start + (uint64_t)((double)(end - start) * (double)so_far / (double)all));
			told = so_far;
		}
		tell(walk, &entry);
	}
}

/*
 * The first words may come from long after the last ones: they have the first time that is told, unless they
 * go on where the copy before ended, and the epoch before the first one that is told. The thread's code does
 * not change before.
 */
static void begin(struct walk *walk, const struct ring_copy *copy, const struct entries *entries,
		  const struct words_end *end)
{
	bool has_time = copy->continues, has_epoch = !arena_shared(walk->arena)->epoch;

	walk_set_ns(walk, walk->encoder->cyc_tsc);
	walk_set_ns(walk, walk->clock->ns);
	if (copy->continues)
		walk_set_ns(walk, copy->since_ns);
	if (copy->continues && end->at)
		walk_resume(walk, end->at, end->word_ip, end->cond_cnt);
	else if (copy->continues)
		walk->next = end->next;
	for (size_t at = entries->begin; at < entries->end && !(has_time && has_epoch);) {
		struct entry entry = entries_next(entries, &at);

		if (tells_time(entry.word) && !has_time) {
			walk_set_time(walk, entry.value);
			has_time = true;
		}
		if (entry.word == RING_EPOCH && !has_epoch) {
			walk->epoch = (uint32_t)entry.value - 1;
			has_epoch = true;
		}
	}
}

/* From *told, which is told next, up to the first entry that tells the time. False: none does up to `to`. */
static bool tell_to_time(struct walk *walk, const struct entries *entries, size_t *told, size_t to)
{
	for (size_t at = *told; at < to;) {
		size_t here = at;
		struct entry entry = entries_next(entries, &at);

		if (!tells_time(entry.word))
			continue;
		tell_between(walk, entries, *told, here, entry.value);
		tell(walk, &entry);
		*told = at;
		return true;
	}
	return false;
}

static void tell_rest(struct walk *walk, const struct entries *entries, size_t from, size_t to)
{
	while (tell_to_time(walk, entries, &from, to))
		;
	while (from < to) {
		struct entry entry = entries_next(entries, &from);

		tell(walk, &entry);
	}
}

static int tell_all(struct walk *walk, const struct entries *entries, const struct word_sharing *sharing)
{
	size_t at = entries->begin;

	while (tell_to_time(walk, entries, &at, entries->end))
		if (words_are_shared(sharing, walk, entries, at))
			return words_share(sharing, walk, entries, at, tell_rest);
	tell_rest(walk, entries, at, entries->end);
	return 0;
}

/* Where the thread is at a probe, if it does not go on; or 0. Only times are told behind that. */
static uint64_t probe_at_end(const struct entries *entries)
{
	const uint32_t *end = entries->words + entries->end;
	size_t left = entries->end - entries->begin;

	for (; left >= 3 && tells_time(end[-1]); left -= 3)
		end -= 3;
	return left >= 3 && end[-1] == RING_AT ? (uint64_t)end[-2] << 32 | end[-3] : 0;
}

/* At a hit, the way to its probe has no word. */
static struct words_end finish(struct walk *walk, uint64_t probe)
{
	struct words_end end = {.next = walk->next};
	const uint64_t at = probe ? probe : walk->at;

	if (walk->encoder->enabled) {
		if (probe)
			stop(walk, probe);
		else
			encoder_disable_async(walk->encoder, walk_now(walk), at);
		end = (struct words_end){at, walk->ip, walk->cond_cnt, 0};
	}
	encoder_flush(walk->encoder);
	return walk->is_lost ? (struct words_end){0} : end;
}

static int encode(struct walk *walk, const struct ring_copy *copy, const struct word_sharing *sharing,
		  struct words_end *end)
{
	CLEANUP(entries_release) struct entries entries = {0};
	int err = entries_init(&entries, copy->words, copy->cnt);

	if (err)
		return err;
	begin(walk, copy, &entries, end);
	err = tell_all(walk, &entries, sharing);
	if (!err)
		*end = finish(walk, probe_at_end(&entries));
	return err;
}

/* As if the ring had held no more than these. */
static struct ring_copy newest(const struct ring_copy *copy, size_t cnt)
{
	struct ring_copy part = *copy;

	if (cnt >= copy->cnt)
		return part;
	part.words += copy->cnt - cnt;
	part.cnt = cnt;
	part.continues = false;
	return part;
}

/*
 * A word may become eight bytes: then the ring of packets is full long before all words are told,
 * and the older ones would be told in vain. So a few of the newest show how many are enough. What
 * a trial has overwritten is overwritten again by the next one, which tells more; should it be
 * shorter, the rest is of no use.
 */
int words_encode(const struct arena *arena, const struct ring_copy *copy, const struct tsc_clock *clock,
		 const struct code_changes *changes, const struct word_sharing *sharing,
		 struct words_end *end, struct encoder *encoder)
{
	enum { SOME = 1 << 16 };
	/* To clear these takes longer than to tell few words without them. */
	const bool is_long = copy->cnt > WALK_WAYS;
	CLEANUP(freep) struct way *ways = is_long ? calloc(WALK_WAYS, sizeof(*ways)) : NULL;
	CLEANUP(freep) uint8_t *weights = is_long ? calloc(SITES_MAX, sizeof(*weights)) : NULL;
	const struct encoder before = *encoder;
	const struct words_end end_before = *end;
	const uint64_t room = encoder->ring.size;
	struct ring_copy part = newest(copy, SOME);
	uint64_t bytes, reached = 0;
	int err;

	if (is_long && (!ways || !weights))
		return -ENOMEM;
	for (;;) {
		struct walk walk = {.arena = arena,
				    .encoder = encoder,
				    .clock = clock,
				    .changes = changes,
				    .epoch = part.epoch,
				    .epoch_min = part.epoch_min,
				    .ways = ways,
				    .weights = weights};

		err = encode(&walk, &part, sharing, end);
		bytes = encoder->ring.head - before.ring.head;
		reached = bytes > reached ? bytes : reached;
		if (err || part.cnt == copy->cnt || bytes >= room)
			break;
		*encoder = before;
		*end = end_before;
		part = newest(copy, bytes ? part.cnt * (room + room / 4) / bytes : copy->cnt);
	}
	if (part.cnt < copy->cnt)
		log_debug("packets have room for %zu of %zu words", part.cnt, copy->cnt);
	reached += before.ring.head;
	if (reached > encoder->ring.head && reached > encoder->ring.taken + room)
		encoder->ring.taken = reached - room;
	return err;
}
