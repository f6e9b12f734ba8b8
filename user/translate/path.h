/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways through blocks that a ring shows to be taken often: what traces are made of (trace.c). */
#pragma once

#include "translate/runtime.h"

enum {
	CHUNK_WORDS = TIME_EVERY / 4, /* of the ring, between two looks at it */
	PATH_INSNS_MAX = 320,
};

struct path {
	struct trace_step steps[STEPS_MAX];
	unsigned int cnt, word_cnt, insn_cnt;
	uint64_t to;   /* guest address behind the last step */
	uint64_t host; /* where the code of its beginning is */
};

/* Whether it is the number of a site, or the word of a block, of this generation. */
bool is_current_site(uint32_t word);
bool is_current_block(uint32_t word);

/* Whether it can be a step of a path. */
bool can_be_traced(const struct block *block);

/*
 * From `head` on, as the words from words[at] on tell, of a chunk of the ring: as far as each is the one
 * that mostly comes there.
 */
void path_follow(struct path *path, const struct block *head, const uint32_t *words, unsigned int at);
