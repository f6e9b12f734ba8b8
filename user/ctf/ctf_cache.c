/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The choices here (where a code is put, when a run of predictions ends) are those of other writers, so they
 * are part of the format.
 */
#include "ctf/ctf_stack.h"

enum { WORD_MAX = sizeof(uint16_t) + sizeof(uint64_t), BYTES = CTF_STACK_BYTES - WORD_MAX };

struct ctf_check ctf_cache_check(struct ctf_write_cache *cache)
{
	uint16_t ix = cache->check_ix;

	cache->check_ix = (ix + CTF_CHECK_STEP) % CTF_CACHE_SIZE;
	return (struct ctf_check){.ix = ix, .next = cache->shared.next[ix], .code = cache->shared.codes[ix]};
}

/* Where the code is, or is to be put. */
static uint16_t find_entry(const struct ctf_write_cache *cache, uint64_t code)
{
	uint16_t first = (code * 0x4983723) >> 11 & (CTF_CACHE_SIZE - 1);
	uint16_t second = (code * 0xfdea731) >> 21 & (CTF_CACHE_SIZE - 1);

	if (cache->shared.codes[first] == code)
		return first;
	if (cache->shared.codes[second] == code)
		return second;
	return cache->used[first] < cache->used[second] ? first : second;
}

static uint8_t *put_word(uint8_t *at, uint16_t entry, enum ctf_word tag)
{
	return ctf_put_u16(at, (uint16_t)(entry << CTF_WORD_BITS | tag));
}

static uint8_t *put_hit(uint8_t *at, uint16_t entry, unsigned int predicted)
{
	if (predicted < CTF_RUN)
		return put_word(at, entry, (enum ctf_word)predicted);
	return ctf_put_u8(put_word(at, entry, CTF_RUN), (uint8_t)predicted);
}

static bool is_predicted(const struct ctf_write_cache *cache, uint16_t entry, uint64_t code)
{
	return cache->shared.codes[cache->shared.next[entry]] == code;
}

/* How many of the frames follow each other from *entry on as predicted; *entry is the last of them. */
static unsigned int follow(const struct ctf_write_cache *cache, uint16_t *entry, const uint64_t *frames,
			   size_t cnt)
{
	unsigned int run = 0;

	while (run < cnt && run < UINT8_MAX && is_predicted(cache, *entry, frames[run])) {
		*entry = cache->shared.next[*entry];
		run++;
	}
	return run;
}

uint8_t *ctf_cache_put(struct ctf_write_cache *cache, uint8_t *at, uint64_t id, const uint64_t *frames,
		       size_t cnt, struct ctf_missed *missed, unsigned int *ret_words)
{
	const uint8_t *limit = at + BYTES;
	bool goes_on = false; /* a run that a byte cannot count: there is room for one more word */
	unsigned int words = 0;
	uint16_t last = 0;

	for (size_t i = 0; i < cnt && (at <= limit || goes_on); words++) {
		uint64_t code = frames[i++];
		uint16_t entry = find_entry(cache, code);
		unsigned int run = 0;

		cache->used[entry] = id;
		cache->shared.next[last] = entry;
		last = entry;
		goes_on = false;
		if (cache->shared.codes[entry] != code) {
			cache->shared.codes[entry] = code;
			missed->codes[missed->cnt++] = code;
			at = ctf_put_u64(put_word(at, entry, CTF_MISS), code);
			continue;
		}
		if (at + sizeof(uint16_t) <= limit)
			run = follow(cache, &last, frames + i, cnt - i);
		at = put_hit(at, entry, run);
		i += run;
		goes_on = run == UINT8_MAX && i < cnt && is_predicted(cache, last, frames[i]);
	}
	*ret_words = words;
	return at;
}
