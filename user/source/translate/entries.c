/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	words		... [site 7] [low] [high] [RING_BEFORE] [low] [high] [RING_AFTER] [block 12] ...
 *	with_value	     0	      1	    0	   0	         1     0      0           0
 *
 * What two words mean that are no numbers is known from the third: so the words are read from their end
 * first, to find where such entries begin.
 */
#include "source/translate/entries.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/parallel.h"
#include "source/encoder_snapshot.h"

int entries_init(struct entries *entries, const uint32_t *words, size_t cnt)
{
	size_t left = cnt;

	*entries = (struct entries){.words = words, .end = cnt};
	entries->with_value = calloc(cnt / 64 + 1, sizeof(*entries->with_value));
	if (!entries->with_value)
		return -ENOMEM;
	while (left) {
		bool has_value = words[left - 1] >= RING_TAG;

		if (has_value && left < 3)
			break;
		left -= has_value ? 3 : 1;
		if (has_value)
			entries->with_value[left / 64] |= 1ull << left % 64;
	}
	entries->begin = left;
	return 0;
}

void entries_release(struct entries *entries)
{
	free(entries->with_value);
}

static bool has_value(const struct entries *entries, size_t at)
{
	return entries->with_value[at / 64] >> at % 64 & 1;
}

/* The first entry that begins at the word or behind it; entries->end: there is none. */
static size_t entries_from(const struct entries *entries, size_t at)
{
	if (at <= entries->begin)
		return entries->begin;
	while (at < entries->end && (has_value(entries, at - 1) || (at > 1 && has_value(entries, at - 2))))
		at++;
	return at < entries->end ? at : entries->end;
}

/* ---- sharing ---- */

enum { THREADS_MAX = 64, PARTS_EACH = 4 /* they take different times */ };

struct part {
	size_t from, to;
	uint64_t ns; /* when it begins */
	struct walk *walk;
	struct encoder encoder;
};

struct parts {
	struct part *items; /* the first one has the walk so far */
	size_t cnt;
	const struct entries *entries;
	tell_words *tell;
	pthread_mutex_t lock; /* for the ways that no thread has: those of a part are of use to the next */
	struct way *ways[THREADS_MAX];
	size_t way_cnt;
};

bool words_are_shared(const struct word_sharing *sharing, const struct walk *walk,
		      const struct entries *entries, size_t at)
{
	const struct shared *all = arena_shared(walk->arena);

	/* Of several epochs it is not known where each begins; nor is the way to a call that is to come. */
	return sharing->threads > 1 && entries->end - at >= 2 * sharing->least && !all->epoch &&
	       !all->times_calls && __atomic_load_n(sharing->is_wanted, __ATOMIC_RELAXED);
}

/* ---- cuts ---- */

/* Where the word's branch has led; 0: that is not known, or it stands for several. */
static uint64_t led_to(const struct arena *arena, uint32_t word)
{
	const uint32_t number = word & ~(uint32_t)BLOCK_WORD;
	const struct site *site;

	if (word >= RING_TAG)
		return 0;
	if (word & BLOCK_WORD)
		return arena_has_block(arena, number) ? arena_block(arena, number)->guest : 0;
	if (!arena_has_site(arena, word))
		return 0;
	site = arena_site(arena, word);
	return arena_has_block(arena, site->block) && !arena_block(arena, site->block)->is_trace ? site->to
												 : 0;
}

/* The first place at `at` or behind it. False: there is none. */
static bool find_cut(const struct arena *arena, const struct entries *entries, size_t at, size_t *ret_from,
		     uint64_t *ret_ip, uint64_t *ret_tsc)
{
	uint32_t before = RING_TAG;

	for (at = entries_from(entries, at); at < entries->end;) {
		const struct entry entry = entries_next(entries, &at);

		*ret_ip = entry.word == RING_TIME ? led_to(arena, before) : 0;
		*ret_tsc = entry.value;
		*ret_from = at;
		if (*ret_ip)
			return at < entries->end;
		before = entry.word;
	}
	return false;
}

/* ---- parts ---- */

static void parts_release(struct parts *parts)
{
	for (size_t i = 1; i < parts->cnt; i++) {
		encoder_release(&parts->items[i].encoder);
		free(parts->items[i].walk);
	}
	free(parts->items);
	for (size_t i = 0; i < parts->way_cnt; i++)
		free(parts->ways[i]);
	pthread_mutex_destroy(&parts->lock);
}

static int begin_part(struct part *part, const struct walk *whole, uint64_t ip, uint64_t tsc)
{
	struct walk *walk = malloc(sizeof(*walk));
	int err = walk ? encoder_init(&part->encoder, whole->encoder->params, whole->encoder->ring.size)
		       : -ENOMEM;

	if (err) {
		free(walk);
		return err;
	}
	*walk = (struct walk){.arena = whole->arena,
			      .encoder = &part->encoder,
			      .clock = whole->clock,
			      .changes = whole->changes,
			      .epoch = whole->epoch,
			      .epoch_min = whole->epoch_min,
			      .weights = whole->weights};
	part->walk = walk;
	part->encoder.enabled = true;
	walk_set_time(walk, tsc);
	part->ns = walk_now(walk);
	walk_pass_changes(walk);
	walk_arrive(walk, ip);
	return 0;
}

static int cut(struct parts *parts, struct walk *walk, size_t at, size_t cnt)
{
	const size_t size = (parts->entries->end - at) / cnt;
	int err = 0;

	parts->items = calloc(cnt, sizeof(*parts->items));
	if (!parts->items)
		return -ENOMEM;
	parts->items[parts->cnt++] = (struct part){.from = at, .to = parts->entries->end, .walk = walk};
	for (size_t i = 1; i < cnt && !err; i++) {
		struct part *before = &parts->items[parts->cnt - 1], *part = before + 1;
		uint64_t ip, tsc;

		part->to = parts->entries->end;
		if (!find_cut(walk->arena, parts->entries, at + i * size, &part->from, &ip, &tsc))
			break;
		if (part->from <= before->from)
			continue;
		err = begin_part(part, walk, ip, tsc);
		if (!err) {
			before->to = part->from;
			parts->cnt++;
		}
	}
	return err;
}

/* NULL: there is no memory for them. */
static struct way *take_ways(struct parts *parts)
{
	struct way *ways;

	pthread_mutex_lock(&parts->lock);
	ways = parts->way_cnt ? parts->ways[--parts->way_cnt] : NULL;
	pthread_mutex_unlock(&parts->lock);
	return ways ? ways : calloc(WALK_WAYS, sizeof(*ways));
}

static void give_ways(struct parts *parts, struct way *ways)
{
	pthread_mutex_lock(&parts->lock);
	parts->ways[parts->way_cnt++] = ways;
	pthread_mutex_unlock(&parts->lock);
}

static int tell_part(void *ctx, size_t i)
{
	struct parts *parts = ctx;
	const struct part *part = &parts->items[i];

	part->walk->ways = take_ways(parts);
	parts->tell(part->walk, parts->entries, part->from, part->to);
	give_ways(parts, TAKE_PTR(part->walk->ways));
	return 0;
}

/* The walk goes on where the last part ends. */
static void join(struct walk *walk, const struct parts *parts)
{
	struct encoder *encoder = walk->encoder;

	for (size_t i = 1; i < parts->cnt; i++)
		encoder_append(encoder, &parts->items[i].encoder, parts->items[i].ns);
	*walk = *parts->items[parts->cnt - 1].walk;
	walk->encoder = encoder;
}

int words_share(const struct word_sharing *sharing, struct walk *walk, const struct entries *entries,
		size_t at, tell_words *tell)
{
	const unsigned int threads = sharing->threads < THREADS_MAX ? sharing->threads : THREADS_MAX;
	const size_t most = (entries->end - at) / sharing->least, wanted = (size_t)threads * PARTS_EACH;
	struct parts parts = {.entries = entries, .tell = tell, .lock = PTHREAD_MUTEX_INITIALIZER};
	struct way *ways = walk->ways;
	int err = cut(&parts, walk, at, most < wanted ? most : wanted);

	if (!err)
		err = parallel_for(parts.cnt, threads, tell_part, &parts);
	if (!err)
		join(walk, &parts);
	walk->ways = ways;
	parts_release(&parts);
	return err;
}
