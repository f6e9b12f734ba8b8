/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "No such function" has two remedies: another spelling, or symbols for the file. Names that come near are offered from the file itself
 * first, then from its libraries in the order they are searched, until there are enough.
 *
 * That a file is stripped shows by what is missing: the compiler's own start-up code puts local functions into every
 * .symtab, and .dynsym has none.
 */
#include "trigger/not_found.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "image/elf_file.h"

enum { OFFERED_MAX = 5 };

struct offer {
	const char *symbol;
	char *names[OFFERED_MAX]; /* demangled; owned */
	size_t cnt;
};

static void offer_release(struct offer *offer)
{
	for (size_t i = 0; i < offer->cnt; i++)
		free(offer->names[i]);
}

static void offer_add(struct offer *offer, const char *name)
{
	char *demangled = elf_demangle(name);
	char *shown = demangled ? demangled : strdup(name);

	for (size_t i = 0; i < offer->cnt && shown; i++) {
		if (!strcmp(offer->names[i], shown)) {
			free(shown);
			shown = NULL;
		}
	}
	if (shown)
		offer->names[offer->cnt++] = shown;
}

static void offer_similar(struct offer *offer, struct elf_file *file)
{
	const char *names[OFFERED_MAX];
	size_t cnt = elf_file_similar(file, offer->symbol, names, OFFERED_MAX);

	for (size_t i = 0; i < cnt && offer->cnt < OFFERED_MAX; i++)
		offer_add(offer, names[i]);
}

static int offer_library(void *ctx, const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct offer *offer = ctx;

	if (offer->cnt < OFFERED_MAX && !elf_file_open(&file, path))
		offer_similar(offer, file);
	return offer->cnt == OFFERED_MAX;
}

/* What the symbol table of the file itself suffers from, as the end of a sentence. */
static const char *describe_symbols(struct elf_file *file)
{
	size_t cnt, functions = 0, local = 0;
	const struct elf_symbol *symbols = elf_file_symbols(file, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		functions += !symbols[i].is_plt;
		local += !symbols[i].is_plt && symbols[i].bind == STB_LOCAL;
	}
	if (!functions)
		return " (it has no function symbols at all: stripped)";
	return local ? "" : " (it is stripped: only functions that it exports have names)";
}

static void append(char *text, size_t size, const char *a, const char *b)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", a, b);
}

int not_found_fail(const char *symbol, const char *path, bool libraries)
{
	CLEANUP(offer_release) struct offer offer = {.symbol = symbol};
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const char *stripped = "";
	char similar[1024] = "";

	if (!elf_file_open(&file, path)) {
		stripped = describe_symbols(file);
		offer_similar(&offer, file);
	}
	if (libraries)
		elf_library_each(path, offer_library, &offer);
	for (size_t i = 0; i < offer.cnt; i++)
		append(similar, sizeof(similar), i ? ", " : "; did you mean ", offer.names[i]);
	if (offer.cnt)
		append(similar, sizeof(similar), "?", "");
	return fail(-ENOENT, "no function '%s' in %s%s%s%s", symbol, path, stripped,
		    libraries ? " or the libraries it needs" : "", similar);
}
