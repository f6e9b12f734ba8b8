/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "input/fxt_read_internal.h"
#include "output/shown.h"

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
static void fill_hit(struct hit *hit, const struct fxt_read_event *event)
{
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
		hit->args[i] = arg ? arg->value : hit->args[i];
		hit->args_known |= arg ? 1u << i : 0;
	}
	for (unsigned int i = 0; i < HIT_REG_CNT; i++)
		if (hit_reg_name(i))
			hit->regs[i] = fxt_number(event, hit_reg_name(i), hit->regs[i]);
}

static int add_frame(struct reading *reading, struct timeline_hit *placed, const char *line, size_t len)
{
	struct symbol symbol = {.object = ""};
	uint64_t ip;
	int name, err;
	CLEANUP(freep) char *copy = strndup(line, len);

	if (!copy)
		return -ENOMEM;
	if (sscanf(copy, "#%*u 0x%" SCNx64 " %n", &ip, &name) != 1)
		return 0;
	placed->stack_symbols[placed->stack_cnt] = NULL;
	if (strcmp(copy + name, "?") != 0) {
		err = fxt_names_text(reading->names, copy + name, len, &symbol.name);
		if (!err)
			err = fxt_names_symbol(reading->names, &symbol,
					       &placed->stack_symbols[placed->stack_cnt]);
		if (err)
			return err;
	}
	placed->stack_ips[placed->stack_cnt++] = ip;
	return 0;
}

/* "#0 0x1234 f", a frame on each line. */
static int fill_stack(struct reading *reading, struct timeline_hit *placed, const char *text)
{
	size_t lines = 1;
	int err = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	placed->stack_ips = calloc(lines, sizeof(*placed->stack_ips));
	placed->stack_symbols = calloc(lines, sizeof(struct symbol *));
	if (!placed->stack_ips || !placed->stack_symbols)
		return -ENOMEM;
	while (*text && !err) {
		size_t len = strcspn(text, "\n");

		err = add_frame(reading, placed, text, len);
		text += len + (text[len] == '\n');
	}
	return err;
}

static int trigger_of(struct reading *reading, const char *name, __u32 *ret_trigger)
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

int fxt_begin_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline *timeline = reading->timeline;
	struct timeline_hit *placed, fresh = {.time_ns = event->time_ns};
	struct symbol symbol = {.name = fxt_text(event, "symbol", "?"), .object = ""};
	int err = trigger_of(reading, event->name, &fresh.hit.trigger);

	if (!err)
		err = ARRAY_PUSH(timeline->hits, timeline->hit_cnt, timeline->hit_cap, fresh);
	if (err)
		return err;
	placed = &timeline->hits[timeline->hit_cnt - 1];
	fill_hit(&placed->hit, event);
	placed->hit.begin_ns = placed->hit.time_ns;
	if (strcmp(symbol.name, "?") != 0)
		err = fxt_names_symbol(reading->names, &symbol, &placed->symbol);
	return err ? err : fill_stack(reading, placed, fxt_text(event, "stack", ""));
}

void fxt_end_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct hit *hit;
	const char *comm = fxt_text(event, "comm", "");

	if (!reading->timeline->hit_cnt)
		return;
	hit = &reading->timeline->hits[reading->timeline->hit_cnt - 1].hit;
	fill_hit(hit, event);
	memcpy(hit->comm, comm, strnlen(comm, HIT_COMM_BYTES));
}

/* All that is text. */
static int read_values(struct reading *reading, struct timeline_hit *placed,
		       const struct fxt_read_event *event)
{
	int err = 0;

	for (size_t i = 0; i < event->arg_cnt && !err; i++) {
		const struct fxt_read_arg *arg = &event->args[i];
		const char *name = arg->name;
		bool is_known = arg->text && strcmp(arg->text, SHOWN_UNREADABLE) != 0;
		char *text = is_known ? strdup(arg->text) : NULL;

		if (!arg->text)
			continue;
		name = timeline_value_name(reading->timeline, strncmp(name, "= ", 2) ? name : name + 2);
		err = is_known && !text ? -ENOMEM : timeline_hit_add_value(placed, name, text);
	}
	return err;
}

bool fxt_mark_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline_hit *placed;
	struct hit *hit;

	if (!reading->timeline->hit_cnt)
		return false;
	placed = &reading->timeline->hits[reading->timeline->hit_cnt - 1];
	hit = &placed->hit;
	if (strcmp(event->name, timeline_trigger(reading->timeline, hit)) ||
	    placed->time_ns != event->time_ns || hit->tid != (uint32_t)event->tid)
		return false;
	fill_hit(hit, event);
	if (fxt_arg(event, "elapsed_ns"))
		hit->begin_ns = hit->time_ns - fxt_number(event, "elapsed_ns", 0);
	if (fxt_arg(event, "trace_stopped_after_ns"))
		hit->stopped_ns = hit->time_ns + fxt_number(event, "trace_stopped_after_ns", 0);
	return !read_values(reading, placed, event);
}

bool fxt_is_other_hit(const struct fxt_read_event *event)
{
	return event->type == FXT_READ_COMPLETE && !strncmp(event->name, "hit ", 4) && fxt_arg(event, "ip") &&
	       fxt_arg(event, "tid");
}

int fxt_add_other_hit(struct reading *reading, const struct fxt_read_event *event)
{
	struct timeline *timeline = reading->timeline;
	struct timeline_hit fresh = {.time_ns = event->end_ns};
	struct hit *hit = &fresh.hit;
	int err = trigger_of(reading, event->name + 4, &hit->trigger);

	if (err)
		return err;
	hit->time_ns = fxt_number(event, "timestamp", 0);
	hit->begin_ns = hit->time_ns - (event->end_ns > event->time_ns ? event->end_ns - event->time_ns : 0);
	hit->tid = (uint32_t)fxt_number(event, "tid", 0);
	hit->regs[HIT_RIP] = fxt_number(event, "ip", 0);
	return ARRAY_PUSH(timeline->hits, timeline->hit_cnt, timeline->hit_cap, fresh);
}
