/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole allocation trace in memory, for what needs to know how it ends: each sample with the end of its
 * life, the events in the order of the file, and call stacks as a tree, so that what two of them have in
 * common is there once. Weights are counted in sampled words, which are exact; memtrace_bytes_of() makes
 * bytes of them.
 */
#pragma once

#include <stdbool.h>

#include "ctf/reader.h"
#include "heap/filter.h"

#define MEMTRACE_NEVER UINT64_MAX /* a sample's end: none in the trace */
#define MEMTRACE_NONE  UINT32_MAX /* an entry's sample: not one of the trace */

enum { MEMTRACE_EMPTY_STACK = 0 };

struct memtrace_sample {
	uint64_t time_us, end_us;
	uint64_t id, length, nsamples; /* as in struct memtrace_event */
	uint32_t stack;		       /* index */
	uint32_t common_prefix;
	uint16_t domain;
	uint8_t source;
	bool is_promoted;
};

/* An event in the order of the file. */
struct memtrace_entry {
	uint64_t time_us, id;
	uint32_t sample; /* index, or MEMTRACE_NONE */
	uint16_t domain; /* where it happened */
	uint8_t kind;
};

/* A code called by a stack of codes, which stands before it; the first one is the empty stack. */
struct memtrace_stack {
	uint64_t code;
	uint32_t parent; /* index */
	uint32_t depth;
};

struct memtrace {
	struct memtrace_reader *reader; /* for locations */
	const struct memtrace_info *info;
	struct memtrace_sample *samples;
	size_t sample_cnt, sample_cap;
	struct memtrace_entry *entries;
	size_t entry_cnt, entry_cap;
	struct memtrace_stack *stacks;
	size_t stack_cnt, stack_cap;
	uint64_t end_us; /* the last event's time, whatever was filtered out */
	char *damage;	 /* a sentence: the trace is damaged, and this is what came before; else NULL */
};

/*
 * Reads the trace to its end, or up to where it is damaged, and keeps what the filter lets pass (NULL: all).
 * -errno with a sentence, -ENOMEM.
 */
int memtrace_load(struct memtrace **ret_trace, const char *path, const struct memtrace_filter *filter);
void memtrace_free(struct memtrace *trace);

/*
 * Makes the trace one of the samples for which keep[i] is true, and of their events: where that is not all,
 * those of samples that are not in the trace go, too. 0 or -ENOMEM.
 */
int memtrace_keep(struct memtrace *trace, const bool *keep);

/* What is known of the places that a code stands for, outermost first: how many, 0 where nothing is. */
size_t memtrace_locations(const struct memtrace *trace, uint64_t code,
			  const struct memtrace_location **ret_locations);

/* The codes of a stack, the program's entry first, into codes[], which has room for its depth. */
void memtrace_stack_codes(const struct memtrace *trace, uint32_t stack, uint64_t *codes);

/* Which stacks are of samples that are left, or callers of such. NULL: no memory. */
bool *memtrace_used_stacks(const struct memtrace *trace);

/* A sum of words; the greatest number where that is too small: a damaged trace may say anything. */
static inline uint64_t memtrace_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* The estimate of bytes that so many sampled words stand for; INT64_MAX where that is no number. */
uint64_t memtrace_bytes_of(const struct memtrace *trace, uint64_t nsamples);

/* The size of an allocation. */
uint64_t memtrace_size(const struct memtrace *trace, const struct memtrace_sample *sample);

/* The indices of the entries by time; those of one time as they stand in the file. NULL: no memory. */
uint32_t *memtrace_in_time(const struct memtrace *trace);

/* By how many words an event changes what is alive. */
__int128 memtrace_change(const struct memtrace *trace, const struct memtrace_entry *entry);

/* When the most was alive, as far as samples tell. */
struct memtrace_peak {
	uint64_t time_us, nsamples;
};

/* Also which samples were alive then, in is_alive[] (all false before; NULL: not asked). 0 or -ENOMEM. */
int memtrace_find_peak(const struct memtrace *trace, struct memtrace_peak *ret_peak, bool *is_alive);

DEFINE_CLEANUP(struct memtrace *, memtrace_free)
