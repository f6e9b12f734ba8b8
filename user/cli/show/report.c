/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/show/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/spill.h"
#include "timeline/profile_diff.h"

bool report_has_thread(const struct report *report, int32_t tid)
{
	return !report->options->thread || report->options->thread == tid;
}

/* ---- the trace as a whole ---- */

static void widen(struct report_trace *trace, uint64_t from_ns, uint64_t to_ns)
{
	trace->first_ns = from_ns < trace->first_ns ? from_ns : trace->first_ns;
	trace->last_ns = to_ns > trace->last_ns ? to_ns : trace->last_ns;
}

static void measure(struct report_trace *trace, const struct timeline_thread *thread)
{
	trace->threads++;
	trace->calls += thread->slice_cnt;
	for (size_t i = 0; i < thread->slice_cnt; i++) {
		SPILL_PASS(thread->slices, i);
		if (!thread->slices[i].depth)
			widen(trace, thread->slices[i].start_ns, thread->slices[i].end_ns);
	}
	trace->gaps += timeline_thread_gaps(thread);
	for (size_t i = 0; i < thread->instant_cnt; i++)
		widen(trace, thread->instants[i].time_ns, thread->instants[i].time_ns);
}

static int load(struct report *report, const char *path)
{
	struct report_trace *trace = &report->traces[report->trace_cnt++];
	int err = decode_file(&trace->decoded, path, &report->options->decode);

	if (err)
		return err;
	trace->path = path;
	trace->timeline = decoded_timeline(trace->decoded);
	trace->first_ns = UINT64_MAX;
	for (size_t i = 0; i < trace->timeline->thread_cnt; i++)
		if (report_has_thread(report, trace->timeline->threads[i].tid))
			measure(trace, &trace->timeline->threads[i]);
	for (size_t i = 0; i < trace->timeline->hit_cnt; i++) {
		const struct timeline_hit *hit = &trace->timeline->hits[i];

		if (!report_has_thread(report, (int32_t)hit->hit->tid))
			continue;
		trace->hits++;
		widen(trace, hit->time_ns, hit->time_ns);
	}
	if (trace->first_ns > trace->last_ns)
		trace->first_ns = trace->last_ns;
	return 0;
}

static int check_thread(const struct report *report)
{
	const struct timeline *timeline = report->traces[0].timeline;

	for (size_t i = 0; i < timeline->thread_cnt; i++)
		if (report_has_thread(report, timeline->threads[i].tid))
			return 0;
	if (!report->options->thread)
		return 0;
	return fail(-ENOENT, "%s has no thread %d%s", report->options->path, report->options->thread,
		    timeline->thread_cnt ? ": report without --thread lists those it has" : "");
}

/* ---- hits ---- */

/* The first ones and the last ones, half of what is wanted each. */
static int choose_hits(struct report *report)
{
	const struct timeline *timeline = report->traces[0].timeline;
	size_t wanted = report->options->hits, kept = 0, first;

	report->hits = calloc(timeline->hit_cnt + 1, sizeof(*report->hits));
	if (!report->hits)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->hit_cnt; i++)
		if (report_has_thread(report, (int32_t)timeline->hits[i].hit->tid))
			report->hits[report->hit_total++] = i;
	if (report->hit_total <= wanted) {
		report->hit_cnt = report->hit_total;
		return 0;
	}
	first = wanted - wanted / 2;
	for (size_t i = 0; i < report->hit_total; i++)
		if (i < first || i >= report->hit_total - wanted / 2)
			report->hits[kept++] = report->hits[i];
	report->hit_cnt = kept;
	return 0;
}

int report_lead_up(const struct report *report, const struct timeline_hit *hit, struct lead_up *ret_lead_up)
{
	return lead_up_to_hit(ret_lead_up, report->traces[0].timeline, hit, report->options->calls);
}

/* ---- functions ---- */

struct ranked {
	uint64_t ns, then_ns;
	size_t function;
};

static int compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return ORDER_DOWN(a->ns, b->ns)
		       ?: ORDER_DOWN(a->then_ns, b->then_ns) ?: ORDER_UP(a->function, b->function);
}

/* The first function_cnt of the functions by self or by total time. NULL: no memory. */
static size_t *rank(const struct report *report, bool by_total)
{
	const struct profile *profile = report->profile;
	struct ranked *ranked = calloc(profile->function_cnt + 1, sizeof(*ranked));
	size_t *order = calloc(report->function_cnt + 1, sizeof(*order));

	for (size_t i = 0; ranked && i < profile->function_cnt; i++) {
		const struct profile_sum *sum = &profile->functions[i].sides[0];

		ranked[i] = by_total ? (struct ranked){sum->total_ns, sum->self_ns, i}
				     : (struct ranked){sum->self_ns, sum->total_ns, i};
	}
	if (ranked && order) {
		sort_array(ranked, profile->function_cnt, sizeof(*ranked), compare);
		for (size_t i = 0; i < report->function_cnt; i++)
			order[i] = ranked[i].function;
	}
	if (!ranked)
		freep(&order);
	free(ranked);
	return ranked ? order : NULL;
}

uint64_t report_kind_ns(const struct report *report, enum slice_kind kind)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < report->profile->function_cnt; i++)
		if (report->profile->functions[i].kind == kind)
			ns += report->profile->functions[i].sides[0].total_ns;
	return ns;
}

/* ---- samples ---- */

bool report_is_sampled(const struct report *report, size_t side)
{
	return report->profile->paths[PROFILE_ROOT].sides[side].sampled_total_ns;
}

/* What is exact of it, and what was seen of all that samples saw. */
static struct interval interval_of(const struct report *report, uint64_t ns, uint64_t sampled_ns)
{
	uint64_t whole = report->profile->paths[PROFILE_ROOT].sides[0].sampled_total_ns;
	struct interval interval =
		estimate_interval(sampled_ns, whole, report->traces[0].timeline->period_ns);

	if (!sampled_ns)
		return (struct interval){ns, ns};
	interval.low_ns += ns - sampled_ns;
	interval.high_ns += ns - sampled_ns;
	return interval;
}

struct interval report_self(const struct report *report, const struct profile_sum *sum)
{
	return interval_of(report, sum->self_ns, sum->sampled_self_ns);
}

struct interval report_total(const struct report *report, const struct profile_sum *sum)
{
	return interval_of(report, sum->total_ns, sum->sampled_total_ns);
}

static int find_waits(struct report *report)
{
	const struct timeline *timeline = report->traces[0].timeline;
	size_t top = report->options->top;
	int err = 0;

	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		if (report_has_thread(report, timeline->threads[i].tid))
			err = waits_add(&report->waits, &timeline->threads[i]);
	waits_sort(&report->waits);
	report->wait_cnt = report->waits.cnt < top ? report->waits.cnt : top;
	return err;
}

static int find_allocations(struct report *report)
{
	int err = allocations_add(&report->allocations, report->traces[0].timeline, report->options->thread);
	size_t top = report->options->top;

	allocations_sort(&report->allocations);
	if (report->traces[0].timeline->stack_text_cnt)
		report->site_cnt = report->allocations.site_cnt < top ? report->allocations.site_cnt : top;
	return err;
}

/* ---- the whole ---- */

static int count_time(struct report *report)
{
	int err = profile_new(&report->profile, report->trace_cnt == 1);

	for (size_t side = 0; side < report->trace_cnt; side++) {
		const struct timeline *timeline = report->traces[side].timeline;

		for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
			if (report_has_thread(report, timeline->threads[i].tid))
				err = profile_add(report->profile, side, &timeline->threads[i]);
	}
	return err;
}

static int rank_neighbours(const struct report *report, struct report_neighbours *neighbours)
{
	size_t cnt = report->profile->function_cnt + 1;
	struct ranked *ranked = calloc(cnt, sizeof(*ranked));

	neighbours->order = calloc(cnt, sizeof(*neighbours->order));
	for (size_t i = 0; ranked && neighbours->sums && i < cnt; i++)
		if (neighbours->sums[i].calls)
			ranked[neighbours->total++] =
				(struct ranked){neighbours->sums[i].total_ns, neighbours->sums[i].calls, i};
	if (!ranked || !neighbours->sums || !neighbours->order) {
		free(ranked);
		return -ENOMEM;
	}
	sort_array(ranked, neighbours->total, sizeof(*ranked), compare);
	neighbours->cnt = neighbours->total < report->options->top ? neighbours->total : report->options->top;
	for (size_t i = 0; i < neighbours->cnt; i++)
		neighbours->order[i] = ranked[i].function;
	free(ranked);
	return 0;
}

/* The name that differs least. */
static const char *similar_function(const struct profile *profile, const char *name)
{
	const char *best = NULL;
	size_t least = strlen(name) / 2 + 1;

	for (size_t i = 0; i < profile->function_cnt; i++) {
		size_t distance = edit_distance(profile->functions[i].name, name);

		if (distance < least) {
			least = distance;
			best = profile->functions[i].name;
		}
	}
	return best;
}

static int describe_function(struct report *report)
{
	const struct profile *profile = report->profile;
	const char *name = report->options->function, *similar;
	size_t i = 0;
	int err;

	while (i < profile->function_cnt && strcmp(profile->functions[i].name, name))
		i++;
	if (i == profile->function_cnt) {
		similar = similar_function(profile, name);
		return fail(-ENOENT, "no call of '%s' is in %s%s%s%s", name, report->options->path,
			    similar ? "; did you mean '" : "", similar ? similar : "", similar ? "'?" : "");
	}
	report->callers.sums = profile_around(profile, name, false);
	report->callees.sums = profile_around(profile, name, true);
	err = rank_neighbours(report, &report->callers);
	if (!err)
		err = rank_neighbours(report, &report->callees);
	return err ? fail(err, "no memory to report on %s", report->options->path) : 0;
}

static int describe_one(struct report *report)
{
	size_t top = report->options->top, cnt = report->profile->function_cnt;
	int err = find_waits(report);

	if (!err)
		err = find_allocations(report);
	if (err)
		return err;
	report->function_cnt = cnt < top ? cnt : top;
	report->by_self = rank(report, false);
	report->by_total = rank(report, true);
	return report->by_self && report->by_total ? choose_hits(report) : -ENOMEM;
}

static int compare_two(struct report *report)
{
	return profile_diff(report->profile, report->options->top, &report->diff, &report->diff_cnt,
			    &report->diff_left_out);
}

int report_make(struct report *report, const struct report_options *options)
{
	int err;

	*report = (struct report){.options = options};
	err = load(report, options->path);
	if (!err)
		err = check_thread(report);
	if (!err && options->other)
		err = load(report, options->other);
	if (err)
		return err;
	err = count_time(report);
	if (!err && options->function)
		return describe_function(report);
	if (!err)
		err = options->other ? compare_two(report) : describe_one(report);
	return err ? fail(err, "no memory to report on %s", options->path) : 0;
}

void report_release(struct report *report)
{
	profile_free(report->profile);
	for (size_t i = 0; i < PROFILE_SIDES; i++)
		decoded_free(report->traces[i].decoded);
	free(report->hits);
	free(report->by_self);
	free(report->by_total);
	free(report->diff);
	free(report->callers.sums);
	free(report->callers.order);
	free(report->callees.sums);
	free(report->callees.order);
	waits_release(&report->waits);
	allocations_release(&report->allocations);
}
