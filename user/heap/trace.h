/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole allocation trace in memory, for analyses that need the ends: each sample with its end, the events
 * in file order, and call stacks as a tree that shares common parts. Weights are sampled words, which are
 * exact; memtrace_bytes_of() converts them to bytes.
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

/* A stack: a code on top of a parent stack, which has a smaller index. The first stack is empty. */
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
	uint64_t end_us; /* time of the last event, before filtering */
	char *damage;	 /* a sentence if the trace is damaged and ends here; else NULL */
};

/*
 * Reads the trace to its end or to the first damage, and keeps what passes the filter (NULL: all). -errno
 * with a sentence, -ENOMEM.
 */
int memtrace_load(struct memtrace **ret_trace, const char *path, const struct memtrace_filter *filter);
void memtrace_free(struct memtrace *trace);

/*
 * Says what was left out (log_say()): packets of other processes, a last one that is cut off, what follows
 * damage.
 */
void memtrace_tell_losses(const struct memtrace *trace);

/*
 * Keeps the samples for which keep[i] is true, with their events. Unless all are kept, drops events without a
 * sample, too. 0 or -ENOMEM.
 */
int memtrace_keep(struct memtrace *trace, const bool *keep);

/* The known locations of a code, outermost first. Returns how many; 0: unknown. */
size_t memtrace_locations(const struct memtrace *trace, uint64_t code,
			  const struct memtrace_location **ret_locations);

/* Writes the codes of a stack, the program's entry first, to codes[], which has room for its depth. */
void memtrace_stack_codes(const struct memtrace *trace, uint32_t stack, uint64_t *codes);

/*
 * For each stack, whether it is that of a sample, or of a caller of one. NULL: out of
 * memory. The caller frees it.
 */
bool *memtrace_used_stacks(const struct memtrace *trace);

/* A sum that saturates, because a damaged trace may hold any numbers. */
static inline uint64_t memtrace_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* The estimated bytes that `nsamples` sampled words stand for; INT64_MAX on overflow. */
uint64_t memtrace_bytes_of(const struct memtrace *trace, uint64_t nsamples);

/* The size of an allocation. */
uint64_t memtrace_size(const struct memtrace *trace, const struct memtrace_sample *sample);

/* The indices of the entries by time, and in file order for equal times. NULL: out of memory. */
uint32_t *memtrace_in_time(const struct memtrace *trace);

/* The change of the live words by an event. */
__int128 memtrace_change(const struct memtrace *trace, const struct memtrace_entry *entry);

/* The time of the most live sampled words. */
struct memtrace_peak {
	uint64_t time_us, nsamples;
};

/*
 * Finds the peak, and in is_alive[] which samples were alive then (all false before; NULL: not wanted). 0 or
 * -ENOMEM.
 */
int memtrace_find_peak(const struct memtrace *trace, struct memtrace_peak *ret_peak, bool *is_alive);

DEFINE_CLEANUP(struct memtrace *, memtrace_free)

/* "minor". */
const char *memtrace_source_name(enum memtrace_source source);
