/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data of the page (html.h). Its JSON:
 *
 *	command, source, stopped_by: strings; realtime_ms: time 0 since the epoch
 *	symbols: [name, object, file or null, line, address, what a relative file is relative to, if known];
 *		the first five are the slices that are no calls, in the order of their kinds
 *	sources: {FILE: [[number of the first line, [LINE, ...]], ...]} (html_sources.h)
 *	threads: {pid, tid, name, slices: how many, instants: [time, text, whether it is no gap, number of an
 *		allocation, which its end has, too],
 *		details: [index of a slice that is no call, name, title or null, about, woken by, result or
 *		null]}
 *	hits: {trigger, symbol, time, ...}; stack: [address (0: not recorded, an open call), symbol, offset in
 *		it]; registers in the order of enum hit_reg; addresses and registers are strings, in
 *		hexadecimal
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/spill.h"
#include "output/html.h"
#include "output/html_parts.h"
#include "output/html_sources.h"
#include "output/shown_args.h"
#include "timeline/hit_frames.h"

enum { NOT_CALLS = SLICE_KIND_CNT - 1 };

/* Symbols numbered as they come. */
struct numbers {
	const struct symbol **symbols; /* by number */
	size_t cnt, cap;
	struct hash_index index;
};

struct data {
	const struct timeline *timeline;
	struct html_bytes out;
	struct numbers numbers;
	struct html_part *parts; /* by thread */
};

/* ---- symbols ---- */

/* HASH_INDEX_END: it has no number yet. */
static size_t find_symbol(const struct numbers *numbers, const struct symbol *symbol)
{
	size_t at = 0;

	return hash_index_next(&numbers->index, hash_number(0, (uintptr_t)symbol), &at);
}

static int number_symbol(struct numbers *numbers, const struct symbol *symbol)
{
	int err;

	if (!symbol || find_symbol(numbers, symbol) != HASH_INDEX_END)
		return 0;
	err = ARRAY_PUSH(numbers->symbols, numbers->cnt, numbers->cap, symbol);
	return err ? err
		   : hash_index_add(&numbers->index, hash_number(0, (uintptr_t)symbol), numbers->cnt - 1);
}

static uint32_t symbol_number(const struct numbers *numbers, const struct symbol *symbol)
{
	return NOT_CALLS + (uint32_t)find_symbol(numbers, symbol);
}

static uint32_t slice_number(const struct numbers *numbers, const struct slice *slice)
{
	unsigned int kind = slice->kind == SLICE_CALL ? SLICE_UNKNOWN : slice->kind;

	return slice->symbol ? symbol_number(numbers, slice->symbol) : kind - 1;
}

static int number_symbols(struct data *data)
{
	const struct timeline *timeline = data->timeline;
	int err = 0;

	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		for (size_t j = 0; j < html_part_slice_cnt(&data->parts[i]) && !err; j++)
			err = number_symbol(
				&data->numbers,
				html_part_slice(&timeline->threads[i], &data->parts[i], j)->symbol);
	for (size_t i = 0; i < timeline->hit_cnt && !err; i++) {
		const struct timeline_hit *hit = &timeline->hits[i];

		err = number_symbol(&data->numbers, hit->symbol);
		for (size_t j = 0; j < hit->hit->stack_cnt && !err; j++)
			err = number_symbol(&data->numbers, hit->stack_symbols[j]);
	}
	return err;
}

/* ---- JSON ---- */

static void put_symbols(struct data *data)
{
	html_put_text(&data->out, ",\"symbols\":[");
	for (int kind = SLICE_CALL + 1; kind < SLICE_KIND_CNT; kind++) {
		html_put_text(&data->out, "%s[", kind > SLICE_CALL + 1 ? "," : "");
		html_put_string(&data->out, slice_name(&(struct slice){.kind = (uint8_t)kind}));
		html_put_text(&data->out, ",\"\",null,0,\"0\"]");
	}
	for (size_t i = 0; i < data->numbers.cnt; i++) {
		const struct symbol *symbol = data->numbers.symbols[i];

		html_put_text(&data->out, ",[");
		html_put_string(&data->out, symbol->name);
		html_put(&data->out, ',');
		html_put_string(&data->out, symbol->object);
		html_put(&data->out, ',');
		if (symbol->file)
			html_put_string(&data->out, symbol->file);
		else
			html_put_text(&data->out, "null");
		html_put_text(&data->out, ",%" PRIu32 ",\"%" PRIx64 "\"", symbol->line, symbol->start);
		if (symbol->file_dir && symbol->file && symbol->file[0] != '/') {
			html_put(&data->out, ',');
			html_put_string(&data->out, symbol->file_dir);
		}
		html_put(&data->out, ']');
	}
	html_put(&data->out, ']');
}

static void put_instant(struct data *data, const struct instant *instant, size_t *cnt)
{
	html_put_text(&data->out, "%s[%" PRIu64 ",", (*cnt)++ ? "," : "", instant->time_ns);
	html_put_string(&data->out, instant->text);
	html_put_text(&data->out, ",%d", instant->is_event);
	if (instant->number || instant->stack)
		html_put_text(&data->out, ",%" PRIu64, instant->number);
	if (instant->stack)
		html_put_text(&data->out, ",%" PRIu32, instant->stack->nth);
	html_put(&data->out, ']');
}

static void put_stacks(struct data *data)
{
	html_put_text(&data->out, ",\"stacks\":[");
	for (size_t i = 0; i < data->timeline->stack_text_cnt; i++) {
		if (i)
			html_put(&data->out, ',');
		html_put_string(&data->out, data->timeline->stack_texts[i]->text);
	}
	html_put(&data->out, ']');
}

static void put_left_out(struct data *data, uint64_t time_ns, size_t left_out, size_t *cnt)
{
	char text[64];

	snprintf(text, sizeof(text), "[%zu calls left out]", left_out);
	if (left_out)
		put_instant(data, &(struct instant){.time_ns = time_ns, .text = text}, cnt);
}

/* In the order of time, with what is left out between those of the trace. */
static void put_instants(struct data *data, const struct timeline_thread *thread,
			 const struct html_part *part)
{
	size_t before = part->from - part->open_cnt, behind = thread->slice_cnt - part->to, cnt = 0, i = 0;
	uint64_t from_ns = before && part->from < thread->slice_cnt ? thread->slices[part->from].start_ns : 0;
	uint64_t to_ns = behind ? thread->slices[part->to].start_ns : UINT64_MAX;

	while (i < thread->instant_cnt && thread->instants[i].time_ns < from_ns)
		i++;
	put_left_out(data, from_ns, before, &cnt);
	for (; i < thread->instant_cnt && thread->instants[i].time_ns <= to_ns; i++)
		put_instant(data, &thread->instants[i], &cnt);
	put_left_out(data, to_ns, behind, &cnt);
}

static void put_detail(struct data *data, size_t index, const struct slice_detail *detail)
{
	html_put_text(&data->out, "[%zu,", index);
	html_put_string(&data->out, detail->name);
	html_put(&data->out, ',');
	if (detail->title)
		html_put_string(&data->out, detail->title);
	else
		html_put_text(&data->out, "null");
	html_put(&data->out, ',');
	html_put_string(&data->out, detail->about ? detail->about : "");
	html_put(&data->out, ',');
	html_put_string(&data->out, detail->woken_by ? detail->woken_by : "");
	html_put(&data->out, ',');
	html_put_string(&data->out, detail->behind ? detail->behind : "");
	if (detail->has_result)
		html_put_text(&data->out, ",\"%" PRId64 "\"]", detail->result);
	else
		html_put_text(&data->out, ",null]");
}

static void put_details(struct data *data, const struct timeline_thread *thread, const struct html_part *part)
{
	size_t cnt = 0;

	for (size_t i = 0; i < html_part_slice_cnt(part); i++) {
		const struct slice_detail *detail = slice_detail(html_part_slice(thread, part, i));

		if (!detail)
			continue;
		html_put_text(&data->out, "%s", cnt++ ? "," : "");
		put_detail(data, i, detail);
	}
}

static void put_threads(struct data *data)
{
	html_put_text(&data->out, ",\"threads\":[");
	for (size_t i = 0; i < data->timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &data->timeline->threads[i];

		html_put_text(&data->out, "%s{\"pid\":%d,\"tid\":%d,\"slices\":%zu", i ? "," : "",
			      thread->pid, thread->tid, html_part_slice_cnt(&data->parts[i]));
		html_put_member(&data->out, "name", thread->name);
		html_put_text(&data->out, ",\"instants\":[");
		put_instants(data, thread, &data->parts[i]);
		html_put_text(&data->out, "],\"details\":[");
		put_details(data, thread, &data->parts[i]);
		html_put_text(&data->out, "]}");
	}
	html_put(&data->out, ']');
}

static void put_hex(struct data *data, const char *name, const uint64_t *values, size_t cnt)
{
	html_put_text(&data->out, ",\"%s\":[", name);
	for (size_t i = 0; i < cnt; i++)
		html_put_text(&data->out, "%s\"%llx\"", i ? "," : "", (unsigned long long)values[i]);
	html_put(&data->out, ']');
}

/* null: it is no argument. */
static void put_args(struct data *data, const struct hit *hit)
{
	html_put_text(&data->out, ",\"args\":[");
	for (size_t i = 0; hit->args_known >> i; i++)
		html_put_text(&data->out, hit->args_known & 1u << i ? "%s\"%llx\"" : "%snull", i ? "," : "",
			      (unsigned long long)hit_arg(hit, i));
	html_put(&data->out, ']');
}

static void put_values(struct data *data, const struct timeline_hit *placed)
{
	html_put_text(&data->out, ",\"values\":[");
	for (size_t i = 0; i < placed->value_cnt; i++) {
		const struct timeline_value *value = &placed->values[i];

		html_put_text(&data->out, "%s{\"nth\":%zu", i ? "," : "", i);
		html_put_member(&data->out, "name", value->name);
		html_put_member(&data->out, "text", value->text ? value->text : SHOWN_UNREADABLE);
		html_put(&data->out, '}');
	}
	html_put(&data->out, ']');
}

static void put_symbol_number(struct data *data, const struct symbol *symbol)
{
	if (symbol)
		html_put_text(&data->out, "%" PRIu32, symbol_number(&data->numbers, symbol));
	else
		html_put_text(&data->out, "null");
}

static void put_hit_stack(struct data *data, const struct timeline_hit *placed)
{
	CLEANUP(freep) struct hit_frame *frames = NULL;
	size_t cnt = 0;
	int err = hit_frames_find(data->timeline, placed, &frames, &cnt);

	if (!data->out.err)
		data->out.err = err;
	html_put_text(&data->out, ",\"stack\":[");
	for (size_t i = 0; i < cnt; i++) {
		const struct symbol *symbol = frames[i].symbol;
		uint64_t ip = frames[i].ip;

		html_put_text(&data->out, "%s[\"%" PRIx64 "\",", i ? "," : "", ip);
		put_symbol_number(data, symbol);
		if (symbol && symbol->named && ip >= symbol->start)
			html_put_text(&data->out, ",\"+0x%" PRIx64 "\"]", ip - symbol->start);
		else
			html_put_text(&data->out, ",\"\"]");
	}
	html_put(&data->out, ']');
	if (hit_frames_are_cut(placed, frames, cnt))
		html_put_text(&data->out, ",\"cut\":true");
}

static void put_hit(struct data *data, const struct timeline_hit *placed)
{
	const struct hit *hit = placed->hit;
	char comm[HIT_COMM_BYTES + 1] = "";
	struct caught_hit caught;

	memcpy(comm, hit->comm, HIT_COMM_BYTES);
	html_put_text(&data->out,
		      "{\"time\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"cpu\":%u,\"symbol\":", placed->time_ns,
		      hit->pid, hit->tid, hit->cpu);
	put_symbol_number(data, placed->symbol);
	html_put_member(&data->out, "trigger", timeline_trigger(data->timeline, hit));
	html_put_member(&data->out, "comm", comm);
	html_put_text(&data->out, ",\"elapsed\":%llu,\"goroutine\":\"%llu\",\"stopped_after\":%llu",
		      (unsigned long long)(hit->time_ns - hit->begin_ns), (unsigned long long)hit->goroutine,
		      (unsigned long long)(hit->stopped_ns ? hit->stopped_ns - hit->time_ns : 0));
	html_put_text(&data->out, ",\"monotonic_ns\":\"%llu\",\"return_address\":\"%llx\"",
		      (unsigned long long)hit->time_ns, (unsigned long long)hit->return_address);
	put_args(data, hit);
	put_values(data, placed);
	hit_unpack(hit, &caught);
	put_hex(data, "regs", caught.regs, HIT_REG_CNT);
	put_hit_stack(data, placed);
	html_put(&data->out, '}');
}

static void put_counter(struct data *data, const struct counter *counter)
{
	html_put_text(&data->out, "{\"pid\":%d", counter->pid);
	html_put_member(&data->out, "name", counter->name);
	html_put_text(&data->out, ",\"points\":[");
	for (size_t i = 0; i < counter->point_cnt; i++)
		html_put_text(&data->out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			      counter->points[i].time_ns, counter->points[i].value);
	html_put_text(&data->out, "]}");
}

static void put_flows(struct data *data)
{
	const struct timeline *timeline = data->timeline;
	size_t cnt = 0;

	html_put_text(&data->out, ",\"flows\":[");
	for (size_t i = 0; i < timeline->flow_cnt; i++) {
		const struct flow *flow = &timeline->flows[i];
		const struct timeline_thread *from = timeline_thread_of(timeline, flow->from_tid);
		const struct timeline_thread *to = timeline_thread_of(timeline, flow->to_tid);

		if (from && to)
			html_put_text(&data->out, "%s[%td,%" PRIu64 ",%td,%" PRIu64 "]", cnt++ ? "," : "",
				      from - timeline->threads, flow->from_ns, to - timeline->threads,
				      flow->to_ns);
	}
	html_put(&data->out, ']');
}

static int put_json(struct data *data)
{
	const struct timeline *timeline = data->timeline;
	int err;

	html_put_text(&data->out, "{\"realtime_ms\":%" PRIu64, timeline->base_realtime_ns / 1000000);
	html_put_member(&data->out, "command", timeline->command);
	html_put_member(&data->out, "source", timeline->source);
	html_put_member(&data->out, "stopped_by", timeline->stopped_by);
	put_symbols(data);
	err = html_put_sources(&data->out, data->numbers.symbols, data->numbers.cnt);
	put_threads(data);
	put_stacks(data);
	put_flows(data);
	html_put_text(&data->out, ",\"hits\":[");
	for (size_t i = 0; i < timeline->hit_cnt; i++) {
		if (i)
			html_put(&data->out, ',');
		put_hit(data, &timeline->hits[i]);
	}
	html_put_text(&data->out, "],\"counters\":[");
	for (size_t i = 0; i < timeline->counter_cnt; i++) {
		if (i)
			html_put(&data->out, ',');
		put_counter(data, &timeline->counters[i]);
	}
	html_put_text(&data->out, "]}");
	html_put(&data->out, 0);
	return err;
}

/* ---- columns ---- */

enum column { COLUMN_START, COLUMN_DURATION, COLUMN_DEPTH, COLUMN_SYMBOL, COLUMN_FLAGS, COLUMN_CNT };

static uint64_t cell(const struct data *data, enum column column, const struct slice *slice,
		     const struct slice *before)
{
	switch (column) {
	case COLUMN_START:
		return slice->start_ns - (before ? before->start_ns : 0);
	case COLUMN_DURATION:
		return slice->end_ns - slice->start_ns;
	case COLUMN_DEPTH:
		return before ? before->depth + 1 - slice->depth : 0;
	case COLUMN_SYMBOL:
		return slice_number(&data->numbers, slice);
	default:
		return slice->flags & (SLICE_DETAILED - 1u);
	}
}

static void put_column(struct data *data, enum column column, const struct timeline_thread *thread,
		       const struct html_part *part)
{
	const struct slice *before = NULL;

	for (size_t i = 0; i < html_part_slice_cnt(part); i++) {
		const struct slice *slice = html_part_slice(thread, part, i);

		SPILL_PASS_TO(thread->slices, i, (size_t)(slice - thread->slices));
		html_put_number(&data->out, cell(data, column, slice, before));
		before = slice;
	}
}

static void data_release(struct data *data)
{
	html_parts_free(data->parts, data->timeline->thread_cnt);
	free(data->numbers.symbols);
	hash_index_release(&data->numbers.index);
}

int html_write_data(const struct timeline *timeline, struct gzip *gzip, size_t max, size_t *ret_left_out)
{
	CLEANUP(data_release) struct data data = {.timeline = timeline, .out.gzip = gzip};
	int err = html_parts_choose(timeline, max, &data.parts, ret_left_out);

	if (!err)
		err = number_symbols(&data);
	if (err)
		return err;
	err = put_json(&data);
	if (err)
		return err;
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		for (int column = 0; column < COLUMN_CNT; column++)
			put_column(&data, (enum column)column, &timeline->threads[i], &data.parts[i]);
	return html_end(&data.out);
}
