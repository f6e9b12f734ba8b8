/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suggests names: those a few letters away, and those that contain the text. Demangled names are compared as
 * a whole and by their last part, so that "compres" leads to "zip::compress".
 */
#include <string.h>

#include "base/edit_distance.h"
#include "elf/elf_internal.h"

enum { SIMILAR_MAX = 16 };

/* Lower is more alike; SIZE_MAX: not at all. */
static size_t unlikeness(const char *name, const char *candidate)
{
	size_t len = strlen(name), other = strlen(candidate), allowed = 1 + len / 4;

	if (len <= other + allowed && other <= len + allowed) {
		size_t distance = edit_distance(name, candidate);

		if (distance <= allowed)
			return distance;
	}
	if (len >= 3 && strstr(candidate, name))
		return allowed + (other - len) / 4;
	return SIZE_MAX;
}

static size_t unlikeness_scoped(const char *name, const char *candidate)
{
	const char *last = candidate;
	size_t whole = unlikeness(name, candidate), part;

	for (const char *colon; (colon = strstr(last, "::"));)
		last = colon + 2;
	part = last == candidate ? SIZE_MAX : unlikeness(name, last);
	return whole <= part ? whole : part;
}

struct likeness {
	size_t unlike;
	char *name;
};

struct likeness_list {
	struct likeness items[SIMILAR_MAX]; /* best first */
	size_t cnt, cap;
};

static bool is_listed(const struct likeness_list *list, const char *name)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (!strcmp(list->items[i].name, name))
			return true;
	return false;
}

/* Takes a copy of the name if it is among the best so far. */
static void offer(struct likeness_list *list, size_t unlike, const char *name)
{
	struct likeness new = {.unlike = unlike};
	size_t at = list->cnt;

	while (at > 0 && list->items[at - 1].unlike > unlike)
		at--;
	if (at == list->cap || is_listed(list, name) || !(new.name = strdup(name)))
		return;
	if (list->cnt == list->cap)
		free(list->items[--list->cnt].name);
	memmove(&list->items[at + 1], &list->items[at], (list->cnt - at) * sizeof(new));
	list->items[at] = new;
	list->cnt++;
}

static void consider(struct likeness_list *list, const struct elf_symbol *symbol, const char *name)
{
	CLEANUP(freep) char *demangled = symbol->is_plt ? NULL : elf_demangle_bare(symbol->name);
	const char *shown = demangled ? demangled : symbol->name;
	size_t unlike = symbol->is_plt ? SIZE_MAX : unlikeness_scoped(name, shown);

	if (unlike != SIZE_MAX)
		offer(list, unlike, shown);
}

size_t elf_file_similar(struct elf_file *file, const char *name, const char **ret_names, size_t cap)
{
	struct likeness_list list = {.cap = cap < SIMILAR_MAX ? cap : SIMILAR_MAX};
	size_t cnt = 0;

	elf_symbols_read(file);
	for (size_t i = 0; i < file->symbol_cnt && list.cap; i++)
		consider(&list, &file->symbols[i], name);
	for (size_t i = 0; i < list.cnt; i++) {
		const char *kept = elf_keep_name(file, list.items[i].name);

		if (kept)
			ret_names[cnt++] = kept;
	}
	return cnt;
}
