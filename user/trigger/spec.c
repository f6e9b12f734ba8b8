/* SPDX-License-Identifier: BSD-2-Clause */
/* C++ and Rust names hold colons, but only in pairs: the first single one is the separator. */
#include "trigger/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

/* The separator, or NULL. */
static const char *find_separator(const char *text)
{
	const char *at = text;

	while ((at = strchr(at, ':'))) {
		if (at[1] != ':')
			return at;
		at += 2;
	}
	return NULL;
}

int trigger_spec_parse(struct trigger_spec *ret_spec, const char *text)
{
	const char *separator = find_separator(text);
	const char *symbol = separator ? separator + 1 : text;
	CLEANUP(trigger_spec_release) struct trigger_spec spec = {0};

	if (!*symbol || separator == text)
		return fail(
			-EINVAL,
			"'%s' is not a trigger: give SYMBOL or FILE:SYMBOL, FILE being a path or a library",
			text);
	spec.symbol = strdup(symbol);
	if (separator)
		spec.file = strndup(text, (size_t)(separator - text));
	if (!spec.symbol || (separator && !spec.file))
		return -ENOMEM;
	*ret_spec = spec;
	spec = (struct trigger_spec){0};
	return 0;
}

void trigger_spec_release(struct trigger_spec *spec)
{
	free(spec->file);
	free(spec->symbol);
	*spec = (struct trigger_spec){0};
}
