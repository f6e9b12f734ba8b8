/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int counter_get(struct timeline *timeline, const struct count *count, struct counter **ret_counter)
{
	struct counter fresh = {.pid = count->pid, .tid = count->tid};
	int err;

	for (size_t i = 0; i < timeline->counter_cnt; i++) {
		*ret_counter = &timeline->counters[i];
		if ((*ret_counter)->tid == count->tid && !strcmp((*ret_counter)->name, count->name))
			return 0;
	}
	fresh.name = strdup(count->name);
	err = fresh.name ? ARRAY_PUSH(timeline->counters, timeline->counter_cnt, timeline->counter_cap, fresh)
			 : -ENOMEM;
	if (err)
		free(fresh.name);
	*ret_counter = err ? NULL : &timeline->counters[timeline->counter_cnt - 1];
	return err;
}

int counts_add(struct timeline *timeline, const struct count *count)
{
	struct counter_point point = {.time_ns = count->time_ns, .value = count->value};
	struct counter *counter;
	int err = counter_get(timeline, count, &counter);

	if (err)
		return err;
	if (counter->point_cnt && !count->is_level)
		point.value += counter->points[counter->point_cnt - 1].value;
	return ARRAY_PUSH(counter->points, counter->point_cnt, counter->point_cap, point);
}
