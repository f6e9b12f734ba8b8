/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "input/fxt_read_internal.h"
#include "output/shown_args.h"

static const struct hit_field {
	const char *name;
	size_t offset;
	bool is_short;
} hit_fields[] = {
	{"monotonic_ns", offsetof(struct hit, time_ns), false},
	{"pid", offsetof(struct hit, pid), true},
	{"tid", offsetof(struct hit, tid), true},
	{"cpu", offsetof(struct hit, cpu), true},
	{"return_address", offsetof(struct hit, return_address), false},
	{"goroutine", offsetof(struct hit, goroutine), false},
};

/* Of the three events that a hit is, each has some of its fields. */
static void fill_hit(struct caught_hit *caught, const struct fxt_read_event *event)
{
	struct hit *hit = &caught->hit;

	for (size_t i = 0; i < ARRAY_SIZE(hit_fields); i++) {
		const struct fxt_read_arg *arg = fxt_arg(event, hit_fields[i].name);
		char *field = (char *)hit + hit_fields[i].offset;

		if (!arg)
			continue;
		memcpy(field, &arg->value, hit_fields[i].is_short ? sizeof(uint32_t) : sizeof(uint64_t));
	}
	for (unsigned int i = 0; i < HIT_ARG_CNT; i++) {
		const struct fxt_read_arg *arg;
		char name[8];

		snprintf(name, sizeof(name), "arg%u", i);
		arg = fxt_arg(event, name);
		caught->args[i] = arg ? arg->value : caught->args[i];
		hit->args_known = (uint16_t)(hit->args_known | (arg ? 1u << i : 0));
	}
	for (unsigned int i = 0; i < HIT_REG_CNT; i++)
		if (hit_reg_name(i))
			caught->regs[i] = fxt_number(event, hit_reg_name(i), caught->regs[i]);
}

/* A stack as it is read. What is deeper than our own stacks is left out. */
struct frames {
	struct caught_hit *caught;
	const struct symbol *symbols[HIT_STACK_MAX];
};

static int add_frame(struct reading *reading, struct frames *frames, const char *line, size_t len)
{
	struct symbol symbol = {.object = ""};
	uint16_t *cnt = &frames->caught->hit.stack_cnt;
	uint64_t ip;
	int name, err;
	CLEANUP(freep) char *copy = strndup(line, len);

	if (!copy)
		return -ENOMEM;
	if (*cnt == HIT_STACK_MAX || sscanf(copy, "#%*u 0x%" SCNx64 " %n", &ip, &name) != 1)
		return 0;
	frames->symbols[*cnt] = NULL;
	if (strcmp(copy + name, "?") != 0) {
		err = fxt_names_text(reading->names, copy + name, len, &symbol.name);
		if (!err)
			err = fxt_names_symbol(reading->names, &symbol, &frames->symbols[*cnt]);
		if (err)
			return err;
	}
	frames->caught->stack[(*cnt)++] = ip;
	return 0;
}

/* "#0 0x1234 f", a frame on each line. */
static int read_stack(struct reading *reading, struct caught_hit *caught, const char *text,
		      const struct symbol *const **ret_symbols)
{
	struct frames frames = {.caught = caught};
	int err = 0;

	while (*text && !err) {
		size_t len = strcspn(text, "\n");

		if (len == strlen(SHOWN_CUT) && !strncmp(text, SHOWN_CUT, len))
			caught->hit.action |= HIT_CUT;
		else
			err = add_frame(reading, &frames, text, len);
		text += len + (text[len] == '\n');
	}
	if (err)
		return err;
	*ret_symbols = timeline_stack_symbols(reading->timeline, frames.symbols, caught->hit.stack_cnt);
	return *ret_symbols ? 0 : -ENOMEM;
}

static int trigger_of(struct reading *reading, const char *name, uint32_t *ret_trigger)
{
	struct timeline *timeline = reading->timeline;
	char *copy;
	size_t i = 0;
	int err;

	while (i < timeline->trigger_cnt && strcmp(timeline->triggers[i], name))
		i++;
	*ret_trigger = (uint32_t)i;
	if (i < timeline->trigger_cnt)
		return 0;
	copy = strdup(name);
	err = copy ? ARRAY_PUSH(timeline->triggers, timeline->trigger_cnt, reading->trigger_cap, copy)
		   : -ENOMEM;
	if (err)
		free(copy);
	return err;
}

static int add_hit(struct reading *reading, struct timeline_hit *placed, const struct caught_hit *caught)
{
	struct timeline *timeline = reading->timeline;
	int err = timeline->hit_list ? 0 : hit_list_new(&timeline->hit_list);

	if (!err)
		err = hit_list_add(timeline->hit_list, caught);
	if (err)
		return err;
	placed->hit = timeline->hit_list->hits[timeline->hit_list->cnt - 1];
	return ARRAY_PUSH(timeline->hits, timeline->hit_cnt, timeline->hit_cap, *placed);
}

/* The hit that was read last, which further events tell more of. */
static void last_hit(const struct reading *reading, struct caught_hit *ret_caught)
{
	hit_unpack(reading->timeline->hits[reading->timeline->hit_cnt - 1].hit, ret_caught);
}

static int change_last_hit(struct reading *reading, const struct caught_hit *caught)
{
	struct hit_list *list = reading->timeline->hit_list;

	return hit_list_change(list, list->hits[list->cnt - 1], caught);
}

int fxt_begin_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline_hit placed = {.time_ns = event->time_ns};
	struct symbol symbol = {.name = fxt_text(event, "symbol", "?"), .object = ""};
	struct caught_hit caught = {0};
	int err = trigger_of(reading, event->name, &caught.hit.trigger);

	if (err)
		return err;
	fill_hit(&caught, event);
	caught.hit.begin_ns = caught.hit.time_ns;
	if (strcmp(symbol.name, "?") != 0)
		err = fxt_names_symbol(reading->names, &symbol, &placed.symbol);
	if (!err)
		err = read_stack(reading, &caught, fxt_text(event, "stack", ""), &placed.stack_symbols);
	return err ? err : add_hit(reading, &placed, &caught);
}

int fxt_end_hit(struct reading *reading, const struct fxt_read_event *event)
{
	const char *comm = fxt_text(event, "comm", "");
	struct caught_hit caught;

	if (!reading->timeline->hit_cnt)
		return 0;
	last_hit(reading, &caught);
	fill_hit(&caught, event);
	memcpy(caught.hit.comm, comm, strnlen(comm, HIT_COMM_BYTES));
	return change_last_hit(reading, &caught);
}

/* *ret_text is NULL for one that was unreadable; the caller's. */
static int value_text(const struct fxt_read_arg *arg, char **ret_text)
{
	int len = 0;

	*ret_text = NULL;
	if (!arg->text)
		len = asprintf(ret_text, arg->is_address ? "0x%" PRIx64 : "%" PRId64, arg->value);
	else if (strcmp(arg->text, SHOWN_UNREADABLE) != 0)
		len = asprintf(ret_text, "%s", arg->text);
	return len < 0 ? -ENOMEM : 0;
}

/* Of the numbers, a plain word is a fact about the hit; see output/shown_args.h. */
static bool is_value(const struct fxt_read_arg *arg)
{
	return arg->text || !shown_is_word(arg->name);
}

static int read_values(struct reading *reading, struct timeline_hit *placed,
		       const struct fxt_read_event *event)
{
	int err = 0;

	for (size_t i = 0; i < event->arg_cnt && !err; i++) {
		const struct fxt_read_arg *arg = &event->args[i];
		enum value_kind kind = arg->text	 ? VALUE_TEXT
				       : arg->is_address ? VALUE_POINTER
							 : VALUE_NUMBER;
		const char *name = arg->name;
		char *text;

		if (!is_value(arg))
			continue;
		name = timeline_value_name(reading->timeline, strncmp(name, "= ", 2) ? name : name + 2);
		err = value_text(arg, &text);
		if (!err)
			err = timeline_hit_add_value(placed, name, kind, text);
	}
	return err;
}

bool fxt_is_mark(const struct reading *reading, const struct fxt_read_event *event)
{
	const struct timeline *timeline = reading->timeline;
	const struct timeline_hit *last;

	if (event->type != FXT_READ_INSTANT || !timeline->hit_cnt)
		return false;
	last = &timeline->hits[timeline->hit_cnt - 1];
	return !strcmp(event->name, timeline_trigger(timeline, last->hit)) &&
	       last->time_ns == event->time_ns && last->hit->tid == (uint32_t)event->tid;
}

int fxt_mark_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct caught_hit caught;
	struct hit *hit = &caught.hit;
	int err;

	last_hit(reading, &caught);
	fill_hit(&caught, event);
	if (fxt_arg(event, "elapsed_ns"))
		hit->begin_ns = hit->time_ns - fxt_number(event, "elapsed_ns", 0);
	if (fxt_arg(event, "trace_stopped_after_ns"))
		hit->stopped_ns = hit->time_ns + fxt_number(event, "trace_stopped_after_ns", 0);
	err = change_last_hit(reading, &caught);
	return err ? err
		   : read_values(reading, &reading->timeline->hits[reading->timeline->hit_cnt - 1], event);
}

bool fxt_is_other_hit(const struct fxt_read_event *event)
{
	return event->type == FXT_READ_COMPLETE && !strncmp(event->name, "hit ", 4) && fxt_arg(event, "ip") &&
	       fxt_arg(event, "tid");
}

int fxt_add_other_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline_hit placed = {.time_ns = event->end_ns};
	struct caught_hit caught = {0};
	struct hit *hit = &caught.hit;
	int err = trigger_of(reading, event->name + 4, &hit->trigger);

	if (err)
		return err;
	hit->time_ns = fxt_number(event, "timestamp", 0);
	hit->begin_ns = hit->time_ns - (event->end_ns > event->time_ns ? event->end_ns - event->time_ns : 0);
	hit->tid = (uint32_t)fxt_number(event, "tid", 0);
	caught.regs[HIT_IP] = fxt_number(event, "ip", 0);
	return add_hit(reading, &placed, &caught);
}
