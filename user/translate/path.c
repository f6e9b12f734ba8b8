/* SPDX-License-Identifier: BSD-2-Clause */
#include "translate/path.h"

#include "model/branch.h"

enum {
	WORDS_MAX = 32,
	UNROLLED = 6, /* words: a loop of fewer is there several times */
};

bool is_current_site(uint32_t word)
{
	return word - shared()->first_site < shared()->site_cnt - shared()->first_site;
}

bool is_current_block(uint32_t word)
{
	uint32_t first = shared()->first_block;

	return word < RING_TAG && word & BLOCK_WORD &&
	       (word & ~BLOCK_WORD) - first < shared()->block_cnt - first;
}

bool can_be_traced(const struct block *block)
{
	return block && !block->is_kept && !block->tells_time && !block->died;
}

/* Whether the word is one of a branch of the block, which a trace can follow. *ret_end: behind the branch. */
static bool is_branch_of(const struct block *block, uint32_t word, uint64_t *ret_end)
{
	const struct site *site = site_at(word);
	uint64_t from = block->guest + site->from;
	struct length length;

	*ret_end = block->guest_end;
	if (word - block->first_site >= block->cond_cnt)
		return block->end == BLOCK_BRANCHES;
	length = *length_at(block->first_length + block_insns_before(block, from));
	*ret_end = from + length.guest;
	return site->is_jcc && site_opposite(block, site, *ret_end) != site->to;
}

/* To the branch whose word it is. */
static bool walk_to(struct path *path, uint32_t word)
{
	bool is_indirect = word & BLOCK_WORD;
	const struct block *last = is_indirect ? NULL : block_at(site_at(word)->block), *block;
	uint64_t end;

	for (block = known_find(path->to);; block = known_find(block->next)) {
		if (!can_be_traced(block) || path->cnt == STEPS_MAX)
			return false;
		path->steps[path->cnt++] = (struct trace_step){block_number(block), NO_WORD};
		end = block->guest_end;
		if (is_indirect ? block->end == BLOCK_INDIRECT : block == last)
			break;
		if (block->end != BLOCK_GOES_ON)
			return false;
		path->insn_cnt += block->length_cnt;
	}
	if (!is_indirect && !is_branch_of(block, word, &end))
		return false;
	path->insn_cnt += block_insns_before(block, end);
	path->steps[path->cnt - 1].word = word;
	return path->insn_cnt <= PATH_INSNS_MAX;
}

/*
 * Whether the branch leads back into a loop that the way has been through, and that does
 * not begin where it does.
 */
static bool is_inner_loop(const struct path *path, const struct site *site)
{
	const struct block *block = block_at(site->block);

	if (site->to > block->guest + site->from || site->to == block_at(path->steps[0].block)->guest ||
	    (block->last_kind == BRANCH_CALL && site->conds_before == block->cond_cnt))
		return false;
	for (unsigned int i = 0; i < path->cnt; i++)
		if (block_at(path->steps[i].block)->guest == site->to)
			return true;
	return false;
}

/*
 * Whether jumps of the trace will reach the block. A library is far from the program: there a trace could not
 * have its code, nor be linked to it.
 */
static bool is_near(const struct block *block, const struct path *path)
{
	const int64_t reach = 1 << 30;
	int64_t away = (int64_t)(block->host - path->host);

	return away < reach && away > -reach;
}

/* One of a block's. False: the way cannot be followed any further. */
static bool add_branch(struct path *path, uint32_t word)
{
	const struct block *target = is_current_block(word) ? block_of_word(word) : NULL;
	unsigned int cnt = path->cnt, insn_cnt = path->insn_cnt;

	if ((!target && !is_current_site(word)) || (target && (target->is_trace || target->died)) ||
	    path->word_cnt == WORDS_MAX || (target && !is_near(target, path)))
		return false;
	if (!walk_to(path, word)) {
		path->cnt = cnt;
		path->insn_cnt = insn_cnt;
		return false;
	}
	path->to = target_of_word(word);
	path->word_cnt++;
	return target || !is_inner_loop(path, site_at(word));
}

/* What the trace has taken before it was left by the site, and that way out, if it is a branch of a block. */
static bool add_trace(struct path *path, const struct site *site)
{
	const struct block *trace = block_at(site->block);
	const struct trace_step *steps = steps_of(trace);
	uint32_t cond;

	if (trace->died)
		return false;
	for (unsigned int i = 0; i < site->conds_before; i++)
		if (steps[i].word != NO_WORD && !add_branch(path, steps[i].word))
			return false;
	if (site->from == NO_COND)
		return true;
	cond = block_at(steps[site->conds_before].block)->first_site + site->from;
	return site_at(cond)->to == site->to && add_branch(path, cond);
}

static bool add_word(struct path *path, uint32_t word)
{
	if (is_current_site(word) && block_at(site_at(word)->block)->is_trace)
		return add_trace(path, site_at(word));
	return add_branch(path, word);
}

/* Whether mostly that word comes behind the one before it. */
static bool is_likely(const uint32_t *words, unsigned int at)
{
	enum { NEAR = 512 };
	unsigned int from = at > NEAR ? at - NEAR : 1, to = at + NEAR < CHUNK_WORDS ? at + NEAR : CHUNK_WORDS;
	unsigned int all = 0, same = 0;

	for (unsigned int i = from; i < to; i++) {
		all += words[i - 1] == words[at - 1];
		same += words[i - 1] == words[at - 1] && words[i] == words[at];
	}
	return same * 2 > all;
}

void path_follow(struct path *path, const struct block *head, const uint32_t *words, unsigned int at)
{
	*path = (struct path){.to = head->guest, .host = head->host};
	for (; at < CHUNK_WORDS; at++) {
		if (path->to == head->guest && path->word_cnt >= UNROLLED)
			return;
		if (!is_likely(words, at) || !add_word(path, words[at]))
			return;
	}
}
