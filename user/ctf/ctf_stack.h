/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How call stacks are written: what is common with the domain's last one, from the program's entry on, is a
 * number; what follows are words of 16 bits, 14 of which are an entry of a cache that writer and reader keep
 * alike. An entry holds a code, and which entry followed when it was last seen: a word can stand for up to
 * 256 codes, where each follows the one before as it did the last time. A code that the cache does not have
 * stands behind its word, in full.
 */
#pragma once

#include "ctf/ctf_packet.h"

enum { CTF_CACHE_SIZE = 1 << 14 };
enum { CTF_STACK_BYTES = 4096 }; /* a writer cuts off at the allocation's end what does not fit */

/*
 * The last two bits of a word: the entry's code and so many as predicted (of CTF_RUN, a byte says how many),
 * or a code that is new.
 */
enum ctf_word { CTF_HIT, CTF_HIT_1, CTF_RUN, CTF_MISS, CTF_WORD_BITS = 2 };

/* Apart, so that all that a run goes through is small. */
struct ctf_cache {
	uint64_t codes[CTF_CACHE_SIZE];
	uint16_t next[CTF_CACHE_SIZE];
};

/* ---- reading ---- */

struct ctf_stack {
	uint64_t *frames; /* of the last stack that was read */
	size_t cnt, cap;
	struct ctf_cache *cache;
};

/* All is 0 before. 0, or -ENOMEM. */
int ctf_stack_init(struct ctf_stack *stack);
void ctf_stack_release(struct ctf_stack *stack);

/*
 * Reads a stack of `words` words that begins with `common` frames of the last one. If that has fewer (its
 * writer cut it off), the last one stays, as the nearest that is known. *room: so many frames may memory yet
 * be taken for. -EBADMSG: it takes more. -ENOMEM.
 */
int ctf_stack_get(struct ctf_stack *stack, struct ctf_cursor *cursor, uint64_t common, unsigned int words,
		  size_t *room);

/* Passes over the words. */
void ctf_stack_skip(struct ctf_cursor *cursor, unsigned int words);

/* ---- writing ---- */

enum { CTF_CHECK_FIRST = 4242, CTF_CHECK_STEP = 5413 };

/* The cache as a writer keeps it: all is 0 at the beginning, but check_ix, which is CTF_CHECK_FIRST. */
struct ctf_write_cache {
	struct ctf_cache shared; /* with the reader */
	/*
	 * The allocation that last named the entry: of the two that a code can have, the older one is taken.
	 */
	uint64_t used[CTF_CACHE_SIZE];
	uint16_t check_ix;
};

/* What the next packet lets the reader check: each time another entry. */
struct ctf_check ctf_cache_check(struct ctf_write_cache *cache);

/* Codes that are to be told. */
struct ctf_missed {
	uint64_t *codes;
	size_t cnt, cap;
};

/*
 * Writes the frames as words, of allocation `id`: at most CTF_STACK_BYTES, to where there is room; frames
 * that do not fit are left out. No code is 0. Codes that the cache does not have are appended to `missed`,
 * which has room for as many as there are frames. Returns what is behind.
 */
uint8_t *ctf_cache_put(struct ctf_write_cache *cache, uint8_t *at, uint64_t id, const uint64_t *frames,
		       size_t cnt, struct ctf_missed *missed, unsigned int *ret_words);
