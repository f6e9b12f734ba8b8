/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys are listed in trailcam(1). Addresses and registers are text, since readers of JSON keep 53 bits of
 * a number.
 */
#include <string.h>

#include "base/error.h"
#include "cli/json.h"
#include "cli/show/hit_json.h"
#include "cli/show/report.h"
#include "timeline/hit_frames.h"
#include "timeline/profile_diff.h"

/* ---- what was traced ---- */

static void put_threads(yajl_gen gen, const struct report *report, const struct timeline *timeline)
{
	json_key_array(gen, "threads");
	for (size_t i = 0; i < timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];

		if (!report_has_thread(report, thread->tid))
			continue;
		yajl_gen_map_open(gen);
		json_key_integer(gen, "pid", thread->pid);
		json_key_integer(gen, "tid", thread->tid);
		json_key_text(gen, "name", thread->name);
		json_key_number(gen, "calls", thread->slice_cnt);
		json_key_number(gen, "gaps", timeline_thread_gaps(thread));
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_trace(yajl_gen gen, const struct report *report, size_t side)
{
	const struct report_trace *trace = &report->traces[side];
	const struct timeline *timeline = trace->timeline;
	const struct profile_sum *whole = &report->profile->paths[PROFILE_ROOT].sides[side];

	json_key_map(gen, side ? "other" : "trace");
	json_key_text(gen, "path", trace->path);
	json_key_text(gen, "command", timeline->command);
	json_key_text(gen, "source", timeline->source);
	json_key_text(gen, "stopped_by", timeline->stopped_by);
	json_key_number(gen, "realtime_ns", timeline->base_realtime_ns);
	json_key_number(gen, "first_ns", trace->first_ns);
	json_key_number(gen, "last_ns", trace->last_ns);
	json_key_number(gen, "calls", trace->calls);
	json_key_number(gen, "gaps", trace->gaps);
	json_key_number(gen, "hits", trace->hits);
	json_key_number(gen, "total_ns", whole->total_ns);
	json_key_number(gen, "sampled_ns", whole->sampled_total_ns);
	json_key_number(gen, "sample_period_ns", timeline->period_ns);
	put_threads(gen, report, timeline);
	yajl_gen_map_close(gen);
}

/* ---- hits ---- */

static int put_calls(yajl_gen gen, const struct report *report, const struct timeline_hit *placed)
{
	struct lead_up lead_up;
	int err = report_lead_up(report, placed, &lead_up);

	if (err)
		return err;
	json_key_array(gen, "calls_before");
	for (size_t i = 0; i < lead_up.cnt; i++) {
		const struct slice *slice = lead_up.calls[i].slice;

		yajl_gen_map_open(gen);
		json_key_text(gen, "name", slice_name(slice));
		json_key_text(gen, "kind", slice_kind_name(slice->kind));
		json_key_number(gen, "depth", slice->depth);
		json_key_number(gen, "start_ns", slice->start_ns);
		json_key_number(gen, "end_ns", slice->end_ns);
		json_key_bool(gen, "open", lead_up.calls[i].is_open);
		json_key_bool(gen, "outer", i < lead_up.outer_cnt);
		json_key_bool(gen, "inferred_start", slice->flags & SLICE_INFERRED_START);
		json_key_text(gen, "known", slice_certainty(slice));
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	lead_up_release(&lead_up);
	return 0;
}

/* hit_json() has the recorded ones alone. */
static int put_frames(yajl_gen gen, const struct timeline *timeline, const struct timeline_hit *placed)
{
	CLEANUP(freep) struct hit_frame *frames = NULL;
	size_t cnt = 0;
	int err = hit_frames_find(timeline, placed, &frames, &cnt);

	json_key_array(gen, "frames");
	for (size_t i = 0; i < cnt; i++) {
		yajl_gen_map_open(gen);
		json_key_text(gen, "name", frames[i].symbol ? frames[i].symbol->name : "?");
		json_key_bool(gen, "recorded", frames[i].ip != 0);
		json_key_bool(gen, "open", frames[i].is_open);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	return err;
}

static int put_hit(yajl_gen gen, const struct report *report, size_t index)
{
	const struct timeline *timeline = report->traces[0].timeline;
	int err;

	yajl_gen_map_open(gen);
	hit_json(gen, timeline, index);
	err = put_frames(gen, timeline, &timeline->hits[index]);
	if (!err)
		err = put_calls(gen, report, &timeline->hits[index]);
	yajl_gen_map_close(gen);
	return err;
}

static int put_hits(yajl_gen gen, const struct report *report)
{
	int err = 0;

	json_key_array(gen, "hits");
	for (size_t i = 0; i < report->hit_cnt && !err; i++)
		err = put_hit(gen, report, report->hits[i]);
	yajl_gen_array_close(gen);
	json_key_number(gen, "hits_left_out", report->hit_total - report->hit_cnt);
	return err;
}

/* ---- time ---- */

static void put_sum(yajl_gen gen, const struct profile_sum *sum)
{
	json_key_number(gen, "calls", sum->calls);
	json_key_number(gen, "self_ns", sum->self_ns);
	json_key_number(gen, "total_ns", sum->total_ns);
}

/* Within which limits the truth lies in 95 of 100 cases. */
static void put_interval(yajl_gen gen, const char *key, struct interval interval)
{
	json_key_array(gen, key);
	yajl_gen_integer(gen, (long long)interval.low_ns);
	yajl_gen_integer(gen, (long long)interval.high_ns);
	yajl_gen_array_close(gen);
}

static void put_waits(yajl_gen gen, const struct report *report)
{
	json_key_array(gen, "waits");
	for (size_t i = 0; i < report->wait_cnt; i++) {
		const struct wait *wait = &report->waits.items[i];

		yajl_gen_map_open(gen);
		json_key_text(gen, "name", wait->name);
		json_key_text(gen, "refers_to", wait->file);
		json_key_text(gen, "function", wait->function);
		json_key_text(gen, "woken_by", wait->woken_by);
		json_key_text(gen, "behind", wait->behind);
		json_key_number(gen, "times", wait->cnt);
		json_key_number(gen, "total_ns", wait->total_ns);
		json_key_number(gen, "longest_ns", wait->longest_ns);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	json_key_number(gen, "waits_left_out", report->waits.cnt - report->wait_cnt);
}

static void put_allocations(yajl_gen gen, const char *key, const struct allocation_sum *sums, size_t cnt)
{
	json_key_array(gen, key);
	for (size_t i = 0; i < cnt; i++) {
		const struct allocation_sum *sum = &sums[i];

		yajl_gen_map_open(gen);
		json_key_text(gen, "function", sum->function);
		json_key_number(gen, "times", sum->cnt);
		json_key_number(gen, "bytes", sum->bytes);
		json_key_number(gen, "not_freed_times", sum->live_cnt);
		json_key_number(gen, "not_freed_bytes", sum->live_bytes);
		if (sum->stack)
			json_key_text(gen, INSTANT_STACK, sum->stack->text);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_name(yajl_gen gen, const struct profile_function *function)
{
	json_key_text(gen, "name", function->name);
	json_key_text(gen, "object", function->object);
	json_key_text(gen, "kind", slice_kind_name(function->kind));
}

static void put_function(yajl_gen gen, const struct report *report, const struct profile_function *function)
{
	yajl_gen_map_open(gen);
	put_name(gen, function);
	put_sum(gen, &function->sides[0]);
	if (function->sides[0].sampled_total_ns) {
		put_interval(gen, "self_within_ns", report_self(report, &function->sides[0]));
		put_interval(gen, "total_within_ns", report_total(report, &function->sides[0]));
	}
	yajl_gen_map_close(gen);
}

static void put_functions(yajl_gen gen, const char *key, const struct report *report, const size_t *order)
{
	json_key_array(gen, key);
	for (size_t i = 0; i < report->function_cnt; i++)
		put_function(gen, report, &report->profile->functions[order[i]]);
	yajl_gen_array_close(gen);
}

/* Of what nothing in the trace called, the caller has no name. */
static void put_neighbours(yajl_gen gen, const char *key, const struct report *report,
			   const struct report_neighbours *around)
{
	const struct profile *profile = report->profile;

	json_key_array(gen, key);
	for (size_t i = 0; i < around->cnt; i++) {
		const struct profile_sum *sum = &around->sums[around->order[i]];

		yajl_gen_map_open(gen);
		if (around->order[i] < profile->function_cnt)
			put_name(gen, &profile->functions[around->order[i]]);
		json_key_number(gen, "calls", sum->calls);
		json_key_number(gen, "total_ns", sum->total_ns);
		if (sum->sampled_total_ns)
			put_interval(gen, "total_within_ns", report_total(report, sum));
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_one_function(yajl_gen gen, const struct report *report)
{
	const struct profile *profile = report->profile;

	json_key_array(gen, "functions");
	for (size_t i = 0; i < profile->function_cnt; i++)
		if (!strcmp(profile->functions[i].name, report->options->function))
			put_function(gen, report, &profile->functions[i]);
	yajl_gen_array_close(gen);
	put_neighbours(gen, "callers", report, &report->callers);
	put_neighbours(gen, "callees", report, &report->callees);
}

static void put_time(yajl_gen gen, const struct report *report)
{
	json_key_number(gen, "syscall_ns", report_kind_ns(report, SLICE_SYSCALL));
	json_key_number(gen, "untraced_ns", report_kind_ns(report, SLICE_UNTRACED));
	json_key_number(gen, "off_cpu_ns", report_kind_ns(report, SLICE_OFF_CPU));
	json_key_number(gen, "run_queue_ns", report_kind_ns(report, SLICE_RUN_QUEUE));
	put_waits(gen, report);
	put_allocations(gen, "allocations", report->allocations.items, report->allocations.cnt);
	put_allocations(gen, "allocation_sites", report->allocations.sites, report->site_cnt);
	put_functions(gen, "functions_by_self", report, report->by_self);
	put_functions(gen, "functions_by_total", report, report->by_total);
	json_key_number(gen, "functions_left_out", report->profile->function_cnt - report->function_cnt);
}

static void put_diff(yajl_gen gen, const struct report *report)
{
	const struct profile *profile = report->profile;

	json_key_integer(gen, "difference_ns", profile_difference(&profile->paths[PROFILE_ROOT]));
	json_key_array(gen, "diff");
	for (size_t i = 0; i < report->diff_cnt; i++) {
		const struct profile_path *path = &profile->paths[report->diff[i]];
		const struct profile_function *function = &profile->functions[path->function];

		yajl_gen_map_open(gen);
		json_key_text(gen, "name", function->name);
		json_key_text(gen, "kind", slice_kind_name(function->kind));
		json_key_number(gen, "depth", path->depth - 1);
		json_key_integer(gen, "difference_ns", profile_difference(path));
		json_key_map(gen, "trace");
		put_sum(gen, &path->sides[0]);
		yajl_gen_map_close(gen);
		json_key_map(gen, "other");
		put_sum(gen, &path->sides[1]);
		yajl_gen_map_close(gen);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
	json_key_number(gen, "diff_left_out", report->diff_left_out);
}

int report_json(const struct report *report)
{
	CLEANUP(yajl_gen_freep) yajl_gen gen = json_to_stdout();
	int err = 0;

	if (!gen)
		return fail(-ENOMEM, "no memory for JSON");
	yajl_gen_map_open(gen);
	put_trace(gen, report, 0);
	if (report->trace_cnt > 1) {
		put_trace(gen, report, 1);
		put_diff(gen, report);
	} else if (report->options->function) {
		put_one_function(gen, report);
	} else {
		err = put_hits(gen, report);
		put_time(gen, report);
	}
	yajl_gen_map_close(gen);
	return err ? fail(err, "no memory for the calls before the hits") : 0;
}
