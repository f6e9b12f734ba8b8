/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/sources.h"

#include <errno.h>

#include <string.h>

#include "base/array.h"
#include "base/error.h"

/* Best first: --source auto chooses the first one that is available and may be chosen. */
static const struct source *const sources[] = {
	&source_intel_pt, &source_translate, &source_samples, &source_step, &source_alloc,
};

const struct source *source_at(size_t i)
{
	return i < ARRAY_SIZE(sources) ? sources[i] : NULL;
}

const struct source *source_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (!(sources[i]->can & SOURCE_IS_BESIDE) && !strcmp(sources[i]->name, name))
			return sources[i];
	return NULL;
}

int sources_open(struct source_list *list, const struct source *source, const struct source_config *config)
{
	void *self = NULL;
	int err = list->cnt == SOURCES_MAX ? fail(-E2BIG, "there are more than %d sources", SOURCES_MAX) : 0;

	if (!err && source->open)
		err = source->open(&self, config);
	if (err)
		return err;
	list->items[list->cnt].source = source;
	list->items[list->cnt++].self = self;
	return 0;
}

/* FN(SOURCE'S ARGUMENTS...) of each that has it, up to the first error: the value. */
#define EACH(list, fn, ...)                                                                                 \
	({                                                                                                  \
		int _err = 0;                                                                               \
		for (size_t _i = 0; _i < (list)->cnt && !_err; _i++)                                        \
			if ((list)->items[_i].source->fn)                                                   \
				_err = (list)->items[_i].source->fn((list)->items[_i].self, ##__VA_ARGS__); \
		_err;                                                                                       \
	})

void sources_close(struct source_list *list)
{
	while (list->cnt--)
		if (list->items[list->cnt].source->close)
			list->items[list->cnt].source->close(list->items[list->cnt].self);
	list->cnt = 0;
}

const char *sources_name(const struct source_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (!(list->items[i].source->can & SOURCE_IS_BESIDE))
			return list->items[i].source->name;
	return "none";
}

const struct session_driver *sources_driver(const struct source_list *list, void **ret_self)
{
	for (size_t i = 0; i < list->cnt; i++) {
		if (!list->items[i].source->driver)
			continue;
		*ret_self = list->items[i].self;
		return list->items[i].source->driver;
	}
	return NULL;
}

bool sources_can(const struct source_list *list, unsigned int traits)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->can & traits)
			return true;
	return false;
}

int sources_add(const struct source_list *list, pid_t pid, bool at_exec)
{
	return EACH(list, add, pid, at_exec);
}

int sources_newborn(const struct source_list *list, pid_t pid, pid_t tid)
{
	return EACH(list, newborn, pid, tid);
}

int sources_lives(const struct source_list *list, int (*tell)(void *ctx, const struct thread_life *life),
		  void *ctx)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->lives)
			return list->items[i].source->lives(list->items[i].self, tell, ctx);
	return -ENOTSUP;
}

void sources_drop(const struct source_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->drop)
			list->items[i].source->drop(list->items[i].self, pid);
}

int sources_start(const struct source_list *list)
{
	return EACH(list, start);
}

int sources_take(const struct source_list *list, struct snapshot *snapshot)
{
	return EACH(list, take, snapshot);
}

int sources_describe(const struct source_list *list, struct snapshot *snapshot)
{
	return EACH(list, describe, snapshot);
}

const struct probe_mirror *sources_mirror(const struct source_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->mirror)
			return list->items[i].source->mirror(list->items[i].self);
	return NULL;
}

void sources_settle_hit(const struct source_list *list, struct caught_hit *hit)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->settle_hit)
			list->items[i].source->settle_hit(list->items[i].self, hit);
}

void sources_unpatch(const struct source_list *list, const struct sideband_mapping *mapping, uint64_t addr,
		     uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->unpatch)
			list->items[i].source->unpatch(list->items[i].self, mapping, addr, bytes, size);
}

bool sources_hold(const struct source_list *list)
{
	bool all = list->cnt > 0;

	for (size_t i = 0; i < list->cnt; i++) {
		const struct source *source = list->items[i].source;

		all &= source->hold ? source->hold(list->items[i].self) : !source->stop;
	}
	return all;
}

int sources_stop(const struct source_list *list, int cpu)
{
	int err = 0;

	for (size_t i = 0; i < list->cnt; i++) {
		int failed = list->items[i].source->stop
				     ? list->items[i].source->stop(list->items[i].self, cpu)
				     : 0;

		err = failed ? failed : err;
	}
	return err;
}

void sources_end(const struct source_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->end)
			list->items[i].source->end(list->items[i].self);
}

int sources_drain(const struct source_list *list)
{
	int err = 0;

	for (size_t i = 0; i < list->cnt; i++) {
		int failed =
			list->items[i].source->drain ? list->items[i].source->drain(list->items[i].self) : 0;

		err = failed ? failed : err;
	}
	return err;
}

int sources_drain_ms(const struct source_list *list)
{
	int least = -1;

	for (size_t i = 0; i < list->cnt; i++) {
		int ms = list->items[i].source->drain_ms
				 ? list->items[i].source->drain_ms(list->items[i].self)
				 : -1;

		if (ms >= 0 && (least < 0 || ms < least))
			least = ms;
	}
	return least;
}

int sources_fd(const struct source_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->fd)
			return list->items[i].source->fd(list->items[i].self);
	return -1;
}

bool sources_are_ready(const struct source_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->is_ready && !list->items[i].source->is_ready(list->items[i].self))
			return false;
	return true;
}

bool sources_can_stop(const struct source_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->stop)
			return true;
	return false;
}

bool sources_pause(const struct source_list *list)
{
	return EACH(list, pauses);
}

bool sources_are_over(const struct source_list *list)
{
	return EACH(list, is_over);
}

/* The sum over all that have it. */
#define SUM(list, fn)                                                                         \
	({                                                                                    \
		uint64_t _sum = 0;                                                            \
		for (size_t _i = 0; _i < (list)->cnt; _i++)                                   \
			if ((list)->items[_i].source->fn)                                     \
				_sum += (list)->items[_i].source->fn((list)->items[_i].self); \
		_sum;                                                                         \
	})

uint64_t sources_instruction_cnt(const struct source_list *list)
{
	return SUM(list, instruction_cnt);
}

uint64_t sources_kept_bytes(const struct source_list *list)
{
	return SUM(list, kept_bytes);
}

size_t sources_filter_max(const struct source_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].source->filter_max)
			return list->items[i].source->filter_max(list->items[i].self);
	return 0;
}

int sources_set_filter(const struct source_list *list, const char *filter)
{
	return EACH(list, set_filter, filter);
}
