/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/containers/arena.h"
#include "base/spill.h"

void timeline_thread_replace(struct timeline_thread *thread, struct slice *slices, size_t cnt, size_t cap)
{
	spill_free(thread->slices);
	thread->slices = slices;
	thread->slice_cnt = cnt;
	thread->slice_cap = cap;
}

int timeline_new(struct timeline **ret_timeline)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return -ENOMEM;
	*ret_timeline = timeline;
	return 0;
}

void instant_release(struct instant *instant)
{
	for (size_t i = 0; i < instant->arg_cnt; i++)
		free(instant->args[i].text);
	free(instant->args);
	free(instant->name);
	free(instant->text);
}

const char *instant_name(const struct instant *instant)
{
	return instant->name ? instant->name : instant->text;
}

int instant_add_arg(struct instant *instant, const struct instant_arg *arg)
{
	struct instant_arg copy = *arg;
	struct instant_arg *args = instant->arg_cnt < INSTANT_ARGS_MAX
					   ? reallocarray(instant->args, instant->arg_cnt + 1, sizeof(*args))
					   : NULL;

	if (!args)
		return -ENOMEM;
	instant->args = args;
	copy.text = arg->type == INSTANT_TEXT ? strdup(arg->text) : NULL;
	if (arg->type == INSTANT_TEXT && !copy.text)
		return -ENOMEM;
	args[instant->arg_cnt++] = copy;
	return 0;
}

static char *alloc_text(const struct instant_alloc *alloc)
{
	unsigned long long bytes = alloc->bytes, address = alloc->address;
	char *text;
	int len;

	if (alloc->function)
		len = asprintf(&text, "[%s: %llu bytes at 0x%llx]", alloc->function, bytes, address);
	else
		len = asprintf(&text, "[freed: %llu bytes at 0x%llx, allocated %.3f ms before]", bytes,
			       address, (double)alloc->lifetime_ns / 1e6);
	return len < 0 ? NULL : text;
}

int instant_set_alloc(struct instant *instant, const struct instant_alloc *alloc)
{
	const struct instant_arg args[] = {
		{.name = INSTANT_ALLOC_BYTES, .type = INSTANT_NUMBER, .number = alloc->bytes},
		{.name = INSTANT_ALLOC_ADDRESS, .type = INSTANT_ADDRESS, .number = alloc->address},
		{.name = INSTANT_ALLOC_NUMBER, .type = INSTANT_NUMBER, .number = alloc->number},
		{.name = INSTANT_ALLOC_LIFETIME, .type = INSTANT_NUMBER, .number = alloc->lifetime_ns},
	};
	int err = 0;

	instant->is_event = true;
	instant->ends = !alloc->function;
	instant->number = alloc->number;
	instant->name = strdup(alloc->function ? alloc->function : INSTANT_ALLOC_END);
	instant->text = alloc_text(alloc);
	if (!instant->name || !instant->text)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(args) - !instant->ends && !err; i++)
		err = instant_add_arg(instant, &args[i]);
	return err;
}

void timeline_thread_release(struct timeline_thread *thread)
{
	for (size_t i = 0; i < thread->instant_cnt; i++)
		instant_release(&thread->instants[i]);
	free(thread->instants);
	if (thread->stored)
		thread->stored->ops->free(thread->stored);
	spill_free(thread->slices);
	free(thread->name);
}

enum { BEFORE_NAME = 2 }; /* "= " */

const char *timeline_value_name(struct timeline *timeline, const char *name)
{
	char *copy;

	for (size_t i = 0; i < timeline->value_name_cnt; i++)
		if (!strcmp(timeline->value_names[i] + BEFORE_NAME, name))
			return timeline->value_names[i] + BEFORE_NAME;
	if (asprintf(&copy, "= %s", name) < 0)
		return NULL;
	if (!ARRAY_PUSH(timeline->value_names, timeline->value_name_cnt, timeline->value_name_cap, copy))
		return copy + BEFORE_NAME;
	free(copy);
	return NULL;
}

int timeline_hit_add_value(struct timeline_hit *hit, const char *name, enum value_kind kind, char *text)
{
	struct timeline_value *values =
		name ? reallocarray(hit->values, hit->value_cnt + 1, sizeof(*values)) : NULL;

	if (!values) {
		free(text);
		return -ENOMEM;
	}
	hit->values = values;
	values[hit->value_cnt++] = (struct timeline_value){name, kind, text};
	return 0;
}

const struct symbol *const *timeline_stack_symbols(struct timeline *timeline,
						   const struct symbol *const *symbols, size_t cnt)
{
	_Static_assert(sizeof(*symbols) == sizeof(uint64_t), "a pointer is a word");
	if (!timeline->stacks)
		timeline->stacks = calloc(1, sizeof(*timeline->stacks));
	return timeline->stacks ? (const void *)word_pool_keep(timeline->stacks, (const void *)symbols, cnt)
				: NULL;
}

const struct stack_text *timeline_stack_text(struct timeline *timeline, const char *text)
{
	const uint64_t hash = hash_text(0, text);
	struct stack_text *copy;
	size_t at = 0, found;

	while ((found = hash_index_next(&timeline->stack_text_index, hash, &at)) != HASH_INDEX_END)
		if (!strcmp(timeline->stack_texts[found]->text, text))
			return timeline->stack_texts[found];
	copy = malloc(sizeof(*copy) + strlen(text) + 1);
	if (!copy)
		return NULL;
	copy->nth = (uint32_t)timeline->stack_text_cnt;
	strcpy(copy->text, text);
	if (ARRAY_TAKE(timeline->stack_texts, timeline->stack_text_cnt, timeline->stack_text_cap, copy))
		return NULL;
	return hash_index_add(&timeline->stack_text_index, hash, copy->nth) ? NULL : copy;
}

static void detail_release(const struct slice_detail *detail)
{
	free(detail->title);
	free(detail->about);
	free(detail->file);
	free(detail->woken_by);
	free(detail->behind);
}

int timeline_add_detail(struct timeline *timeline, const struct slice_detail *detail,
			const struct slice_detail **ret_detail)
{
	struct slice_detail *copy = malloc(sizeof(*copy));

	if (ARRAY_TAKE(timeline->details, timeline->detail_cnt, timeline->detail_cap, copy)) {
		detail_release(detail);
		return -ENOMEM;
	}
	*copy = *detail;
	*ret_detail = copy;
	return 0;
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->detail_cnt; i++) {
		detail_release(timeline->details[i]);
		free(timeline->details[i]);
	}
	free(timeline->details);
	free(timeline->flows);
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		timeline_thread_release(&timeline->threads[i]);
	for (size_t i = 0; i < timeline->hit_cnt; i++) {
		for (size_t j = 0; j < timeline->hits[i].value_cnt; j++)
			free(timeline->hits[i].values[j].text);
		free(timeline->hits[i].values);
	}
	for (size_t i = 0; i < timeline->counter_cnt; i++) {
		free(timeline->counters[i].name);
		free(timeline->counters[i].points);
	}
	free(timeline->counters);
	for (size_t i = 0; i < timeline->stack_text_cnt; i++)
		free(timeline->stack_texts[i]);
	free(timeline->stack_texts);
	hash_index_release(&timeline->stack_text_index);
	free(timeline->goroutines);
	for (size_t i = 0; i < timeline->trigger_cnt; i++)
		free(timeline->triggers[i]);
	for (size_t i = 0; i < timeline->value_name_cnt; i++)
		free(timeline->value_names[i]);
	free(timeline->value_names);
	free(timeline->threads);
	free(timeline->hits);
	hit_list_free(timeline->hit_list);
	word_pool_free(timeline->stacks);
	free(timeline->triggers);
	free(timeline->command);
	free(timeline->source);
	free(timeline->stopped_by);
	free(timeline);
}

const char *slice_name(const struct slice *slice)
{
	static const char *const names[] = {
		[SLICE_CALL] = "[unknown]",	 [SLICE_SYSCALL] = "[syscall]",
		[SLICE_UNTRACED] = "[untraced]", [SLICE_OFF_CPU] = "[off-cpu]",
		[SLICE_UNKNOWN] = "[unknown]",	 [SLICE_RUN_QUEUE] = "[run-queue]",
	};
	const struct slice_detail *detail = slice_detail(slice);

	_Static_assert(ARRAY_SIZE(names) == SLICE_KIND_CNT, "a name for each kind");
	if (detail)
		return detail->name;
	return slice->symbol ? slice->symbol->name : names[slice->kind];
}

const char *slice_title(const struct slice *slice)
{
	const struct slice_detail *detail = slice_detail(slice);

	return detail && detail->title ? detail->title : slice_name(slice);
}

const char *slice_certainty(const struct slice *slice)
{
	if (slice->flags & SLICE_SAMPLED)
		return "sampled";
	return slice->flags & SLICE_INFERRED_START ? "inferred" : "exact";
}

const char *slice_kind_name(enum slice_kind kind)
{
	static const char *const names[] = {
		[SLICE_CALL] = "call",	     [SLICE_SYSCALL] = "syscall", [SLICE_UNTRACED] = "untraced",
		[SLICE_OFF_CPU] = "off-cpu", [SLICE_UNKNOWN] = "unknown", [SLICE_RUN_QUEUE] = "run-queue",
	};

	_Static_assert(ARRAY_SIZE(names) == SLICE_KIND_CNT, "a name for each kind");
	return names[kind];
}

const char *timeline_trigger(const struct timeline *timeline, const struct hit *hit)
{
	return hit->trigger < timeline->trigger_cnt ? timeline->triggers[hit->trigger] : "[unknown trigger]";
}

struct timeline_thread *timeline_thread_of(const struct timeline *timeline, int32_t tid)
{
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		if (timeline->threads[i].tid == tid)
			return &timeline->threads[i];
	return NULL;
}

size_t timeline_thread_gaps(const struct timeline_thread *thread)
{
	size_t cnt = 0;

	for (size_t i = 0; i < thread->instant_cnt; i++)
		cnt += !thread->instants[i].is_event;
	return cnt;
}

size_t timeline_thread_begun(const struct timeline_thread *thread, uint64_t time_ns)
{
	return BISECT(thread->slice_cnt, i, thread->slices[i].start_ns < time_ns);
}

/*
 * Walks the slices in order with the ends of those open: each must begin inside the one a level further out,
 * which must be the last of its depth.
 */
static int thread_is_valid(const struct timeline_thread *thread)
{
	size_t cap = 0, open = 0;
	uint64_t *ends = NULL;
	int valid = 1;

	for (size_t i = 0; i < thread->slice_cnt && valid; i++) {
		const struct slice *slice = &thread->slices[i], *before = i ? slice - 1 : NULL;

		valid = slice->end_ns >= slice->start_ns && slice->depth <= open &&
			slice->kind < SLICE_KIND_CNT;
		if (before && (slice->start_ns < before->start_ns ||
			       (slice->start_ns == before->start_ns && slice->depth < before->depth &&
				before->end_ns > slice->start_ns)))
			valid = 0;
		if (valid && slice->depth &&
		    (slice->end_ns > ends[slice->depth - 1] || slice->start_ns > ends[slice->depth - 1]))
			valid = 0;
		if (valid && slice->depth < open && ends[slice->depth] > slice->start_ns)
			valid = 0;
		if (!valid || array_reserve(&ends, &cap, slice->depth + 1, sizeof(*ends)))
			break;
		ends[slice->depth] = slice->end_ns;
		open = slice->depth + 1;
	}
	free(ends);
	return valid;
}

int timeline_is_valid(const struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		if (!thread_is_valid(&timeline->threads[i]))
			return 0;
	return 1;
}
