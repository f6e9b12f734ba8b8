/* SPDX-License-Identifier: BSD-2-Clause */
/* What slices are made with (sampled.c), and how one stack is laid over another (fit.c). */
#pragma once

#include "base/sort.h"
#include "stacks/sampled/sampled.h"
#include "stacks/segment.h"

/* A call of a stack, from the outermost on. */
struct call {
	const struct symbol *symbol;
	uint64_t ip, cfa;
	uint64_t site; /* where its caller called it; 0: not known, or it is inlined */
	bool is_inlined;
};

struct calls {
	struct call *items;
	size_t cnt, cap;
};

/* Where whole stacks are, from some item up to the next loss, by the frame that they begin at. */
struct whole_stacks {
	const struct sampled_item *items, *end; /* all that there are */
	const struct sampled_item *until;	/* it is known up to here; NULL: nothing is */
	struct sort_key *keys;			/* the frame, and which item */
	size_t cnt, cap;
};

struct sampler {
	const struct stacks_config *config;
	struct timeline_thread *thread;
	uint64_t period;
	struct segment segment;		  /* its frames are those of `open` */
	struct calls open, now;		  /* what goes on, and the item's */
	struct whole_stacks whole;	  /* those that come */
	const struct sampled_item *later; /* one whose calls were read ahead; NULL: none was */
	struct calls later_calls;
	bool is_whole; /* the outermost of `open` has no caller */
	bool has_known;
	uint64_t known; /* until then the open calls are known to be so */
	/* Items since then whose stack is not known. */
	const struct sampled_item *waiting;
	size_t waiting_cnt;
	bool no_memory;
};

/* How the item's stack fits the one before. */
struct fit {
	size_t outer; /* so many calls of `now` are callers of the first open one */
	size_t kept;  /* so many open calls go on */
	size_t fresh; /* the first call of `now` that is a new one */
	/* Stands for frames between those two that no copy has held; without a symbol: there are none. */
	struct call unseen;
};

/* The item's stack becomes `to`. */
void sampled_read(struct sampler *sampler, const struct sampled_item *item, struct calls *to);

/* Lays the item's stack, `now`, over `open`. */
struct fit sampled_fit(struct sampler *sampler, const struct sampled_item *item);

/* Equal stacks may be other calls, if the thread was elsewhere meanwhile: those calls do not go on. */
void sampled_part(const struct sampler *sampler, struct fit *fit);

/*
 * Of the first `cnt` open calls, those that may be open as it waits, if the item is a wait with a leaf: if
 * that was in another function of a library, none of the library's calls that are innermost is the same one;
 * in a program that has no libraries, the innermost one is not.
 */
size_t sampled_open_as_it_waits(const struct sampler *sampler, size_t cnt, const struct sampled_item *item);
