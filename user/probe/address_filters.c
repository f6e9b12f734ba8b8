/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/address_filters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "elf/elf_file.h"

void filters_release(struct filters *filters)
{
	free(filters->text);
	*filters = (struct filters){0};
}

static int add(struct filters *filters, const char *action, uint64_t offset, uint64_t size, const char *path)
{
	char *text;

	if (asprintf(&text, "%s%s%s 0x%llx/0x%llx@%s", filters->text ? filters->text : "",
		     filters->text ? "," : "", action, (unsigned long long)offset, (unsigned long long)size,
		     path) < 0)
		return -ENOMEM;
	free(filters->text);
	filters->text = text;
	filters->cnt++;
	return 0;
}

/* A probe may stand a little behind the function's beginning. */
static int add_function(struct filters *filters, const struct probe *probe)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const struct elf_symbol *symbol;
	uint64_t offset;
	int err = elf_file_open(&file, probe->path);

	if (err)
		return err;
	symbol = elf_file_symbol_at(file, probe->addr);
	if (!symbol || !symbol->size || elf_file_offset(file, symbol->addr, &offset))
		return fail(-EINVAL, "%s in %s has no size: only whole functions can be filtered",
			    probe->symbol, probe->path);
	return add(filters, "filter", offset, symbol->size, probe->path);
}

int filters_add_functions(struct filters *filters, const struct trigger *trigger)
{
	int err = 0;

	for (size_t i = 0; i < trigger->probe_cnt && !err; i++)
		err = add_function(filters, &trigger->probes[i]);
	return err;
}

int filters_add_stops(struct filters *filters, const struct trigger *trigger)
{
	int err = 0;

	for (size_t i = 0; i < trigger->probe_cnt && !err; i++)
		err = add(filters, "stop", trigger->probes[i].file_offset, 1, trigger->probes[i].path);
	return err;
}

/* ---- reading ---- */

static bool take_action(const char **text, bool *ret_stops)
{
	static const struct {
		const char *name;
		bool stops;
	} actions[] = {{"filter ", false}, {"start ", false}, {"stop ", true}, {"tracestop ", true}};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		size_t len = strlen(actions[i].name);

		if (strncmp(*text, actions[i].name, len))
			continue;
		*text += len;
		*ret_stops = actions[i].stops;
		return true;
	}
	return false;
}

bool filters_next(const char **text, struct address_filter *ret_filter)
{
	struct address_filter filter = {.size = 1};
	const char *at = *text + strspn(*text, " ,");
	char *end;

	if (!take_action(&at, &filter.stops))
		return false;
	filter.offset = strtoull(at, &end, 0);
	if (end == at)
		return false;
	at = end;
	if (*at == '/') {
		filter.size = strtoull(at + 1, &end, 0);
		at = end;
	}
	if (*at == '@') {
		filter.file = at + 1;
		filter.file_len = strcspn(at + 1, ",");
		at += 1 + filter.file_len;
	}
	*text = at;
	*ret_filter = filter;
	return true;
}
