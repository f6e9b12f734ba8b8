/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a spelling to probes. libbpf could look symbols up, but takes the first of several: an old version of
 * memcpy that nobody calls, the entry of a PLT. Here a name means every function that has it, in the file
 * where the dynamic loader would find it:
 *
 *	FILE:PLACE	that file
 *	PLACE		the executable, or else the first of its libraries, breadth first, that exports it
 *			(or, if none does, the first that has it as a local function)
 *
 * A symbol that the executable only imports has no code there, so the library that defines it is found by the
 * same rule.
 */
#include <elf.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file/path.h"
#include "condition/condition.h"
#include "condition/prints.h"
#include "probe/matches.h"
#include "probe/not_found.h"
#include "probe/places.h"
#include "probe/probe.h"
#include "probe/spec.h"
#include "trigger/trigger.h"

/* Adds probes for what `spec` means in one file; *ret_found is false where it means nothing. */
static int add_probes(struct trigger *trigger, const char *path, const struct trigger_spec *spec,
		      bool *ret_found)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	int err = elf_file_open(&file, path);

	*ret_found = false;
	return err ? err : places_add(trigger, file, spec, ret_found);
}

/* ---- libraries ---- */

struct library_search {
	const struct trigger_spec *spec;
	struct trigger *trigger; /* for what no symbol table holds */
	char *exporter;		 /* the first library that exports the function */
	char *holder;		 /* the first library that has it at all */
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

static int search_functions(void *ctx, const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	CLEANUP(matches_release) struct matches matches = {0};
	struct library_search *search = ctx;
	int err = elf_file_open(&file, path);

	if (!err)
		err = places_find_functions(&matches, file, search->spec);
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

/* Lines, USDT probes, marks: the first library that has them. */
static int search_others(void *ctx, const char *path)
{
	struct library_search *search = ctx;
	bool found;
	int err = add_probes(search->trigger, path, search->spec, &found);

	if (err == -ENOENT || (!err && !found))
		return 0;
	return err ? err : 1;
}

/* ---- the ways to name a place ---- */

static int fail_nowhere(const struct trigger_spec *spec, const char *path, bool libraries)
{
	const char *others = libraries ? " or the libraries it needs" : "";

	switch (spec->kind) {
	case SPEC_GLOB:
		return fail(-ENOENT, "no function in %s%s matches '%s'", path, others, spec->symbol);
	case SPEC_USDT:
		return fail(-ENOENT, "no USDT probe %s:%s in %s%s ('trailcam probes %s' lists what there is)",
			    spec->source, spec->symbol, path, others, path);
	case SPEC_LINE:
		return fail(-ENOENT, "no %s:%u in %s%s", spec->source, spec->line, path, others);
	case SPEC_MARK:
		return fail(-ENOENT,
			    "%s%s has no marks: it calls neither trailcam_snapshot() (trailcam.h) nor "
			    "magic_trace_stop_indicator()",
			    path, others);
	default:
		return not_found_fail(spec->symbol, path, libraries);
	}
}

static int resolve_in_libraries(struct trigger *trigger, const struct trigger_spec *spec, const char *exe)
{
	CLEANUP(library_search_release) struct library_search search = {.spec = spec, .trigger = trigger};
	bool functions = spec->kind == SPEC_SYMBOL || spec->kind == SPEC_GLOB, found;
	const char *library;
	int err = elf_library_each(exe, functions ? search_functions : search_others, &search);

	if (err < 0 || (err && !functions))
		return err < 0 ? err : 0;
	library = search.exporter ? search.exporter : search.holder;
	return library ? add_probes(trigger, library, spec, &found) : fail_nowhere(spec, exe, true);
}

static int resolve_by_search(struct trigger *trigger, const struct trigger_spec *spec, const char *exe)
{
	bool found;
	int err = add_probes(trigger, exe, spec, &found);

	if (spec->kind == SPEC_LINE && err == -ENOENT) {
		/* What is wrong with it in the executable is what the user wants to know. */
		char *sentence = strdup(fail_message(err));

		err = resolve_in_libraries(trigger, spec, exe);
		if (err == -ENOENT)
			err = fail(err, "%s", sentence ? sentence : "");
		free(sentence);
		return err;
	}
	return err || found ? err : resolve_in_libraries(trigger, spec, exe);
}

/* A path has a slash; a name without one is the executable's, a library's, or a file's right here. */
int trigger_find_file(const char *name, const char *exe, char **ret_path)
{
	if (!strchr(name, '/') && strcmp(name, path_name(exe))) {
		int err = elf_library_find(exe, name, ret_path);

		if (!err || err == -ENOMEM || access(name, F_OK))
			return err;
	}
	*ret_path = strdup(strchr(name, '/') || strcmp(name, path_name(exe)) ? name : exe);
	return *ret_path ? 0 : -ENOMEM;
}

static int resolve_in_file(struct trigger *trigger, const struct trigger_spec *spec, const char *exe)
{
	CLEANUP(freep) char *path = NULL;
	bool found;
	int err = trigger_find_file(spec->file, exe, &path);

	if (!err)
		err = add_probes(trigger, path, spec, &found);
	if (err)
		return err;
	return found ? 0 : fail_nowhere(spec, path, false);
}

int trigger_resolve_in(struct trigger *ret_trigger, const struct trigger_spec *spec, const char *path,
		       uint32_t action)
{
	CLEANUP(trigger_release) struct trigger trigger = {.action = action};
	bool found;
	int err = add_probes(&trigger, path, spec, &found);

	if (err || !found)
		return err ? err : -ENOENT;
	*ret_trigger = trigger;
	trigger = (struct trigger){0};
	return 0;
}

int trigger_resolve(struct trigger *ret_trigger, const char *spec_text, const char *exe, uint32_t action)
{
	CLEANUP(trigger_spec_release) struct trigger_spec spec = {0};
	CLEANUP(trigger_release) struct trigger trigger = {.action = action};
	int err = trigger_spec_parse(&spec, spec_text);

	if (!err && spec.kind == SPEC_PICK)
		err = fail(-EINVAL, "'?' needs a terminal: give a name");
	if (err)
		return err;
	trigger.name = strdup(spec_text);
	if (!trigger.name)
		return -ENOMEM;
	err = spec.file ? resolve_in_file(&trigger, &spec, exe) : resolve_by_search(&trigger, &spec, exe);
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
	prints_free(trigger->rule.prints);
	*trigger = (struct trigger){0};
}
