/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/show/dump_json.h"

#include <errno.h>

#include "base/cleanup.h"
#include "cli/json.h"
#include "cli/show/hit_json.h"
#include "output/shown_args.h"
#include "rebuild/decode.h"
#include "recording/recording.h"

static void end_line(yajl_gen gen)
{
	yajl_gen_map_close(gen);
	yajl_gen_reset(gen, "\n");
}

/* ---- branches ---- */

static void put_place(yajl_gen gen, const char *key, const char *name_key, uint64_t ip,
		      const struct symbol *symbol)
{
	json_key_hex(gen, key, ip);
	if (symbol)
		json_key_text(gen, name_key, symbol->name);
	else
		json_key_null(gen, name_key);
}

static int put_branch(void *ctx, int32_t tid, const struct branch *branch, uint64_t time_ns,
		      const struct symbol *from, const struct symbol *to)
{
	yajl_gen gen = ctx;

	yajl_gen_map_open(gen);
	json_key_number(gen, "time_ns", time_ns);
	json_key_integer(gen, "tid", tid);
	json_key_text(gen, "kind", branch_kind_to_str(branch->kind));
	if (branch->kind == BRANCH_GAP)
		json_key_text(gen, "gap", branch_gap_to_str(branch->gap));
	if (branch->kind == BRANCH_EVENT)
		json_key_text(gen, "event", branch_event_to_str(branch->gap));
	json_key_bool(gen, "trace_starts", branch->flags & BRANCH_TRACE_START);
	json_key_bool(gen, "trace_ends", branch->flags & BRANCH_TRACE_END);
	put_place(gen, "from", "from_name", branch->from, from);
	put_place(gen, "to", "to_name", branch->to, to);
	end_line(gen);
	return 0;
}

int dump_json_branches(const char *path)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(yajl_gen_freep) yajl_gen gen = json_lines_to_stdout();
	struct decode_visitor visitor = {.branch = put_branch, .ctx = gen};
	int err = gen ? recording_load(&snapshot, path) : -ENOMEM;

	if (!err)
		err = decode_branches(snapshot, &(struct decode_config){0}, &visitor);
	return err;
}

/* ---- slices ---- */

static void begin_of(yajl_gen gen, const struct timeline_thread *thread)
{
	yajl_gen_map_open(gen);
	json_key_integer(gen, "pid", thread->pid);
	json_key_integer(gen, "tid", thread->tid);
}

static void put_slice(yajl_gen gen, const struct timeline_thread *thread, const struct slice *slice)
{
	begin_of(gen, thread);
	json_key_text(gen, "kind", slice_kind_name(slice->kind));
	json_key_text(gen, "name", slice_name(slice));
	if (slice_title(slice) != slice_name(slice))
		json_key_text(gen, "title", slice_title(slice));
	json_key_number(gen, "depth", slice->depth);
	json_key_number(gen, "start_ns", slice->start_ns);
	json_key_number(gen, "end_ns", slice->end_ns);
	json_key_text(gen, "known", slice_certainty(slice));
	json_key_bool(gen, "inferred_start", slice->flags & SLICE_INFERRED_START);
	json_key_bool(gen, "open_at_end", slice->flags & SLICE_OPEN_END);
	if (slice->symbol) {
		json_key_hex(gen, "address", slice_address(slice));
		json_key_text(gen, "object", slice->symbol->object);
	}
	end_line(gen);
}

static void put_instant(yajl_gen gen, const struct timeline_thread *thread, const struct instant *instant)
{
	struct shown_arg args[SHOWN_INSTANT_ARGS];
	size_t cnt = instant_args(args, instant);

	begin_of(gen, thread);
	json_key_text(gen, "kind", instant->is_event ? "event" : "gap");
	json_key_text(gen, "name", instant_name(instant));
	json_key_text(gen, "title", instant->text);
	json_key_number(gen, "time_ns", instant->time_ns);
	json_key_map(gen, "args");
	for (size_t i = 0; i < cnt; i++) {
		if (args[i].type == SHOWN_INT)
			json_key_number(gen, args[i].name, (uint64_t)args[i].number);
		else if (args[i].type == SHOWN_POINTER)
			json_key_hex(gen, args[i].name, (uint64_t)args[i].number);
		else
			json_key_text(gen, args[i].name, args[i].text);
	}
	yajl_gen_map_close(gen);
	end_line(gen);
}

/* By time; where both are at one time, the slice first. */
static void put_thread(yajl_gen gen, const struct timeline_thread *thread)
{
	for (size_t i = 0, j = 0; i < thread->slice_cnt || j < thread->instant_cnt;) {
		if (j == thread->instant_cnt ||
		    (i < thread->slice_cnt && thread->slices[i].start_ns <= thread->instants[j].time_ns))
			put_slice(gen, thread, &thread->slices[i++]);
		else
			put_instant(gen, thread, &thread->instants[j++]);
	}
}

static void put_slices(yajl_gen gen, const struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		put_thread(gen, &timeline->threads[i]);
}

/* ---- hits ---- */

static void put_hits(yajl_gen gen, const struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->hit_cnt; i++) {
		yajl_gen_map_open(gen);
		hit_json(gen, timeline, i);
		end_line(gen);
	}
}

static int put_timeline(const char *path, void (*put)(yajl_gen gen, const struct timeline *timeline))
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	CLEANUP(yajl_gen_freep) yajl_gen gen = json_lines_to_stdout();
	int err = gen ? decode_file(&decoded, path, &(struct decode_config){0}) : -ENOMEM;

	if (!err)
		put(gen, decoded_timeline(decoded));
	return err;
}

int dump_json_slices(const char *path)
{
	return put_timeline(path, put_slices);
}

int dump_json_hits(const char *path)
{
	return put_timeline(path, put_hits);
}
