/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How call stacks are encoded. A number gives how many frames, from the program's entry, are common with the
 * domain's last stack. Words of 16 bits follow; 14 bits are an index into a code cache that writer and reader
 * keep alike. An entry holds a code and the entry that followed it the last time, so one word can stand for
 * up to 256 codes that follow each other as before. A code that is not in the cache follows its word in full.
 */
#pragma once

#include "ctf/ctf_packet.h"

enum { CTF_CACHE_SIZE = 1 << 14 };
enum { CTF_STACK_BYTES = 4096 }; /* a writer drops the frames nearest to the allocation that do not fit */

/*
 * The last two bits of a word: the entry's code plus 0 or 1 predicted codes or (CTF_RUN) a count in the next
 * byte; or a new code (CTF_MISS).
 */
enum ctf_word { CTF_HIT, CTF_HIT_1, CTF_RUN, CTF_MISS, CTF_WORD_BITS = 2 };

/* Two arrays, so that the data of a run is compact. */
struct ctf_cache {
	uint64_t codes[CTF_CACHE_SIZE];
	uint16_t next[CTF_CACHE_SIZE];
};

/* ---- reading ---- */

struct ctf_stack {
	uint64_t *frames; /* of the last stack read */
	size_t cnt, cap;
	struct ctf_cache *cache;
};

/* Initialises a stack that is all 0. 0 or -ENOMEM. */
int ctf_stack_init(struct ctf_stack *stack);
void ctf_stack_release(struct ctf_stack *stack);

/*
 * Reads a stack of `words` words that begins with `common` frames of the last one. If that has fewer, because
 * its writer cut it, all of them stay. *room: number of frames that memory may still be used for. -EBADMSG:
 * more are needed. -ENOMEM.
 */
int ctf_stack_get(struct ctf_stack *stack, struct cursor *cursor, uint64_t common, unsigned int words,
		  size_t *room);

/* Skips the words. */
void ctf_stack_skip(struct cursor *cursor, unsigned int words);

/* ---- writing ---- */

enum { CTF_CHECK_FIRST = 4242, CTF_CHECK_STEP = 5413 };

/* The writer's cache: all 0 at first, except check_ix, which is CTF_CHECK_FIRST. */
struct ctf_write_cache {
	struct ctf_cache shared; /* same as the reader's */
	/*
	 * The last allocation that used the entry: of the two entries that a code can have, the older one is
	 * replaced.
	 */
	uint64_t used[CTF_CACHE_SIZE];
	uint16_t check_ix;
};

/* The check for the next packet: another entry each time. */
struct ctf_check ctf_cache_check(struct ctf_write_cache *cache);

/* Codes whose locations must be written. */
struct ctf_missed {
	uint64_t *codes;
	size_t cnt, cap;
};

/*
 * Writes the frames of allocation `id` as words at `at`, which has room for CTF_STACK_BYTES; frames that do
 * not fit are left out. No code is 0. Appends codes that are not in the cache to `missed`, which has room for
 * `cnt`. Returns the end.
 */
uint8_t *ctf_cache_put(struct ctf_write_cache *cache, uint8_t *at, uint64_t id, const uint64_t *frames,
		       size_t cnt, struct ctf_missed *missed, unsigned int *ret_words);
