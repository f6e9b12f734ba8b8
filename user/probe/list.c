/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/list.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct lister {
	struct elf_file *file;
	const char *pattern;
	int (*fn)(void *ctx, const struct trigger_place *place);
	void *ctx;
};

static bool is_wanted(const char *name, const char *pattern)
{
	if (!pattern)
		return true;
	return strpbrk(pattern, "*?[") ? !fnmatch(pattern, name, 0) : strstr(name, pattern) != NULL;
}

static int list_function(const struct lister *lister, const struct elf_symbol *symbol)
{
	CLEANUP(freep) char *demangled = elf_demangle(symbol->name);
	struct trigger_place place = {
		.addr = symbol->addr,
		.kind = symbol->type == STT_GNU_IFUNC ? "ifunc" : "function",
		.name = demangled ? demangled : symbol->name,
	};

	if (!is_wanted(place.name, lister->pattern) && !is_wanted(symbol->name, lister->pattern))
		return 0;
	if (elf_file_source(lister->file, symbol->addr, &place.source, &place.line))
		place.source = NULL;
	return lister->fn(lister->ctx, &place);
}

static int list_functions(const struct lister *lister)
{
	size_t cnt;
	const struct elf_symbol *symbols = elf_file_symbols(lister->file, &cnt);
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		/* Of several names for one address only the first is listed. */
		if (symbols[i].is_plt || (i && symbols[i - 1].addr == symbols[i].addr))
			continue;
		err = list_function(lister, &symbols[i]);
	}
	return err;
}

static int list_usdts(const struct lister *lister)
{
	CLEANUP(elf_usdt_list_release) struct elf_usdt_list list = {0};
	int err = elf_file_usdts(lister->file, &list);

	for (size_t i = 0; i < list.cnt && !err; i++) {
		const struct elf_usdt *usdt = &list.items[i];
		CLEANUP(freep) char *name = NULL;
		struct trigger_place place = {.addr = usdt->addr, .kind = "usdt", .args = usdt->args};

		if (asprintf(&name, "usdt:%s:%s", usdt->provider, usdt->name) < 0)
			return -ENOMEM;
		place.name = name;
		if (is_wanted(name, lister->pattern))
			err = lister->fn(lister->ctx, &place);
	}
	return err;
}

int trigger_list(const char *path, const char *pattern,
		 int (*fn)(void *ctx, const struct trigger_place *place), void *ctx)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct lister lister = {.pattern = pattern, .fn = fn, .ctx = ctx};
	int err = elf_file_open(&file, path);

	if (err)
		return err;
	lister.file = file;
	err = list_functions(&lister);
	return err ? err : list_usdts(&lister);
}
