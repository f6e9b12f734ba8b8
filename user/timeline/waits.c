/* SPDX-License-Identifier: BSD-2-Clause */
#include "timeline/waits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sort.h"
#include "base/spill.h"

/* Moments that are counted, and what all of them are called. */
static const struct {
	const char *prefix, *name;
} moments[] = {
	{"[page fault", "[page fault]"},
	{"[migrated", "[migrated]"},
};

/* How far a pass over a thread's slices has come: the calls that are open. */
struct pass {
	const struct timeline_thread *thread;
	const struct slice **open;
	size_t open_cnt, open_cap;
	size_t instant;
};

/* Ports from here on are of who calls (net.ipv4.ip_local_port_range): each connection has another one. */
enum { FIRST_PORT_BY_CHANCE = 32768 };

/* "socket 127.0.0.1:6379 <-> :51234" with * for the larger port; the caller frees it. NULL: no memory. */
static char *shared_name(const char *file)
{
	const char *arrow = strstr(file, " <-> "), *own = arrow, *peer = strrchr(file, ':');
	const char *larger, *end;
	char *name;

	while (own && own > file && own[-1] != ':')
		own--;
	if (!arrow || !peer || own == file || strncmp(file, "socket ", 7) != 0)
		return strdup(file);
	larger = atoi(own) > atoi(peer + 1) ? own : peer + 1;
	end = larger + strspn(larger, "0123456789");
	if (atoi(larger) < FIRST_PORT_BY_CHANCE)
		return strdup(file);
	return asprintf(&name, "%.*s*%s", (int)(larger - file), file, end) < 0 ? NULL : name;
}

static int wait_get(struct waits *waits, const struct wait *wanted, struct wait **ret_wait)
{
	uint64_t hash = hash_text(hash_text(hash_text(hash_text(hash_text(0, wanted->name), wanted->function),
						      wanted->woken_by),
					    wanted->behind),
				  wanted->file);
	struct wait fresh = *wanted;
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&waits->index, hash, &at)) != HASH_INDEX_END;) {
		*ret_wait = &waits->items[i];
		if (!strcmp((*ret_wait)->name, wanted->name) &&
		    !strcmp((*ret_wait)->function, wanted->function) &&
		    !strcmp((*ret_wait)->woken_by, wanted->woken_by) &&
		    !strcmp((*ret_wait)->behind, wanted->behind) && !strcmp((*ret_wait)->file, wanted->file))
			return 0;
	}
	fresh.file = strdup(wanted->file);
	err = fresh.file ? ARRAY_PUSH(waits->items, waits->cnt, waits->cap, fresh) : -ENOMEM;
	if (err)
		free(fresh.file);
	else
		err = hash_index_add(&waits->index, hash, waits->cnt - 1);
	*ret_wait = err ? NULL : &waits->items[waits->cnt - 1];
	return err;
}

static int add(struct waits *waits, const struct wait *wanted, uint64_t ns)
{
	struct wait *wait;
	int err = wait_get(waits, wanted, &wait);

	if (err)
		return err;
	wait->cnt++;
	wait->total_ns += ns;
	wait->longest_ns = ns > wait->longest_ns ? ns : wait->longest_ns;
	return 0;
}

static bool is_of_program(const struct slice *slice)
{
	const struct symbol *symbol = slice->kind == SLICE_CALL ? slice->symbol : NULL;

	return symbol && (!symbol->object || strcmp(symbol->object, "[kernel]"));
}

/* The innermost call of the program's own that is open; NULL: none. */
static const struct slice *innermost(const struct pass *pass, uint64_t time_ns)
{
	for (size_t i = pass->open_cnt; i-- > 0;)
		if (is_of_program(pass->open[i]) && pass->open[i]->end_ns >= time_ns)
			return pass->open[i];
	return NULL;
}

static const char *function_at(const struct pass *pass, uint64_t time_ns)
{
	const struct slice *call = innermost(pass, time_ns);

	return call ? slice_name(call) : "";
}

static const char *function_of(const struct pass *pass, const struct instant *instant)
{
	for (size_t i = 0; i < instant->arg_cnt; i++)
		if (!strcmp(instant->args[i].name, INSTANT_FUNCTION) && instant->args[i].text)
			return instant->args[i].text;
	return function_at(pass, instant->time_ns);
}

/* NULL: it is not counted. */
static const char *moment_name(const struct instant *instant)
{
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++)
		if (!strncmp(instant->text, moments[i].prefix, strlen(moments[i].prefix)))
			return moments[i].name;
	return NULL;
}

/* What is counted until then. */
static int add_moments(struct waits *waits, struct pass *pass, uint64_t until)
{
	const struct timeline_thread *thread = pass->thread;
	int err = 0;

	for (; pass->instant < thread->instant_cnt && !err; pass->instant++) {
		const struct instant *instant = &thread->instants[pass->instant];
		struct wait wait = {
			.name = moment_name(instant), .file = (char[]){""}, .woken_by = "", .behind = ""};

		if (instant->time_ns >= until)
			break;
		wait.function = function_of(pass, instant);
		if (wait.name)
			err = add(waits, &wait, 0);
	}
	return err;
}

static int add_slice(struct waits *waits, struct pass *pass, const struct slice *slice)
{
	const struct slice_detail *detail = slice_detail(slice);
	CLEANUP(freep) char *file = shared_name(detail && detail->file ? detail->file : "");
	struct wait wait = {.name = slice_name(slice),
			    .woken_by = detail && detail->woken_by ? detail->woken_by : "",
			    .behind = detail && detail->behind ? detail->behind : ""};
	int err = file ? add_moments(waits, pass, slice->start_ns) : -ENOMEM;

	wait.file = file;
	pass->open_cnt = slice->depth < pass->open_cnt ? slice->depth : pass->open_cnt;
	/* Where a thread lost its processor is of chance. */
	wait.function = slice->kind == SLICE_RUN_QUEUE || slice->kind == SLICE_UNTRACED
				? ""
				: function_at(pass, slice->start_ns);
	if (!err && (slice->kind == SLICE_OFF_CPU || slice->kind == SLICE_RUN_QUEUE ||
		     (slice->kind == SLICE_UNTRACED && detail)))
		err = add(waits, &wait, slice->end_ns - slice->start_ns);
	return err ? err : ARRAY_PUSH(pass->open, pass->open_cnt, pass->open_cap, slice);
}

int waits_add(struct waits *waits, const struct timeline_thread *thread)
{
	struct pass pass = {.thread = thread};
	int err = 0;

	for (size_t i = 0; i < thread->slice_cnt && !err; i++) {
		SPILL_PASS(thread->slices, i);
		err = add_slice(waits, &pass, &thread->slices[i]);
	}
	if (!err)
		err = add_moments(waits, &pass, UINT64_MAX);
	free(pass.open);
	return err;
}

static int compare(const void *left, const void *right)
{
	const struct wait *a = left, *b = right;

	return ORDER_DOWN(a->total_ns, b->total_ns) ?: ORDER_DOWN(a->cnt, b->cnt);
}

void waits_sort(struct waits *waits)
{
	hash_index_release(&waits->index);
	sort_array(waits->items, waits->cnt, sizeof(*waits->items), compare);
}

void waits_release(struct waits *waits)
{
	for (size_t i = 0; i < waits->cnt; i++)
		free(waits->items[i].file);
	free(waits->items);
	hash_index_release(&waits->index);
	*waits = (struct waits){0};
}
