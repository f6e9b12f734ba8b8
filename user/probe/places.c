/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A name of several functions is refused if they are different functions for the linker, too: static
 * functions of different source files. Overloads, template instances and clones have linker names of their
 * own, and the plain name means all of them.
 */
#include "probe/places.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "probe/args/arg_layout.h"
#include "probe/boundary.h"
#include "probe/matches.h"
#include "probe/probe.h"

enum { CANDIDATES_MAX = 8 };

static int keep_probe(struct trigger *trigger, struct probe *probe)
{
	for (size_t i = 0; i < trigger->probe_cnt; i++) {
		if (trigger->probes[i].file_offset != probe->file_offset ||
		    strcmp(trigger->probes[i].path, probe->path))
			continue;
		probe_release(probe);
		return 0;
	}
	if (!ARRAY_PUSH(trigger->probes, trigger->probe_cnt, trigger->probe_cap, *probe))
		return 0;
	probe_release(probe);
	return -ENOMEM;
}

/* ---- functions ---- */

int places_find_functions(struct matches *matches, struct elf_file *file, const struct trigger_spec *spec)
{
	return spec->kind == SPEC_GLOB ? matches_find_glob(matches, file, spec->symbol)
				       : matches_find(matches, file, spec->symbol);
}

static void append_candidate(char *text, size_t size, struct elf_file *file, const struct elf_symbol *symbol,
			     size_t number)
{
	size_t len = strlen(text);
	const char *source;
	uint32_t line;

	if (elf_file_source(file, symbol->addr, &source, &line))
		snprintf(text + len, size - len, "%s%s#%zu (0x%llx)", len ? ", " : "", symbol->name, number,
			 (unsigned long long)symbol->addr);
	else
		snprintf(text + len, size - len, "%s%s#%zu (%s:%u)", len ? ", " : "", symbol->name, number,
			 source, line);
}

static int fail_ambiguous(const struct matches *matches, struct elf_file *file,
			  const struct trigger_spec *spec)
{
	char text[2048] = "";

	for (size_t i = 0; i < matches->cnt && i < CANDIDATES_MAX; i++)
		append_candidate(text, sizeof(text), file, matches->symbols[i], i + 1);
	return fail(-EINVAL, "%zu different functions in %s are called %s: choose one of %s%s", matches->cnt,
		    elf_file_path(file), spec->symbol, text, matches->cnt > CANDIDATES_MAX ? ", ..." : "");
}

static bool is_ambiguous(const struct matches *matches)
{
	for (size_t i = 1; i < matches->cnt; i++)
		if (!strcmp(matches->symbols[i]->name, matches->symbols[0]->name))
			return true;
	return false;
}

static int select_one(struct matches *matches, struct elf_file *file, const struct trigger_spec *spec)
{
	if (spec->selector > matches->cnt)
		return fail(-EINVAL, "%s has %zu function%s called %s, so there is no #%u",
			    elf_file_path(file), matches->cnt, matches->cnt == 1 ? "" : "s", spec->symbol,
			    spec->selector);
	matches->symbols[0] = matches->symbols[spec->selector - 1];
	matches->cnt = 1;
	return 0;
}

/* Some places have the registers of the function's beginning. */
static int add_within(struct trigger *trigger, struct elf_file *file, const struct elf_symbol *symbol,
		      uint64_t addr, const char *name)
{
	struct elf_symbol function = {.name = symbol ? symbol->name : ""};
	struct probe probe;
	int err = probe_init(&probe, file, addr, name);

	if (err)
		return err;
	if (boundary_function_start(file, addr, &function.addr) &&
	    (addr == function.addr || addr == boundary_best_entry(file, function.addr)))
		probe.layout = arg_layout_of_function(file, &function);
	return keep_probe(trigger, &probe);
}

static int add_function(struct trigger *trigger, struct elf_file *file, const struct elf_symbol *symbol,
			uint64_t offset)
{
	char name[1024];
	struct probe probe;
	int err;

	if (!offset) {
		err = probe_init_function(&probe, file, symbol);
		return err ? err : keep_probe(trigger, &probe);
	}
	if (symbol->size && offset >= symbol->size)
		return fail(-EINVAL, "%s in %s is %llu bytes long: +0x%llx is beyond its end", symbol->name,
			    elf_file_path(file), (unsigned long long)symbol->size,
			    (unsigned long long)offset);
	err = boundary_check(file, symbol->addr + offset);
	if (err)
		return err;
	snprintf(name, sizeof(name), "%s+0x%llx", symbol->name, (unsigned long long)offset);
	return add_within(trigger, file, symbol, symbol->addr + offset, name);
}

static int add_functions(struct trigger *trigger, struct elf_file *file, const struct trigger_spec *spec,
			 bool *ret_found)
{
	CLEANUP(matches_release) struct matches matches = {0};
	bool glob = spec->kind == SPEC_GLOB;
	size_t refused = 0;
	int err = places_find_functions(&matches, file, spec);

	if (!err && matches.cnt && spec->selector)
		err = select_one(&matches, file, spec);
	else if (!err && !glob && is_ambiguous(&matches))
		err = fail_ambiguous(&matches, file, spec);
	if (!err && !glob)
		err = matches_replace_ifuncs(&matches, file);
	for (size_t i = 0; i < matches.cnt && !err; i++) {
		err = add_function(trigger, file, matches.symbols[i], spec->offset);
		/* A pattern means what can be probed. */
		if (err == -ENOTSUP && glob && ++refused < matches.cnt)
			err = 0;
	}
	*ret_found = matches.cnt;
	return err;
}

/* ---- others ---- */

static int add_address(struct trigger *trigger, struct elf_file *file, uint64_t addr)
{
	const struct elf_symbol *symbol = elf_file_symbol_at(file, addr);
	char name[1024];
	int err = boundary_check(file, addr);

	if (err)
		return err;
	if (symbol && symbol->addr == addr)
		snprintf(name, sizeof(name), "%s", symbol->name);
	else if (symbol)
		snprintf(name, sizeof(name), "%s+0x%llx", symbol->name,
			 (unsigned long long)(addr - symbol->addr));
	else
		snprintf(name, sizeof(name), "0x%llx", (unsigned long long)addr);
	return add_within(trigger, file, symbol, addr, name);
}

static int add_line(struct trigger *trigger, struct elf_file *file, const struct trigger_spec *spec)
{
	CLEANUP(freep) uint64_t *addrs = NULL;
	size_t cnt;
	int err = elf_file_find_line(file, spec->source, spec->line, &addrs, &cnt);

	for (size_t i = 0; !err && i < cnt; i++)
		err = add_address(trigger, file, addrs[i]);
	return err;
}

static int add_usdt(struct trigger *trigger, struct elf_file *file, const struct elf_usdt *usdt)
{
	struct probe probe;
	int err = probe_init_usdt(&probe, file, usdt);

	return err ? err : keep_probe(trigger, &probe);
}

static int add_usdts(struct trigger *trigger, struct elf_file *file, const char *provider, const char *name,
		     bool *ret_found)
{
	CLEANUP(elf_usdt_list_release) struct elf_usdt_list list = {0};
	int err = elf_file_usdts(file, &list);

	for (size_t i = 0; !err && i < list.cnt; i++) {
		if (strcmp(list.items[i].provider, provider) || strcmp(list.items[i].name, name))
			continue;
		*ret_found = true;
		err = add_usdt(trigger, file, &list.items[i]);
	}
	return err;
}

/*
 * As a function where it has a name, and as a USDT probe where symbols are gone: two ways to the same place
 * are one probe.
 */
static int add_marks(struct trigger *trigger, struct elf_file *file, bool *ret_found)
{
	static const char *const names[] = {"trailcam_snapshot_indicator", "magic_trace_stop_indicator"};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !err; i++) {
		struct trigger_spec spec = {.kind = SPEC_SYMBOL, .symbol = (char *)names[i]};
		bool found = false;

		err = add_functions(trigger, file, &spec, &found);
		*ret_found |= found;
	}
	return err ? err : add_usdts(trigger, file, "trailcam", "snapshot", ret_found);
}

int places_add(struct trigger *trigger, struct elf_file *file, const struct trigger_spec *spec,
	       bool *ret_found)
{
	*ret_found = false;
	switch (spec->kind) {
	case SPEC_ADDRESS:
		*ret_found = true;
		return add_address(trigger, file, spec->offset);
	case SPEC_LINE:
		*ret_found = true;
		return add_line(trigger, file, spec);
	case SPEC_USDT:
		return add_usdts(trigger, file, spec->source, spec->symbol, ret_found);
	case SPEC_MARK:
		return add_marks(trigger, file, ret_found);
	default:
		return add_functions(trigger, file, spec, ret_found);
	}
}
