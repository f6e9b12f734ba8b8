/* SPDX-License-Identifier: BSD-2-Clause */
/* "?" and "FILE:?" as a trigger: one of the functions of the file. */
#include "cli/capture/pick.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "probe/list.h"
#include "trigger/trigger.h"

struct lines {
	char **items;
	size_t cnt, cap;
};

static void lines_release(struct lines *lines)
{
	for (size_t i = 0; i < lines->cnt; i++)
		free(lines->items[i]);
	free(lines->items);
}

static int add_line(void *ctx, const struct trigger_place *place)
{
	struct lines *lines = ctx;
	char *line = strdup(place->name);

	if (line && !ARRAY_PUSH(lines->items, lines->cnt, lines->cap, line))
		return 0;
	free(line);
	return -ENOMEM;
}

bool pick_is_wanted(const char *spec)
{
	size_t len = strlen(spec);

	return !strcmp(spec, "?") || (len > 2 && !strcmp(spec + len - 2, ":?"));
}

int pick_trigger(const char *spec, const char *exe, char **ret_spec)
{
	CLEANUP(lines_release) struct lines lines = {0};
	CLEANUP(freep) char *file = strlen(spec) > 2 ? strndup(spec, strlen(spec) - 2) : NULL;
	CLEANUP(freep) char *path = NULL;
	size_t choice;
	int err = 0;

	if (file)
		err = trigger_find_file(file, exe, &path);
	if (!err)
		err = trigger_list(path ? path : exe, NULL, add_line, &lines);
	if (!err)
		err = pick("trigger", lines.items, lines.cnt, &choice);
	if (err)
		return err;
	if (asprintf(ret_spec, "%s%s%s", file ? file : "", file ? ":" : "", lines.items[choice]) < 0)
		return -ENOMEM;
	return 0;
}
