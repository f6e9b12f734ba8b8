/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/shown_args.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/on_line.h"

static void put_number(struct shown_arg *arg, const char *name, uint64_t value)
{
	arg->name = name;
	arg->type = SHOWN_INT;
	arg->number = (int64_t)value;
}

static void put_pointer(struct shown_arg *arg, const char *name, uint64_t value)
{
	arg->name = name;
	arg->type = SHOWN_POINTER;
	arg->number = (int64_t)value;
}

static void put_string(struct shown_arg *arg, const char *name, const char *text)
{
	arg->name = name;
	arg->type = SHOWN_STRING;
	arg->text = text;
}

static void put_text(struct shown_arg *arg, const char *name, const char *text)
{
	arg->name = name;
	arg->type = SHOWN_TEXT;
	arg->text = text ? text : "";
}

size_t about_args(struct shown_arg args[static ABOUT_ARGS_MAX], const struct timeline *timeline)
{
	size_t cnt = 0;

	put_text(&args[cnt++], "command", timeline->command);
	put_text(&args[cnt++], "source", timeline->source);
	put_text(&args[cnt++], "stopped_by", timeline->stopped_by);
	put_number(&args[cnt++], "clock_ns", timeline->base_ns);
	put_number(&args[cnt++], "realtime_ns", timeline->base_realtime_ns);
	if (timeline->period_ns)
		put_number(&args[cnt++], "sample_period_ns", timeline->period_ns);
	return cnt;
}

/* Its kind and its name tell a reader what the title alone does not. */
static size_t put_detail(struct shown_arg *args, const struct slice *slice)
{
	const struct slice_detail *detail = slice_detail(slice);
	size_t cnt = 0;

	if (!detail)
		return 0;
	put_string(&args[cnt++], "kind", slice_kind_name(slice->kind));
	put_string(&args[cnt++], "counted_as", detail->name);
	if (detail->about)
		put_string(&args[cnt++], "about", detail->about);
	if (detail->has_fd)
		put_number(&args[cnt++], "fd", (uint64_t)detail->fd);
	if (detail->file)
		put_string(&args[cnt++], "refers_to", detail->file);
	if (detail->has_futex)
		put_pointer(&args[cnt++], "futex", detail->futex);
	if (detail->has_timeout)
		put_number(&args[cnt++], "timeout_ns", (uint64_t)detail->timeout_ns);
	if (detail->woken_by)
		put_string(&args[cnt++], "woken_by", detail->woken_by);
	if (detail->behind)
		put_string(&args[cnt++], "behind", detail->behind);
	if (detail->has_result)
		put_number(&args[cnt++], "result", (uint64_t)detail->result);
	return cnt;
}

size_t slice_args(struct shown_arg args[static SLICE_ARGS_MAX], const struct timeline *timeline,
		  const struct slice *slice)
{
	const struct symbol *symbol = slice->symbol;
	size_t cnt = put_detail(args, slice);

	if (symbol) {
		put_pointer(&args[cnt++], "address", slice_address(slice));
		put_string(&args[cnt++], "object", symbol->object);
	}
	if (slice->flags & SLICE_INFERRED_START)
		put_string(&args[cnt++], "inferred_start_time", "true");
	if (slice->goroutine)
		put_number(&args[cnt++], "goroutine", timeline->goroutines[slice->goroutine - 1]);
	if (slice->flags & SLICE_INLINED)
		put_string(&args[cnt++], "inlined", "true");
	if (slice->flags & SLICE_OPEN_END)
		put_string(&args[cnt++], "open_at_end", "true");
	if (slice->flags & SLICE_SAMPLED)
		put_string(&args[cnt++], "sampled", "true");
	return cnt;
}

size_t slice_source_args(struct shown_arg args[static SLICE_SOURCE_ARGS], const struct slice *slice)
{
	const struct symbol *symbol = slice->symbol;

	if (!symbol || !symbol->file)
		return 0;
	put_string(&args[0], "file", symbol->file);
	put_number(&args[1], "line", symbol->line);
	return 2;
}

size_t instant_args(struct shown_arg args[static SHOWN_INSTANT_ARGS], const struct instant *instant)
{
	size_t cnt = instant->arg_cnt;

	for (size_t i = 0; i < cnt; i++) {
		const struct instant_arg *arg = &instant->args[i];

		if (arg->type == INSTANT_ADDRESS)
			put_pointer(&args[i], arg->name, arg->number);
		else if (arg->type == INSTANT_NUMBER)
			put_number(&args[i], arg->name, arg->number);
		else
			args[i] =
				(struct shown_arg){.name = arg->name, .type = SHOWN_TEXT, .text = arg->text};
	}
	if (instant->stack)
		put_text(&args[cnt++], INSTANT_STACK, instant->stack->text);
	return cnt;
}

bool shown_is_word(const char *name)
{
	return !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* A plain word is the name of something else already: "= arg0". */
static void put_value(struct shown_arg *arg, const struct timeline_value *value)
{
	const char *name = value->name - (shown_is_word(value->name) ? 2 : 0);

	if (value->text && value->kind == VALUE_NUMBER)
		put_number(arg, name, (uint64_t)strtoll(value->text, NULL, 10));
	else if (value->text && value->kind == VALUE_POINTER)
		put_pointer(arg, name, strtoull(value->text, NULL, 16));
	else
		put_text(arg, name, value->text ? value->text : SHOWN_UNREADABLE);
}

size_t hit_call_args(struct shown_arg args[static HIT_CALL_ARGS_MAX], const struct timeline_hit *placed)
{
	static const char *const names[HIT_ARG_CNT] = {"arg0", "arg1", "arg2", "arg3", "arg4",	"arg5",
						       "arg6", "arg7", "arg8", "arg9", "arg10", "arg11"};
	const struct hit *hit = placed->hit;
	size_t cnt = 0;

	for (size_t i = 0; i < HIT_ARG_CNT; i++)
		if (hit->args_known & 1u << i)
			put_pointer(&args[cnt++], names[i], hit_arg(hit, i));
	if (hit->begin_ns != hit->time_ns)
		put_number(&args[cnt++], "elapsed_ns", hit->time_ns - hit->begin_ns);
	if (hit->goroutine)
		put_number(&args[cnt++], "goroutine", hit->goroutine);
	if (hit->stopped_ns)
		put_number(&args[cnt++], "trace_stopped_after_ns", hit->stopped_ns - hit->time_ns);
	for (size_t i = 0; i < placed->value_cnt && cnt < HIT_CALL_ARGS_MAX; i++)
		put_value(&args[cnt++], &placed->values[i]);
	return cnt;
}

void hit_state_args(struct shown_arg args[static HIT_STATE_ARGS], const struct timeline_hit *placed,
		    char *comm)
{
	const struct hit *hit = placed->hit;

	_Static_assert(HIT_STATE_ARGS == 7 + ARCH_SHOWN_CNT, "all of them");
	memcpy(comm, hit->comm, HIT_COMM_BYTES);
	comm[HIT_COMM_BYTES] = '\0';
	put_string(args++, "symbol", placed->symbol ? placed->symbol->name : "?");
	put_number(args++, "monotonic_ns", hit->time_ns);
	put_number(args++, "pid", hit->pid);
	put_number(args++, "tid", hit->tid);
	for (size_t i = 0; i < ARCH_SHOWN_CNT; i++)
		put_pointer(args++, hit_reg_name(arch_shown_registers[i]),
			    hit_reg(hit, arch_shown_registers[i]));
	put_number(args++, "cpu", hit->cpu);
	*args++ = (struct shown_arg){.name = "comm", .type = SHOWN_TEXT, .text = comm};
	put_pointer(args++, "return_address", hit->return_address);
}

char *hit_stack_text(const struct timeline_hit *hit)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (size_t i = 0; i < hit->hit->stack_cnt; i++)
		fprintf(file, "%s#%zu 0x%" PRIx64 " %s", i ? "\n" : "", i, hit->hit->stack[i],
			hit->stack_symbols[i] ? hit->stack_symbols[i]->name : "?");
	if (hit->hit->action & HIT_CUT)
		fputs("\n" SHOWN_CUT, file);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

uint64_t alloc_flow(const struct instant *instant)
{
	return instant->number + (1ull << 32);
}

uint64_t shown_id(int32_t id)
{
	return id > 0 ? (uint64_t)id : SHOWN_HITS + 1ull + (uint32_t)id;
}

struct process_name process_name(const struct timeline *timeline, int32_t pid)
{
	struct process_name name;

	snprintf(name.text, sizeof(name.text), "%.4000s [pid=%d]", timeline->command, pid);
	return name;
}

void write_part_on_line(struct output *output, const char *text, size_t len)
{
	for (const char *end = text + len; text < end;) {
		char escape[ON_LINE_ESCAPE];
		size_t plain = on_line_plain(text);

		plain = plain < (size_t)(end - text) ? plain : (size_t)(end - text);
		output_write(output, text, plain);
		text += plain;
		if (text == end)
			return;
		text += on_line_escape(text, escape);
		output_write(output, escape, strlen(escape));
	}
}

void write_on_line(struct output *output, const char *text)
{
	write_part_on_line(output, text, strlen(text));
}

void write_folded_name(struct output *output, const char *name)
{
	for (size_t part; *name; name += part + !!name[part]) {
		part = strcspn(name, ";\r\n");
		write_part_on_line(output, name, part);
		if (name[part])
			output_write(output, name[part] == ';' ? ":" : " ", 1);
	}
}
