/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/filters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "image/elf_file.h"

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
