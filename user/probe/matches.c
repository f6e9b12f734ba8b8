/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/matches.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"
#include "probe/ifunc.h"

enum { USUAL_CNT = 16 };

static int reserve(struct matches *matches, size_t want)
{
	return array_reserve(&matches->symbols, &matches->cap, want, sizeof(struct elf_symbol *));
}

int matches_find(struct matches *matches, struct elf_file *file, const char *name)
{
	size_t want = USUAL_CNT;

	/* A search is one pass over all symbols, and a second one only if there are very many matches. */
	do {
		if (reserve(matches, want))
			return -ENOMEM;
		want = elf_file_find(file, name, matches->symbols, matches->cap);
	} while (want > matches->cap);
	matches->cnt = want;
	return 0;
}

/* Of an indirect function: it runs once, before the program does. */
static bool is_resolver(const struct elf_symbol *symbols, size_t cnt, size_t i)
{
	uint64_t addr = symbols[i].addr;

	while (i && symbols[i - 1].addr == addr)
		i--;
	for (; i < cnt && symbols[i].addr == addr; i++)
		if (symbols[i].type == STT_GNU_IFUNC)
			return true;
	return false;
}

static bool is_matched(const struct elf_symbol *symbol, const char *pattern)
{
	CLEANUP(freep) char *bare = NULL;

	if (symbol->is_plt || !symbol->is_default)
		return false;
	if (!fnmatch(pattern, symbol->name, 0))
		return true;
	bare = elf_demangle(symbol->name);
	return bare && !fnmatch(pattern, bare, 0);
}

int matches_find_glob(struct matches *matches, struct elf_file *file, const char *pattern)
{
	size_t cnt;
	const struct elf_symbol *symbols = elf_file_symbols(file, &cnt);
	int err = 0;

	/* They are sorted by address: names for the same one are neighbours. */
	for (size_t i = 0; i < cnt && !err; i++) {
		if ((matches->cnt && matches->symbols[matches->cnt - 1]->addr == symbols[i].addr) ||
		    !is_matched(&symbols[i], pattern) || is_resolver(symbols, cnt, i))
			continue;
		err = ARRAY_PUSH(matches->symbols, matches->cnt, matches->cap, &symbols[i]);
	}
	return err;
}

static bool contains(const struct matches *matches, uint64_t addr)
{
	for (size_t i = 0; i < matches->cnt; i++)
		if (matches->symbols[i]->addr == addr)
			return true;
	return false;
}

static int add(struct matches *matches, const struct elf_symbol *symbol)
{
	if (contains(matches, symbol->addr))
		return 0;
	return ARRAY_PUSH(matches->symbols, matches->cnt, matches->cap, symbol);
}

static int add_implementations(struct matches *matches, struct elf_file *file, const struct elf_symbol *ifunc)
{
	size_t cnt = ifunc_implementations(file, ifunc, NULL, 0);
	CLEANUP(freep) const struct elf_symbol **symbols = calloc(cnt + 1, sizeof(*symbols));
	int err = 0;

	if (!symbols)
		return -ENOMEM;
	if (!cnt)
		return fail(-ENOTSUP,
			    "%s in %s is an indirect function (IFUNC): its implementation is chosen when the "
			    "program starts, and no symbols name the candidates; install the debug symbols "
			    "of that file, or name an implementation",
			    ifunc->name, elf_file_path(file));
	ifunc_implementations(file, ifunc, symbols, cnt);
	for (size_t i = 0; i < cnt && !err; i++)
		err = add(matches, symbols[i]);
	return err;
}

int matches_replace_ifuncs(struct matches *matches, struct elf_file *file)
{
	struct matches direct = {0};
	int err = 0;

	for (size_t i = 0; i < matches->cnt && !err; i++) {
		if (matches->symbols[i]->type == STT_GNU_IFUNC)
			err = add_implementations(&direct, file, matches->symbols[i]);
		else
			err = add(&direct, matches->symbols[i]);
	}
	if (err) {
		matches_release(&direct);
		return err;
	}
	matches_release(matches);
	*matches = direct;
	return 0;
}

void matches_release(struct matches *matches)
{
	free(matches->symbols);
	*matches = (struct matches){0};
}
