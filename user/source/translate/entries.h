/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a ring (translate/layout.h) as entries: a word, or a word with the value of the two before it;
 * and how several processors share them. They are cut where the time is told right behind the word of a
 * branch: all that is known there is where that has led, and when. Each part has a walk and an encoder of its
 * own and begins with a PSB; the packets are put together in order:
 *
 *	entries	... [site 7] [RING_TIME] | [site 3] ... [site 9] [RING_TIME] | [block 12] ...
 *	packets	    ... TNT  MTC CYC	 | PSB+ ...	    TNT  CYC	     | PSB+ ...
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/translate/walk.h"

struct entries {
	const uint32_t *words; /* not its own */
	size_t begin, end;     /* what is before is the end of an entry that was overwritten */
	uint64_t *with_value;  /* a bit for each word: such an entry begins there */
};

struct entry {
	uint32_t word;
	uint64_t value;
};

/* 0 or -ENOMEM. */
int entries_init(struct entries *entries, const uint32_t *words, size_t cnt);
void entries_release(struct entries *entries);

/* The entry at *at, which becomes that of the next one. */
static inline struct entry entries_next(const struct entries *entries, size_t *at)
{
	const uint32_t *words = entries->words + *at;

	if (!(entries->with_value[*at / 64] >> *at % 64 & 1)) {
		++*at;
		return (struct entry){.word = words[0]};
	}
	*at += 3;
	return (struct entry){words[2], (uint64_t)words[1] << 32 | words[0]};
}

/* ---- sharing ---- */

struct word_sharing {
	unsigned int threads;  /* at most; 0: nothing is shared */
	size_t least;	       /* words of a part */
	const bool *is_wanted; /* atomic: others wait for the packets */
};

/* Tells the walk of the entries from one that is told next up to another one, which is not. */
typedef void tell_words(struct walk *walk, const struct entries *entries, size_t from, size_t to);

/* Whether to share what is left from here on. */
bool words_are_shared(const struct word_sharing *sharing, const struct walk *walk,
		      const struct entries *entries, size_t at);

/* Tells all from there on. The walk is then at the end. 0 or -ENOMEM. */
int words_share(const struct word_sharing *sharing, struct walk *walk, const struct entries *entries,
		size_t at, tell_words *tell);
