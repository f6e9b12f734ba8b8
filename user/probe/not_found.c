/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "No such function" has two remedies: another spelling, or symbols for the file. Similar names are taken
 * from the file first, then from its libraries in search order, until there are enough.
 *
 * A file without local functions is stripped: the compiler's start-up code puts some into every .symtab, and
 * .dynsym has none.
 */
#include "probe/not_found.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file/path.h"
#include "elf/elf_file.h"
#include "probe/debug_package.h"

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
	char *shown = elf_shown_name(name);

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

static void append(char *text, size_t size, const char *a, const char *b)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", a, b);
}

static bool is_stripped(struct elf_file *file)
{
	size_t cnt;
	const struct elf_symbol *symbols = elf_file_symbols(file, &cnt);

	for (size_t i = 0; i < cnt; i++)
		if (!symbols[i].is_plt && symbols[i].bind == STB_LOCAL)
			return false;
	return true;
}

/* Where the symbols of a stripped file can be had, as a sentence. */
static void describe_remedy(struct elf_file *file, char *text, size_t size)
{
	CLEANUP(freep) char *package = debug_package_find(elf_file_path(file), DEBUG_PACKAGE_LISTS);
	size_t build_id_size;

	if (package)
		append(text, size, "The missing symbols are in the package ", package);
	if (elf_file_build_id(file, &build_id_size)) {
		append(text, size, package ? "; or fetch them: " : "The missing symbols may be fetched: ",
		       "debuginfod-find debuginfo ");
		append(text, size, elf_file_path(file), "");
	}
	if (!*text)
		append(text, size, "The missing symbols are in the file it was stripped from", "");
}

/* Programs that run scripts have none of their functions. */
static bool runs_scripts(const char *path)
{
	static const char *const names[] = {"python", "node", "ruby", "perl", "php", "lua", "java"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(path_name(path), names[i], strlen(names[i])))
			return true;
	return false;
}

int not_found_fail(const char *symbol, const char *path, bool libraries)
{
	CLEANUP(offer_release) struct offer offer = {.symbol = symbol};
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	char more[2048] = "", remedy[1024] = "";

	if (!elf_file_open(&file, path)) {
		if (is_stripped(file))
			describe_remedy(file, remedy, sizeof(remedy));
		offer_similar(&offer, file);
	}
	if (libraries)
		elf_library_each(path, offer_library, &offer);
	for (size_t i = 0; i < offer.cnt; i++)
		append(more, sizeof(more), i ? ", " : "; did you mean ", offer.names[i]);
	if (*remedy)
		append(more, sizeof(more), offer.cnt ? "? " : ". ", remedy);
	else if (offer.cnt)
		append(more, sizeof(more), "?", "");
	if (runs_scripts(path))
		append(more, sizeof(more), offer.cnt && !*remedy ? " " : ". ",
		       "A function of a script cannot be a trigger, but a moment in it can: see SCRIPTS in "
		       "trailcam(1)");
	return fail(-ENOENT, "no function '%s' in %s%s%s%s", symbol, path,
		    *remedy ? " (stripped: only exported functions and main have names)" : "",
		    libraries ? " or the libraries it needs" : "", more);
}
