/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a name to probes. libbpf could look symbols up, but takes the first of several: an old version of memcpy that nobody calls, the entry of a
 * PLT. Here a name means every function that has it, in the file where the dynamic loader would find it:
 *
 *	SYMBOL		the executable, or else the first of its libraries, breadth first, that exports it (or, if none does,
 *			the first that has it as a local function)
 *	FILE:SYMBOL	that file
 *
 * A symbol that the executable only imports has no code there, so the library that defines it is found by the same rule.
 */
#include <elf.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "trigger/condition.h"
#include "trigger/matches.h"
#include "trigger/not_found.h"
#include "trigger/probe.h"
#include "trigger/spec.h"
#include "trigger/trigger.h"

/* ---- one file ---- */

static int add_probe(struct trigger *trigger, struct elf_file *file, const struct elf_symbol *symbol)
{
	struct probe probe;
	int err = probe_init(&probe, file, symbol);

	if (err)
		return err;
	if (ARRAY_PUSH(trigger->probes, trigger->probe_cnt, trigger->probe_cap, probe)) {
		probe_release(&probe);
		return -ENOMEM;
	}
	return 0;
}

/* Adds probes for what is called `symbol`; *ret_found is false where nothing is. */
static int add_probes(struct trigger *trigger, const char *path, const char *symbol, bool *ret_found)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	CLEANUP(matches_release) struct matches matches = {0};
	int err = elf_file_open(&file, path);

	if (!err)
		err = matches_find(&matches, file, symbol);
	if (!err)
		err = matches_replace_ifuncs(&matches, file);
	for (size_t i = 0; i < matches.cnt && !err; i++)
		err = add_probe(trigger, file, matches.symbols[i]);
	if (err)
		return err;
	*ret_found = matches.cnt > 0;
	return 0;
}

/* ---- libraries ---- */

struct library_search {
	const char *symbol;
	char *exporter; /* the first library that exports it */
	char *holder;	/* the first library that has it at all */
};

static void library_search_release(struct library_search *search)
{
	free(search->exporter);
	free(search->holder);
}

static bool has_exported(const struct matches *matches)
{
	for (size_t i = 0; i < matches->cnt; i++)
		if (matches->symbols[i]->bind != STB_LOCAL)
			return true;
	return false;
}

static int search_library(void *ctx, const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	CLEANUP(matches_release) struct matches matches = {0};
	struct library_search *search = ctx;
	int err = elf_file_open(&file, path);

	if (!err)
		err = matches_find(&matches, file, search->symbol);
	if (err || !matches.cnt)
		return err == -ENOMEM ? err : 0;
	if (has_exported(&matches)) {
		search->exporter = strdup(path);
		return search->exporter ? 1 : -ENOMEM;
	}
	if (!search->holder)
		search->holder = strdup(path);
	return search->holder ? 0 : -ENOMEM;
}

/* ---- the ways to name a place ---- */

static int resolve_symbol(struct trigger *trigger, const char *symbol, const char *exe)
{
	CLEANUP(library_search_release) struct library_search search = {.symbol = symbol};
	const char *library;
	bool found;
	int err = add_probes(trigger, exe, symbol, &found);

	if (err || found)
		return err;
	err = elf_library_each(exe, search_library, &search);
	if (err < 0)
		return err;
	library = search.exporter ? search.exporter : search.holder;
	if (!library)
		return not_found_fail(symbol, exe, true);
	return add_probes(trigger, library, symbol, &found);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A path has a slash; a name without one is the executable's, a library's, or a file's right here. */
static int find_file(const char *name, const char *exe, char **ret_path)
{
	if (!strchr(name, '/') && strcmp(name, base_name(exe))) {
		int err = elf_library_find(exe, name, ret_path);

		if (!err || err == -ENOMEM || access(name, F_OK))
			return err;
	}
	*ret_path = strdup(strchr(name, '/') || strcmp(name, base_name(exe)) ? name : exe);
	return *ret_path ? 0 : -ENOMEM;
}

static int resolve_in_file(struct trigger *trigger, const struct trigger_spec *spec, const char *exe)
{
	CLEANUP(freep) char *path = NULL;
	bool found;
	int err = find_file(spec->file, exe, &path);

	if (!err)
		err = add_probes(trigger, path, spec->symbol, &found);
	if (err)
		return err;
	return found ? 0 : not_found_fail(spec->symbol, path, false);
}

int trigger_resolve(struct trigger *ret_trigger, const char *spec_text, const char *exe, uint32_t action)
{
	CLEANUP(trigger_spec_release) struct trigger_spec spec = {0};
	CLEANUP(trigger_release) struct trigger trigger = {.action = action};
	int err = trigger_spec_parse(&spec, spec_text);

	if (err)
		return err;
	trigger.name = strdup(spec_text);
	if (!trigger.name)
		return -ENOMEM;
	err = spec.file ? resolve_in_file(&trigger, &spec, exe) : resolve_symbol(&trigger, spec.symbol, exe);
	if (err)
		return err;
	*ret_trigger = trigger;
	trigger = (struct trigger){0};
	return 0;
}

void trigger_release(struct trigger *trigger)
{
	for (size_t i = 0; i < trigger->probe_cnt; i++)
		probe_release(&trigger->probes[i]);
	free(trigger->probes);
	free(trigger->name);
	condition_free(trigger->rule.condition);
	*trigger = (struct trigger){0};
}
