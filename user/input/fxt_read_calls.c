/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads with their calls and instants. Calls are made to nest: a call that is written with its end limits
 * the calls within it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/spill.h"
#include "input/fxt_read_internal.h"

static const char inferred_suffix[] = " [inferred start time]"; /* magic-trace's */

static int thread_of(struct reading *reading, uint64_t shown_pid, uint64_t shown_tid, size_t *ret_index)
{
	struct timeline *timeline = reading->timeline;
	struct timeline_thread fresh = {.pid = fxt_id_of(shown_pid), .tid = fxt_id_of(shown_tid)};
	uint64_t hash = hash_number(hash_number(0, (uint32_t)fresh.pid), (uint32_t)fresh.tid);
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&reading->by_id, hash, &at)) != HASH_INDEX_END;) {
		if (timeline->threads[i].pid != fresh.pid || timeline->threads[i].tid != fresh.tid)
			continue;
		*ret_index = i;
		return 0;
	}
	err = ARRAY_PUSH(reading->tracks, reading->track_cnt, reading->track_cap, (struct track){0});
	if (!err)
		err = hash_index_add(&reading->by_id, hash, timeline->thread_cnt);
	fresh.name = err ? NULL : strdup("");
	if (!fresh.name)
		return -ENOMEM;
	*ret_index = timeline->thread_cnt;
	err = ARRAY_PUSH(timeline->threads, timeline->thread_cnt, timeline->thread_cap, fresh);
	if (err)
		free(fresh.name);
	return err;
}

int fxt_name_of_thread(struct reading *reading, const struct fxt_read_event *event)
{
	size_t index;
	int err;

	if (event->pid == SHOWN_HITS)
		return 0;
	err = thread_of(reading, event->pid, event->tid, &index);
	return err ? err : fxt_replace_text(&reading->timeline->threads[index].name, event->name);
}

static int goroutine_of(struct timeline *timeline, const struct fxt_read_event *event, uint16_t *ret_index)
{
	uint64_t wanted = fxt_number(event, "goroutine", 0);
	size_t i = timeline->goroutine_cnt;
	int err = 0;

	if (!wanted)
		return 0;
	while (i > 0 && timeline->goroutines[i - 1] != wanted)
		i--;
	if (!i && timeline->goroutine_cnt < UINT16_MAX) {
		err = ARRAY_PUSH(timeline->goroutines, timeline->goroutine_cnt, timeline->goroutine_cap,
				 wanted);
		i = timeline->goroutine_cnt;
	}
	*ret_index = (uint16_t)i;
	return err;
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* A pause of which more is known says so in its arguments, and its title says more than its name. */
static int detail_of(struct reading *reading, const struct fxt_read_event *event, struct slice *slice)
{
	struct slice_detail detail = {
		.name = fxt_text(event, "counted_as", event->name),
		.title = strcmp(detail.name, event->name) ? strdup(event->name) : NULL,
		.about = copy_of(fxt_text(event, "about", NULL)),
		.file = copy_of(fxt_text(event, "refers_to", NULL)),
		.woken_by = copy_of(fxt_text(event, "woken_by", NULL)),
		.behind = copy_of(fxt_text(event, "behind", NULL)),
		.result = (int64_t)fxt_number(event, "result", 0),
		.has_result = fxt_arg(event, "result"),
		.timeout_ns = (int64_t)fxt_number(event, "timeout_ns", 0),
		.has_timeout = fxt_arg(event, "timeout_ns"),
		.futex = fxt_number(event, "futex", 0),
		.has_futex = fxt_arg(event, "futex"),
		.fd = (int32_t)fxt_number(event, "fd", 0),
		.has_fd = fxt_arg(event, "fd"),
	};

	slice->flags |= SLICE_DETAILED;
	return timeline_add_detail(reading->timeline, &detail, &slice->detail);
}

static bool has_detail(const struct fxt_read_event *event, struct slice *slice)
{
	const char *kind = fxt_text(event, "kind", NULL);

	if (!kind || !fxt_arg(event, "counted_as"))
		return false;
	for (slice->kind = SLICE_SYSCALL; slice->kind < SLICE_KIND_CNT; slice->kind++)
		if (!strcmp(slice_kind_name(slice->kind), kind))
			return true;
	slice->kind = SLICE_CALL;
	return false;
}

/* "[syscall]" and the like stand for themselves, unless the file says where that function is. */
static bool is_pause(const struct fxt_read_event *event, struct slice *slice)
{
	for (slice->kind = SLICE_SYSCALL; slice->kind < SLICE_KIND_CNT; slice->kind++)
		if (!strcmp(slice_name(slice), event->name) && !fxt_arg(event, "object"))
			return true;
	slice->kind = SLICE_CALL;
	return false;
}

static int symbol_of(struct reading *reading, const struct fxt_read_event *event, struct slice *slice)
{
	struct symbol symbol = {.name = event->name,
				.object = fxt_text(event, "object", ""),
				.file = fxt_text(event, "file", NULL),
				.line = (uint32_t)fxt_number(event, "line", 0)};
	size_t len = strlen(event->name), suffix = sizeof(inferred_suffix) - 1;

	if (len > suffix && !strcmp(event->name + len - suffix, inferred_suffix)) {
		int err = fxt_names_text(reading->names, event->name, len - suffix, &symbol.name);

		if (err)
			return err;
		slice->flags |= SLICE_INFERRED_START;
	}
	return fxt_names_symbol(reading->names, &symbol, &slice->symbol);
}

/* The slice that begins with the event, not yet at its depth. */
static int make_slice(struct reading *reading, const struct fxt_read_event *event, struct slice *slice)
{
	int err = 0;

	*slice = (struct slice){.end_ns = event->type == FXT_READ_COMPLETE ? event->end_ns : 0};
	slice->flags = (uint8_t)((fxt_arg(event, "inferred_start_time") ? SLICE_INFERRED_START : 0) |
				 (fxt_arg(event, "inlined") ? SLICE_INLINED : 0) |
				 (fxt_arg(event, "open_at_end") ? SLICE_OPEN_END : 0) |
				 (fxt_arg(event, "sampled") ? SLICE_SAMPLED : 0));
	if (has_detail(event, slice)) {
		err = detail_of(reading, event, slice);
	} else if (!is_pause(event, slice)) {
		slice->ip = fxt_number(event, "address", 0);
		err = symbol_of(reading, event, slice);
	}
	return err ? err : goroutine_of(reading->timeline, event, &slice->goroutine);
}

static uint64_t limit_of(const struct track *track)
{
	return track->open_cnt ? track->open[track->open_cnt - 1].limit_ns : UINT64_MAX;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void pop_call(struct reading *reading, size_t index, uint64_t time_ns)
{
	struct track *track = &reading->tracks[index];
	struct slice *slice =
		&reading->timeline->threads[index].slices[track->open[track->open_cnt - 1].slice];

	time_ns = earlier(time_ns, limit_of(track));
	slice->end_ns = time_ns > slice->start_ns ? time_ns : slice->start_ns;
	track->open_cnt--;
}

static int push_call(struct reading *reading, size_t index, const struct mark *mark)
{
	struct timeline_thread *thread = &reading->timeline->threads[index];
	struct track *track = &reading->tracks[index];
	struct open_call call = {.slice = thread->slice_cnt, .limit_ns = limit_of(track)};
	struct slice slice = mark->slice;
	int err;

	if (mark->type == FXT_READ_COMPLETE) {
		call.ends_by_itself = true;
		call.limit_ns = earlier(call.limit_ns, mark->slice.end_ns);
	}
	slice.start_ns = slice.end_ns = earlier(track->call_ns, limit_of(track));
	if (call.limit_ns < slice.start_ns)
		call.limit_ns = slice.start_ns;
	slice.depth = (uint32_t)track->open_cnt;
	err = ARRAY_PUSH(track->open, track->open_cnt, track->open_cap, call);
	return err ? err : SPILL_PUSH(thread->slices, thread->slice_cnt, thread->slice_cap, slice);
}

static bool is_over(const struct track *track, uint64_t time_ns)
{
	const struct open_call *last = track->open_cnt ? &track->open[track->open_cnt - 1] : NULL;

	return last && last->ends_by_itself && last->limit_ns <= time_ns;
}

static int apply_call(struct reading *reading, size_t index, const struct mark *mark)
{
	struct track *track = &reading->tracks[index];

	track->call_ns = mark->key.value;
	while (is_over(track, track->call_ns))
		pop_call(reading, index, track->call_ns);
	if (mark->type != FXT_READ_END)
		return push_call(reading, index, mark);
	while (track->open_cnt && track->open[track->open_cnt - 1].ends_by_itself)
		pop_call(reading, index, track->call_ns);
	if (track->open_cnt)
		pop_call(reading, index, track->call_ns);
	else
		reading->no_begin++;
	return 0;
}

static bool is_gap(const char *text)
{
	return !strncmp(text, "[gap", 4) || !strncmp(text, "[decode error", 13);
}

static int add_args(struct instant *instant, const struct fxt_read_event *event)
{
	int err = 0;

	for (size_t i = 0; i < event->arg_cnt && !err; i++) {
		const struct fxt_read_arg *from = &event->args[i];
		const struct instant_arg arg = {.name = from->name,
						.type = from->text	   ? INSTANT_TEXT
							: from->is_address ? INSTANT_ADDRESS
									   : INSTANT_NUMBER,
						.number = from->value,
						.text = (char *)from->text};

		err = instant_add_arg(instant, &arg);
	}
	return err;
}

void fxt_mark_release(struct mark *mark)
{
	if (mark->type == FXT_READ_INSTANT)
		instant_release(&mark->instant);
}

/* On failure, too, the instant has to be released. */
static int make_instant(struct reading *reading, const struct fxt_read_event *event, struct instant *instant)
{
	bool ends = !strcmp(event->name, INSTANT_ALLOC_END);
	const struct fxt_read_arg *stack = fxt_arg(event, INSTANT_STACK);
	const struct instant_alloc alloc = {.function = ends ? NULL : event->name,
					    .number = fxt_number(event, INSTANT_ALLOC_NUMBER, UINT64_MAX),
					    .bytes = fxt_number(event, INSTANT_ALLOC_BYTES, UINT64_MAX),
					    .address = fxt_number(event, INSTANT_ALLOC_ADDRESS, UINT64_MAX),
					    .lifetime_ns =
						    fxt_number(event, INSTANT_ALLOC_LIFETIME, UINT64_MAX)};

	instant->time_ns = event->time_ns;
	if (alloc.number != UINT64_MAX && stack && stack->text) {
		instant->stack = timeline_stack_text(reading->timeline, stack->text);
		if (!instant->stack)
			return -ENOMEM;
	}
	if (alloc.number != UINT64_MAX)
		return instant_set_alloc(instant, &alloc);
	instant->is_event = !is_gap(event->name);
	instant->text = strdup(event->name);
	return instant->text ? add_args(instant, event) : -ENOMEM;
}

/* The timeline owns the mark's instant from then on. */
static int apply_instant(struct reading *reading, size_t index, struct mark *mark)
{
	struct timeline_thread *thread = &reading->timeline->threads[index];
	int err = ARRAY_PUSH(thread->instants, thread->instant_cnt, thread->instant_cap, mark->instant);

	reading->tracks[index].instant_ns = mark->key.value;
	if (!err)
		mark->instant = (struct instant){0};
	return err;
}

/* At once, if that is possible. */
static int take_mark(struct reading *reading, size_t index, struct mark *mark)
{
	struct track *track = &reading->tracks[index];
	bool is_instant = mark->type == FXT_READ_INSTANT;

	if (reading->sorts) {
		mark->key.nth = track->mark_cnt;
		return SPILL_PUSH(track->marks, track->mark_cnt, track->mark_cap, *mark);
	}
	if (mark->key.value < (is_instant ? track->instant_ns : track->call_ns))
		return NOT_IN_ORDER;
	return is_instant ? apply_instant(reading, index, mark) : apply_call(reading, index, mark);
}

static int apply_marks(struct reading *reading, size_t index)
{
	struct track *track = &reading->tracks[index];
	int err = 0;

	sort_array(track->marks, track->mark_cnt, sizeof(*track->marks), sort_by_key);
	for (size_t i = 0; i < track->mark_cnt && !err; i++) {
		SPILL_PASS(track->marks, i);
		err = track->marks[i].type == FXT_READ_INSTANT
			      ? apply_instant(reading, index, &track->marks[i])
			      : apply_call(reading, index, &track->marks[i]);
	}
	return err;
}

/* What is open where the file ends was so where the trace ended. */
static void end_calls(struct reading *reading, size_t index)
{
	struct track *track = &reading->tracks[index];

	for (size_t i = 0; i < track->open_cnt; i++)
		if (track->open[i].ends_by_itself && track->open[i].limit_ns > track->call_ns)
			track->call_ns = track->open[i].limit_ns;
	while (track->open_cnt) {
		const struct open_call *last = &track->open[track->open_cnt - 1];

		if (!last->ends_by_itself)
			reading->timeline->threads[index].slices[last->slice].flags |= SLICE_OPEN_END;
		pop_call(reading, index, track->call_ns);
	}
}

/* magic-trace says only which thread was hit. */
static void find_processes(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->hit_cnt; i++) {
		struct hit *hit = timeline->hit_list->hits[i];

		for (size_t j = 0; j < timeline->thread_cnt && !hit->pid; j++)
			if (timeline->threads[j].tid == (int32_t)hit->tid)
				hit->pid = (uint32_t)timeline->threads[j].pid;
	}
}

int fxt_finish_threads(struct reading *reading)
{
	int err = 0;

	for (size_t i = 0; i < reading->track_cnt && !err; i++) {
		err = apply_marks(reading, i);
		end_calls(reading, i);
	}
	find_processes(reading->timeline);
	return err;
}

int fxt_read_thread_event(struct reading *reading, const struct fxt_read_event *event)
{
	struct mark mark = {.key.value = event->time_ns, .type = event->type};
	size_t index;
	int err = thread_of(reading, event->pid, event->tid, &index);

	if (event->type == FXT_READ_COMPLETE && is_gap(event->name))
		mark.type = FXT_READ_INSTANT;
	if (!err && (mark.type == FXT_READ_BEGIN || mark.type == FXT_READ_COMPLETE))
		err = make_slice(reading, event, &mark.slice);
	if (!err && mark.type == FXT_READ_INSTANT)
		err = make_instant(reading, event, &mark.instant);
	if (!err)
		err = take_mark(reading, index, &mark);
	if (err || !reading->sorts)
		fxt_mark_release(&mark);
	return err;
}
