/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/marks/trigger_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/file/path.h"
#include "base/sort.h"

static int compare(const struct probe_place *place, uint32_t trigger, const char *function)
{
	return ORDER_UP(place->trigger, trigger) ?: strcmp(place->function, function);
}

static int compare_places(const void *left, const void *right)
{
	const struct probe_place *const *a = left, *const *b = right;

	return compare(*a, (*b)->trigger, (*b)->function);
}

int trigger_calls_init(struct trigger_calls *ret_calls, const struct snapshot *snapshot)
{
	struct trigger_calls calls = {.cnt = snapshot->place_cnt};

	calls.sorted = calloc(calls.cnt + 1, sizeof(*calls.sorted));
	if (!calls.sorted)
		return -ENOMEM;
	for (size_t i = 0; i < calls.cnt; i++)
		calls.sorted[i] = &snapshot->places[i];
	sort_array(calls.sorted, calls.cnt, sizeof(*calls.sorted), compare_places);
	*ret_calls = calls;
	return 0;
}

void trigger_calls_release(struct trigger_calls *calls)
{
	free(calls->sorted);
}

bool trigger_calls_have(const struct trigger_calls *calls, uint32_t trigger, const struct symbol *symbol)
{
	size_t low = BISECT(calls->cnt, i, compare(calls->sorted[i], trigger, symbol->name) < 0);

	for (; low < calls->cnt && !compare(calls->sorted[low], trigger, symbol->name); low++)
		if (symbol->object && !strcmp(path_name(calls->sorted[low]->path), path_name(symbol->object)))
			return true;
	return false;
}
