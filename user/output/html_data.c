/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data of the page (html.h). Its JSON:
 *
 *	command, source, stopped_by: strings; realtime_ms: time 0 since the epoch
 *	symbols: [name, object, file or null, line, address]; the first five are the slices that are no calls, in the order of their kinds
 *	threads: {pid, tid, name, slices: how many, instants: [time, text, whether it is no gap, number of an
 *		allocation, which its end has, too],
 *		details: [index of a slice that is no call, name, title or null, about, woken by, result or null]}
 *	hits: {trigger, symbol, time, ...}; stack: [address, symbol, offset in it]; registers in the order of enum hit_reg; addresses and registers are
 *		strings, in hexadecimal
 *	flows: [thread, time, thread, time]: which wakes which; threads by index
 *	counters: {pid, name, points: [time, value], in the order of time}
 *
 * A name may be any bytes; what is no UTF-8 in it is the page's to replace.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/spill.h"
#include "output/html.h"
#include "output/shown.h"

enum { NOT_CALLS = SLICE_KIND_CNT - 1, TABLE_BEGIN = 1 << 10 };

/* Symbols numbered as they come: open addressing, half full at most. */
struct numbers {
	const struct symbol **symbols; /* by number */
	size_t cnt, cap;
	uint32_t *table; /* number + 1, or 0 */
	size_t table_size;
};

/* The slices of a thread that are written: those open where the rest begins, and the rest. */
struct part {
	size_t *open;
	size_t open_cnt, open_cap;
	size_t from, to;
};

struct data {
	const struct timeline *timeline;
	struct gzip *gzip;
	size_t used; /* of its buffer */
	int err;     /* sticks */
	struct numbers numbers;
	struct part *parts; /* by thread */
};

/* ---- bytes ---- */

static void put(struct data *data, uint8_t byte)
{
	gzip_buffer(data->gzip)[data->used++] = byte;
	if (data->used < GZIP_BUFFER)
		return;
	data->used = 0;
	if (!data->err)
		data->err = gzip_push(data->gzip, GZIP_BUFFER, false);
}

static void put_number(struct data *data, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		put(data, (uint8_t)(number | 0x80));
	put(data, (uint8_t)number);
}

static void __attribute__((format(printf, 2, 3))) put_text(struct data *data, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (const char *at = text; *at; at++)
		put(data, (uint8_t)*at);
}

static void put_string(struct data *data, const char *string)
{
	put(data, '"');
	for (const char *at = string; *at; at++) {
		if ((unsigned char)*at < ' ' || *at == '"' || *at == '\\')
			put_text(data, "\\u%04x", (unsigned char)*at);
		else
			put(data, (uint8_t)*at);
	}
	put(data, '"');
}

static void put_member(struct data *data, const char *name, const char *string)
{
	put_text(data, ",\"%s\":", name);
	put_string(data, string ? string : "");
}

/* ---- symbols ---- */

static uint32_t *table_slot(const struct numbers *numbers, const struct symbol *symbol)
{
	size_t slot = ((uintptr_t)symbol >> 4) * 0x9e3779b97f4a7c15ull >> 20;

	for (;; slot++) {
		uint32_t *entry = &numbers->table[slot & (numbers->table_size - 1)];

		if (!*entry || numbers->symbols[*entry - 1] == symbol)
			return entry;
	}
}

static int table_grow(struct numbers *numbers)
{
	size_t size = numbers->table_size ? numbers->table_size * 2 : TABLE_BEGIN;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	free(numbers->table);
	numbers->table = table;
	numbers->table_size = size;
	for (size_t i = 0; i < numbers->cnt; i++)
		*table_slot(numbers, numbers->symbols[i]) = (uint32_t)i + 1;
	return 0;
}

static int number_symbol(struct numbers *numbers, const struct symbol *symbol)
{
	int err = 0;
	uint32_t *entry;

	if (!symbol)
		return 0;
	if (numbers->cnt * 2 >= numbers->table_size)
		err = table_grow(numbers);
	if (err)
		return err;
	entry = table_slot(numbers, symbol);
	if (*entry)
		return 0;
	err = ARRAY_PUSH(numbers->symbols, numbers->cnt, numbers->cap, symbol);
	if (!err)
		*entry = (uint32_t)numbers->cnt;
	return err;
}

static uint32_t symbol_number(const struct numbers *numbers, const struct symbol *symbol)
{
	return NOT_CALLS + *table_slot(numbers, symbol) - 1;
}

static uint32_t slice_number(const struct numbers *numbers, const struct slice *slice)
{
	unsigned int kind = slice->kind == SLICE_CALL ? SLICE_UNKNOWN : slice->kind;

	return slice->symbol ? symbol_number(numbers, slice->symbol) : kind - 1;
}

/* ---- which slices ---- */

/* How many slices each thread may have, so that all have max together. */
static size_t thread_share(const struct timeline *timeline, size_t max)
{
	size_t low = 0, high = max;

	while (low <= high) {
		size_t sum = 0, share = low + (high - low) / 2;

		for (size_t i = 0; i < timeline->thread_cnt; i++) {
			size_t cnt = timeline->threads[i].slice_cnt;

			sum += cnt < share ? cnt : share;
		}
		if (sum <= max)
			low = share + 1;
		else
			high = share - 1;
	}
	return low - 1;
}

/* Three quarters of the share lie before the first hit, the rest behind it. */
static void choose_range(const struct timeline *timeline, const struct timeline_thread *thread, size_t share,
			 struct part *part)
{
	size_t middle = timeline->hit_cnt ? timeline_thread_begun(thread, timeline->hits[0].time_ns)
					  : thread->slice_cnt;

	part->from = 0;
	part->to = thread->slice_cnt;
	if (thread->slice_cnt <= share)
		return;
	part->from = middle > share / 4 * 3 ? middle - share / 4 * 3 : 0;
	if (part->from > thread->slice_cnt - share)
		part->from = thread->slice_cnt - share;
	part->to = part->from + share;
}

/* What is open where the range begins. */
static int find_open(const struct timeline_thread *thread, struct part *part)
{
	size_t depth = part->from < thread->slice_cnt ? thread->slices[part->from].depth : 0;
	int err = array_reserve(&part->open, &part->open_cap, depth, sizeof(*part->open));

	if (err)
		return err;
	part->open_cnt = depth;
	for (size_t i = part->from; i-- > 0 && depth;)
		if (thread->slices[i].depth == depth - 1)
			part->open[--depth] = i;
	return 0;
}

static size_t part_slice_cnt(const struct part *part)
{
	return part->open_cnt + part->to - part->from;
}

static const struct slice *part_slice(const struct timeline_thread *thread, const struct part *part, size_t i)
{
	return &thread->slices[i < part->open_cnt ? part->open[i] : part->from + i - part->open_cnt];
}

static int choose_slices(struct data *data, size_t max, size_t *ret_left_out)
{
	const struct timeline *timeline = data->timeline;
	size_t share = thread_share(timeline, max), left_out = 0;
	int err = 0;

	data->parts = calloc(timeline->thread_cnt + 1, sizeof(*data->parts));
	if (!data->parts)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->thread_cnt && !err; i++) {
		choose_range(timeline, &timeline->threads[i], share, &data->parts[i]);
		err = find_open(&timeline->threads[i], &data->parts[i]);
		left_out += timeline->threads[i].slice_cnt - part_slice_cnt(&data->parts[i]);
	}
	if (!err)
		*ret_left_out = left_out;
	return err;
}

static int number_symbols(struct data *data)
{
	const struct timeline *timeline = data->timeline;
	int err = table_grow(&data->numbers);

	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		for (size_t j = 0; j < part_slice_cnt(&data->parts[i]) && !err; j++)
			err = number_symbol(&data->numbers,
					    part_slice(&timeline->threads[i], &data->parts[i], j)->symbol);
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
	put_text(data, ",\"symbols\":[");
	for (int kind = SLICE_CALL + 1; kind < SLICE_KIND_CNT; kind++) {
		put_text(data, "%s[", kind > SLICE_CALL + 1 ? "," : "");
		put_string(data, slice_name(&(struct slice){.kind = (uint8_t)kind}));
		put_text(data, ",\"\",null,0,\"0\"]");
	}
	for (size_t i = 0; i < data->numbers.cnt; i++) {
		const struct symbol *symbol = data->numbers.symbols[i];

		put_text(data, ",[");
		put_string(data, symbol->name);
		put(data, ',');
		put_string(data, symbol->object);
		put(data, ',');
		if (symbol->file)
			put_string(data, symbol->file);
		else
			put_text(data, "null");
		put_text(data, ",%" PRIu32 ",\"%" PRIx64 "\"]", symbol->line, symbol->start);
	}
	put(data, ']');
}

static void put_instant(struct data *data, const struct instant *instant, size_t *cnt)
{
	put_text(data, "%s[%" PRIu64 ",", (*cnt)++ ? "," : "", instant->time_ns);
	put_string(data, instant->text);
	put_text(data, ",%d", instant->is_event);
	if (instant->number)
		put_text(data, ",%" PRIu64, instant->number);
	put(data, ']');
}

static void put_left_out(struct data *data, uint64_t time_ns, size_t left_out, size_t *cnt)
{
	char text[64];

	snprintf(text, sizeof(text), "[%zu calls left out]", left_out);
	if (left_out)
		put_instant(data, &(struct instant){.time_ns = time_ns, .text = text}, cnt);
}

/* In the order of time, with what is left out between those of the trace. */
static void put_instants(struct data *data, const struct timeline_thread *thread, const struct part *part)
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
	put_text(data, "[%zu,", index);
	put_string(data, detail->name);
	put(data, ',');
	if (detail->title)
		put_string(data, detail->title);
	else
		put_text(data, "null");
	put(data, ',');
	put_string(data, detail->about ? detail->about : "");
	put(data, ',');
	put_string(data, detail->woken_by ? detail->woken_by : "");
	put(data, ',');
	put_string(data, detail->behind ? detail->behind : "");
	if (detail->has_result)
		put_text(data, ",\"%" PRId64 "\"]", detail->result);
	else
		put_text(data, ",null]");
}

static void put_details(struct data *data, const struct timeline_thread *thread, const struct part *part)
{
	size_t cnt = 0;

	for (size_t i = 0; i < part_slice_cnt(part); i++) {
		const struct slice_detail *detail = slice_detail(part_slice(thread, part, i));

		if (!detail)
			continue;
		put_text(data, "%s", cnt++ ? "," : "");
		put_detail(data, i, detail);
	}
}

static void put_threads(struct data *data)
{
	put_text(data, ",\"threads\":[");
	for (size_t i = 0; i < data->timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &data->timeline->threads[i];

		put_text(data, "%s{\"pid\":%d,\"tid\":%d,\"slices\":%zu", i ? "," : "", thread->pid,
			 thread->tid, part_slice_cnt(&data->parts[i]));
		put_member(data, "name", thread->name);
		put_text(data, ",\"instants\":[");
		put_instants(data, thread, &data->parts[i]);
		put_text(data, "],\"details\":[");
		put_details(data, thread, &data->parts[i]);
		put_text(data, "]}");
	}
	put(data, ']');
}

static void put_hex(struct data *data, const char *name, const uint64_t *values, size_t cnt)
{
	put_text(data, ",\"%s\":[", name);
	for (size_t i = 0; i < cnt; i++)
		put_text(data, "%s\"%llx\"", i ? "," : "", (unsigned long long)values[i]);
	put(data, ']');
}

/* null: it is no argument. */
static void put_args(struct data *data, const struct hit *hit)
{
	put_text(data, ",\"args\":[");
	for (size_t i = 0; hit->args_known >> i; i++)
		put_text(data, hit->args_known & 1u << i ? "%s\"%llx\"" : "%snull", i ? "," : "",
			 (unsigned long long)hit_arg(hit, i));
	put(data, ']');
}

static void put_values(struct data *data, const struct timeline_hit *placed)
{
	put_text(data, ",\"values\":[");
	for (size_t i = 0; i < placed->value_cnt; i++) {
		const struct timeline_value *value = &placed->values[i];

		put_text(data, "%s{\"nth\":%zu", i ? "," : "", i);
		put_member(data, "name", value->name);
		put_member(data, "text", value->text ? value->text : SHOWN_UNREADABLE);
		put(data, '}');
	}
	put(data, ']');
}

static void put_symbol_number(struct data *data, const struct symbol *symbol)
{
	if (symbol)
		put_text(data, "%" PRIu32, symbol_number(&data->numbers, symbol));
	else
		put_text(data, "null");
}

static void put_hit_stack(struct data *data, const struct timeline_hit *placed)
{
	put_text(data, ",\"stack\":[");
	for (size_t i = 0; i < placed->hit->stack_cnt; i++) {
		const struct symbol *symbol = placed->stack_symbols[i];
		uint64_t ip = placed->hit->stack[i];

		put_text(data, "%s[\"%" PRIx64 "\",", i ? "," : "", ip);
		put_symbol_number(data, symbol);
		if (symbol && symbol->named && ip >= symbol->start)
			put_text(data, ",\"+0x%" PRIx64 "\"]", ip - symbol->start);
		else
			put_text(data, ",\"\"]");
	}
	put(data, ']');
}

static void put_hit(struct data *data, const struct timeline_hit *placed)
{
	const struct hit *hit = placed->hit;
	char comm[HIT_COMM_BYTES + 1] = "";
	struct caught_hit caught;

	memcpy(comm, hit->comm, HIT_COMM_BYTES);
	put_text(data, "{\"time\":%" PRIu64 ",\"pid\":%u,\"tid\":%u,\"cpu\":%u,\"symbol\":", placed->time_ns,
		 hit->pid, hit->tid, hit->cpu);
	put_symbol_number(data, placed->symbol);
	put_member(data, "trigger", timeline_trigger(data->timeline, hit));
	put_member(data, "comm", comm);
	put_text(data, ",\"elapsed\":%llu,\"goroutine\":\"%llu\",\"stopped_after\":%llu",
		 (unsigned long long)(hit->time_ns - hit->begin_ns), (unsigned long long)hit->goroutine,
		 (unsigned long long)(hit->stopped_ns ? hit->stopped_ns - hit->time_ns : 0));
	put_text(data, ",\"monotonic_ns\":\"%llu\",\"return_address\":\"%llx\"",
		 (unsigned long long)hit->time_ns, (unsigned long long)hit->return_address);
	put_args(data, hit);
	put_values(data, placed);
	hit_unpack(hit, &caught);
	put_hex(data, "regs", caught.regs, HIT_REG_CNT);
	put_hit_stack(data, placed);
	put(data, '}');
}

static void put_counter(struct data *data, const struct counter *counter)
{
	put_text(data, "{\"pid\":%d", counter->pid);
	put_member(data, "name", counter->name);
	put_text(data, ",\"points\":[");
	for (size_t i = 0; i < counter->point_cnt; i++)
		put_text(data, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", counter->points[i].time_ns,
			 counter->points[i].value);
	put_text(data, "]}");
}

static void put_flows(struct data *data)
{
	const struct timeline *timeline = data->timeline;
	size_t cnt = 0;

	put_text(data, ",\"flows\":[");
	for (size_t i = 0; i < timeline->flow_cnt; i++) {
		const struct flow *flow = &timeline->flows[i];
		const struct timeline_thread *from = timeline_thread_of(timeline, flow->from_tid);
		const struct timeline_thread *to = timeline_thread_of(timeline, flow->to_tid);

		if (from && to)
			put_text(data, "%s[%td,%" PRIu64 ",%td,%" PRIu64 "]", cnt++ ? "," : "",
				 from - timeline->threads, flow->from_ns, to - timeline->threads,
				 flow->to_ns);
	}
	put(data, ']');
}

static void put_json(struct data *data)
{
	const struct timeline *timeline = data->timeline;

	put_text(data, "{\"realtime_ms\":%" PRIu64, timeline->base_realtime_ns / 1000000);
	put_member(data, "command", timeline->command);
	put_member(data, "source", timeline->source);
	put_member(data, "stopped_by", timeline->stopped_by);
	put_symbols(data);
	put_threads(data);
	put_flows(data);
	put_text(data, ",\"hits\":[");
	for (size_t i = 0; i < timeline->hit_cnt; i++) {
		if (i)
			put(data, ',');
		put_hit(data, &timeline->hits[i]);
	}
	put_text(data, "],\"counters\":[");
	for (size_t i = 0; i < timeline->counter_cnt; i++) {
		if (i)
			put(data, ',');
		put_counter(data, &timeline->counters[i]);
	}
	put_text(data, "]}");
	put(data, 0);
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
		       const struct part *part)
{
	const struct slice *before = NULL;

	for (size_t i = 0; i < part_slice_cnt(part); i++) {
		const struct slice *slice = part_slice(thread, part, i);

		SPILL_PASS_TO(thread->slices, i, (size_t)(slice - thread->slices));
		put_number(data, cell(data, column, slice, before));
		before = slice;
	}
}

static void data_release(struct data *data)
{
	for (size_t i = 0; data->parts && i < data->timeline->thread_cnt; i++)
		free(data->parts[i].open);
	free(data->parts);
	free(data->numbers.symbols);
	free(data->numbers.table);
}

int html_write_data(const struct timeline *timeline, struct gzip *gzip, size_t max, size_t *ret_left_out)
{
	CLEANUP(data_release) struct data data = {.timeline = timeline, .gzip = gzip};
	int err = choose_slices(&data, max, ret_left_out);

	if (!err)
		err = number_symbols(&data);
	if (err)
		return err;
	put_json(&data);
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		for (int column = 0; column < COLUMN_CNT; column++)
			put_column(&data, (enum column)column, &timeline->threads[i], &data.parts[i]);
	err = gzip_push(gzip, data.used, true);
	return data.err ? data.err : err;
}
