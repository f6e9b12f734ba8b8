/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/sink.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file/path.h"

/* A suffix that ends in another one stands before that. */
static const struct sink *const sinks[] = {
	&sink_fxt,	    &sink_html,	 &sink_pftrace, &sink_speedscope, &sink_json,	&sink_folded,
	&sink_folded_total, &sink_pprof, &sink_tree,	&sink_csv,	  &sink_slices,
};

static void add_to_list(struct sink_list *list, size_t i, const char *text)
{
	const char *separator = !i ? "" : i + 1 < ARRAY_SIZE(sinks) ? ", " : " or ";
	size_t len = strlen(list->text);

	snprintf(list->text + len, sizeof(list->text) - len, "%s%s", separator, text);
}

struct sink_list sink_names(void)
{
	struct sink_list list = {0};

	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
		add_to_list(&list, i, sinks[i]->name);
	return list;
}

struct sink_list sink_suffixes(void)
{
	struct sink_list list = {0};

	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
		add_to_list(&list, i, sinks[i]->suffix);
	return list;
}

static const struct sink *find_by_suffix(const char *path)
{
	size_t len = output_plain_len(path);

	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
		if (path_ends_in(path, len, sinks[i]->suffix))
			return sinks[i];
	return NULL;
}

static const struct sink *find_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
		if (!strcmp(name, sinks[i]->name))
			return sinks[i];
	fail(-EINVAL, "there is no format '%s': use %s", name, sink_names().text);
	return NULL;
}

const struct sink *sink_find(const char *path, const char *format)
{
	const struct sink *by_name = format ? find_by_name(format) : NULL, *by_suffix = find_by_suffix(path);

	if (format && !by_name)
		return NULL;
	if (by_suffix || by_name)
		return by_suffix ? by_suffix : by_name;
	if (!strcmp(path, "-") || !strncmp(path, "/dev/", 5))
		return &sink_fxt;
	fail(-EINVAL,
	     "no format is known for '%s': its name must end in %s, or in one of them and .gz or .zst, or "
	     "--format must name one",
	     path, sink_suffixes().text);
	return NULL;
}
