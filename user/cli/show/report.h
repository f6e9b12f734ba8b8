/* SPDX-License-Identifier: BSD-2-Clause */
/* What `report` says, as text or JSON: both print this. */
#pragma once

#include "cli/terminal.h"
#include "rebuild/decode.h"
#include "timeline/allocations.h"
#include "timeline/estimate.h"
#include "timeline/lead_up.h"
#include "timeline/profile.h"
#include "timeline/waits.h"

struct report_options {
	const char *path, *other; /* other: NULL, or what to compare with */
	int32_t thread;		  /* this one only; 0: all */
	const char *function;	  /* who calls it, and what it calls; NULL: the report on all */
	size_t hits, calls, top;  /* how many to show, of calls before each hit, of functions or paths */
	bool is_wide;		  /* lines are as long as they are */
	struct decode_config decode;
};

struct report_trace {
	const char *path;
	struct decoded *decoded;
	const struct timeline *timeline;
	size_t threads, calls, gaps, hits; /* of the threads asked for */
	uint64_t first_ns, last_ns;
};

struct report {
	const struct report_options *options;
	struct report_trace traces[PROFILE_SIDES];
	size_t trace_cnt;
	struct profile *profile;
	/*
	 * One trace: the hits to show, and how many there are of the threads asked for; functions by index.
	 */
	size_t *hits, hit_cnt, hit_total;
	size_t *by_self, *by_total, function_cnt;
	/* With options->function: who called it, and what it called, the longest first. */
	struct report_neighbours {
		struct profile_sum *sums;  /* profile_around() */
		size_t *order, cnt, total; /* `cnt` of `total` are to be shown */
	} callers, callees;
	struct allocations allocations;
	size_t site_cnt;    /* so many of its sites are to be shown; 0: no stack is known */
	struct waits waits; /* the longest first */
	size_t wait_cnt;    /* so many of them are to be shown */
	/* Two traces: paths by index (timeline/profile_diff.h). */
	size_t *diff, diff_cnt, diff_left_out;
};

/*
 * 0, or -errno with a sentence. `options` must last as long as the report, which is to be released in either
 * case.
 */
int report_make(struct report *report, const struct report_options *options);
void report_release(struct report *report);

/* Whether the report is about this thread. */
bool report_has_thread(const struct report *report, int32_t tid);

/* The calls before a hit, none where its thread is not traced. 0 or -ENOMEM. */
int report_lead_up(const struct report *report, const struct timeline_hit *hit, struct lead_up *ret_lead_up);

/* Time within such slices. */
uint64_t report_kind_ns(const struct report *report, enum slice_kind kind);

/* Whether times of that trace come from samples. */
bool report_is_sampled(const struct report *report, size_t side);

/* How long a function of the first trace took by itself, and in all, as far as samples tell. */
struct interval report_self(const struct report *report, const struct profile_sum *sum);
struct interval report_total(const struct report *report, const struct profile_sum *sum);

int report_text(const struct report *report);
int report_json(const struct report *report);
