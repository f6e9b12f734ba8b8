/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of a thread through the blocks of its program, which the packets of a processor tell: what was
 * passed between one word of its ring and the next (words.c), in which epoch that was.
 */
#pragma once

#include "source/encoder.h"
#include "source/translate/arena.h"
#include "source/tsc.h"

struct code_changes;

enum { WALK_RECENT = 1 << 13, WALK_CALLS = 64, WALK_WAYS_BITS = 15, WALK_WAYS = 1 << WALK_WAYS_BITS };

/* From where control was at one word to the next word, which is the key. */
struct way {
	uint64_t from, to;
	uint64_t conds; /* bits, as encoder_conditionals() has them */
	uint32_t key;
	uint8_t cond_cnt;
	bool is_indirect; /* at its end */
};

struct walk {
	const struct arena *arena;
	struct encoder *encoder;
	const struct tsc_clock *clock;
	const struct code_changes *changes;
	size_t changed;		     /* so many of them were before ns */
	uint64_t ns;		     /* of packets, as far as the way is known */
	uint64_t newest_ns;	     /* behind the calls that are still to come: */
	uint64_t calls[WALK_CALLS];  /* their times ... */
	unsigned int call, call_cnt; /* ... of which so many were come to */
	uint64_t at;		     /* where control is known to be */
	uint64_t ip;		     /* where it was at the last word ... */
	const struct block *block;   /* ... the block there, once it is looked for ... */
	uint32_t conds;		     /* ... and how many conditional jumps of it were passed */
	uint32_t way;		     /* that block is so many behind the one at ip */
	uint32_t epoch;		     /* as far as is known: of that block, ... */
	uint32_t epoch_min;	     /* ... if it is not an earlier one */
	uint64_t next;		     /* where a system call goes on */
	uint64_t conds_told;	     /* bits since the last word; ... */
	uint32_t cond_cnt;	     /* ... so many, of which they are the last ones, ... */
	uint32_t passed;	     /* ... and so many that an earlier trace has told */
	bool is_lost;
	/* Found last, by address, while there is one epoch only. */
	const struct block *recent[WALK_RECENT];
	struct way
		*ways; /* the same, WALK_WAYS of them, by key and where they begin; NULL: they are not kept */
	uint8_t *weights; /* of sites (words.c), by the low bits of their numbers, 0: not known; or NULL */
};

/* Packets from here on have that time (CLOCK_MONOTONIC, nanoseconds; a TSC), if it is a later one. */
void walk_set_ns(struct walk *walk, uint64_t ns);
void walk_set_time(struct walk *walk, uint64_t tsc);

/* The same, from the next direct call on that is on the way to what a word tells of. */
void walk_set_call(struct walk *walk, uint64_t tsc);

/* The block has come to an end: where that is a direct call, to `to`, it has its time. */
void walk_call(struct walk *walk, const struct block *block, uint64_t to);

/* The time, where no call is still to come. */
uint64_t walk_now(struct walk *walk);

/* Behind changes of the code up to now there is to be a PSB. */
void walk_pass_changes(struct walk *walk);

/* That many conditional jumps of the block went where they make no word so far. */
void walk_pass(struct walk *walk, uint32_t conds);

/* A conditional jump of the block that a word tells of. */
void walk_conditional(struct walk *walk, bool taken);

/*
 * What is on the way to the word of that key is told as it was the last time, if control was where it was
 * then. False: it was not told.
 */
bool walk_known(struct walk *walk, uint32_t key);

/* The way to the word of that key began at `from`, and is told up to its branch, to `to`. */
void walk_note(struct walk *walk, uint32_t key, uint64_t from, uint64_t to, bool is_indirect);

/* The trace goes on at `at`, so many conditional jumps behind where the last word of an earlier one led. */
void walk_resume(struct walk *walk, uint64_t at, uint64_t word_ip, uint32_t cond_cnt);

/*
 * A branch has led there. Which block it is, is asked only with the next word, which may know
 * it, or of another epoch.
 */
void walk_arrive(struct walk *walk, uint64_t ip);

/* The ring and the blocks do not fit together: what came before `ip` is lost. */
void walk_lose(struct walk *walk, uint64_t ip);

/* The same, and where control is then is not known, either: the trace begins anew. */
void walk_lose_all(struct walk *walk);

/*
 * To the beginning of the block. False: no way leads there; what came before `to` is
 * lost, and control is there.
 */
bool walk_to_block(struct walk *walk, const struct block *block, uint64_t to);

/* To the next block that ends so, and to its end. False: there is none. */
bool walk_to_end(struct walk *walk, enum block_end end);

/*
 * To an instruction, as far as the blocks lead there; what came before it is lost if they do so twice.
 * Returns whether it is behind one that breaks.
 */
bool walk_to_address(struct walk *walk, uint64_t ip);
