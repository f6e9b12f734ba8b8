/* SPDX-License-Identifier: BSD-2-Clause */
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

static const struct sink *const sinks[] = {&sink_fxt,  &sink_json, &sink_folded,
					   &sink_tree, &sink_csv,  &sink_slices};

static bool ends_in(const char *path, size_t len, const char *suffix)
{
	size_t suffix_len = strlen(suffix);

	return len > suffix_len && !strncmp(path + len - suffix_len, suffix, suffix_len);
}

/* ".fxt, .json or .tsv" */
static struct list {
	char text[256];
} suffixes(void)
{
	struct list list = {0};

	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++) {
		const char *separator = !i ? "" : i + 1 < ARRAY_SIZE(sinks) ? ", " : " or ";
		size_t len = strlen(list.text);

		snprintf(list.text + len, sizeof(list.text) - len, "%s%s", separator, sinks[i]->suffix);
	}
	return list;
}

const struct sink *sink_find(const char *path)
{
	size_t len = strlen(path);

	if (!strcmp(path, "-") || !strncmp(path, "/dev/", 5))
		return &sink_fxt;
	if (ends_in(path, len, ".gz"))
		len -= 3;
	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
		if (ends_in(path, len, sinks[i]->suffix))
			return sinks[i];
	fail(-EINVAL, "no format is known for '%s': its name must end in %s, or in one of them and .gz", path,
	     suffixes().text);
	return NULL;
}
