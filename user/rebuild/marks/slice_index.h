/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another clock timed a hit or an allocation. These functions find the slice it belongs to: of a thread's
 * slices of one kind, the one nearest in time. There are many hits but few kinds. So one pass over a thread
 * gathers all slices of a kind. It copies them, because the thread's own need not be in memory all at once.
 */
#pragma once

#include "model/timeline.h"

struct trigger_calls;

/*
 * One kind of slice. The first of these that is set decides: slices of this function; slices of functions
 * of this name; calls that returned, of the trigger's functions; interruptions at this ip.
 */
struct slice_wanted {
	const struct timeline_thread *thread; /* NULL: no slice is found */
	const struct symbol *symbol;
	const char *name; /* the same pointer for the same name */
	const struct trigger_calls *calls;
	uint32_t trigger; /* with `calls` */
	uint64_t ip;
	bool is_later; /* prefers a slice that is still to begin to one that has ended */
};

struct indexed_slice {
	struct slice slice;
	size_t nth;		/* of the thread's slices */
	size_t outermost;	/* the same of the slice of depth 0 that it lies in */
	uint64_t next_start_ns; /* when the thread's next slice begins after its end; UINT64_MAX: none does */
	uint64_t latest_end;	/* for slice_index.c */
};

struct slice_index;

/* All 0 at first. Good as long as the timeline's slices are not changed. */
struct slice_indices {
	struct slice_index *items;
	size_t cnt, cap;
};

/*
 * The slice that is nearest to the time; of equally near ones the last, which is the innermost. NULL: there
 * is none. It lives as long as the indices. 0 or -ENOMEM.
 */
int slice_indices_nearest(struct slice_indices *indices, const struct slice_wanted *wanted, uint64_t time_ns,
			  const struct indexed_slice **ret_slice);

/* The one of this depth that begins before the time and ends after it. NULL: there is none. 0 or -ENOMEM. */
int slice_indices_around(struct slice_indices *indices, const struct slice_wanted *wanted, uint64_t time_ns,
			 uint32_t depth, const struct indexed_slice **ret_slice);

void slice_indices_release(struct slice_indices *indices);

/* How far the time is from the slice; 0: it lies within. */
uint64_t slice_distance(const struct slice *slice, uint64_t time_ns);

/* The time, or what is nearest to it within the slice. */
uint64_t slice_moved_into(const struct slice *slice, uint64_t time_ns);
