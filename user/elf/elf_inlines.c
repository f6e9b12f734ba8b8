/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inlined calls, from DWARF: a function's entry contains an entry for each call that was inlined into it,
 * with the addresses that its code has come to lie at (DWARF 5, 3.3.8). They nest. Each unit is cut once into
 * runs of addresses with the same chain of inlined calls; code without any is a run between two others:
 *
 *	main		|------------------------------|
 *	inlined f	     |-----------|   |--|
 *	inlined g in f	        |---|
 *	runs		|    |  |   |    |   |  |      |
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "elf/elf_internal.h"

enum { NESTING_MAX = 64 };

struct instance {
	uint64_t start, end;
	uint32_t depth;
	const struct symbol *symbol;
};

struct elf_inlines {
	Dwarf_Off unit;
	struct instance *instances;
	size_t instance_cnt, instance_cap;
	struct symbol **symbols;
	size_t symbol_cnt, symbol_cap;
	struct inline_chain *chains; /* by address */
	size_t chain_cnt, chain_cap;
};

static void inlines_free(struct elf_inlines *inlines)
{
	for (size_t i = 0; i < inlines->symbol_cnt; i++) {
		free((char *)inlines->symbols[i]->name);
		free(inlines->symbols[i]);
	}
	for (size_t i = 0; i < inlines->chain_cnt; i++)
		free(inlines->chains[i].symbols);
	free(inlines->chains);
	free(inlines->symbols);
	free(inlines->instances);
	free(inlines);
}

void elf_inlines_release(struct elf_file *file)
{
	for (size_t i = 0; i < file->inlines_cnt; i++)
		inlines_free(file->inlines[i]);
	free(file->inlines);
}

/* ---- the debug information's entries ---- */

static char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	const char *name = dwarf_diename(die);
	char *demangled = linkage ? elf_demangle(linkage) : NULL;

	return demangled ? demangled : strdup(name ? name : "[inlined]");
}

static void find_call(struct symbol *symbol, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t cnt;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) ||
	    !dwarf_diecu(die, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &cnt) || file >= cnt)
		return;
	symbol->call_file = dwarf_filesrc(files, file, NULL, NULL);
	symbol->call_line = (uint32_t)line;
}

static struct symbol *make_symbol(const struct elf_file *file, struct elf_inlines *inlines, Dwarf_Die *die)
{
	struct symbol *symbol = calloc(1, sizeof(*symbol));
	Dwarf_Attribute attribute;
	Dwarf_Die origin;
	int line = 0;

	if (!symbol)
		return NULL;
	symbol->name = function_name(die);
	symbol->object = file->path;
	symbol->named = symbol->source_sought = true;
	if (dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &origin)) {
		symbol->file = dwarf_decl_file(&origin);
		symbol->file_dir = elf_unit_dir(&origin);
		if (symbol->file && !dwarf_decl_line(&origin, &line))
			symbol->line = (uint32_t)line;
	}
	find_call(symbol, die);
	if (!symbol->name || ARRAY_PUSH(inlines->symbols, inlines->symbol_cnt, inlines->symbol_cap, symbol)) {
		free((char *)symbol->name);
		free(symbol);
		return NULL;
	}
	return symbol;
}

static int add_instance(const struct elf_file *file, struct elf_inlines *inlines, Dwarf_Die *die,
			uint32_t depth)
{
	struct symbol *symbol = make_symbol(file, inlines, die);
	Dwarf_Addr base, start, end;

	if (!symbol)
		return -ENOMEM;
	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
		struct instance instance = {.start = start, .end = end, .depth = depth, .symbol = symbol};

		if (!symbol->start || start < symbol->start)
			symbol->start = symbol->end = start;
		if (start < end &&
		    ARRAY_PUSH(inlines->instances, inlines->instance_cnt, inlines->instance_cap, instance))
			return -ENOMEM;
	}
	return 0;
}

/* What lies in an entry: recursion as deep as blocks and inlined calls nest. */
static int visit_children(const struct elf_file *file, struct elf_inlines *inlines, Dwarf_Die *parent,
			  uint32_t depth, unsigned int nesting)
{
	Dwarf_Die die;
	int err = 0, more = dwarf_child(parent, &die);

	while (!more && !err && nesting < NESTING_MAX) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			err = add_instance(file, inlines, &die, depth);
			if (!err)
				err = visit_children(file, inlines, &die, depth + 1, nesting + 1);
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_namespace:
			err = visit_children(file, inlines, &die, depth, nesting + 1);
			break;
		default:
			break;
		}
		more = dwarf_siblingof(&die, &die);
	}
	return err;
}

/* ---- runs ---- */

static int compare(const void *left, const void *right)
{
	const struct instance *a = left, *b = right;

	/* The outer one first. */
	return ORDER_UP(a->start, b->start) ?: ORDER_UP(a->depth, b->depth);
}

static int emit(struct elf_inlines *inlines, const struct instance *const *open, size_t cnt, uint64_t start,
		uint64_t end)
{
	struct inline_chain chain = {.start = start, .end = end, .cnt = cnt};

	if (start >= end)
		return 0;
	chain.symbols = calloc(cnt + 1, sizeof(struct symbol *));
	if (!chain.symbols)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		chain.symbols[i] = open[i]->symbol;
	if (ARRAY_PUSH(inlines->chains, inlines->chain_cnt, inlines->chain_cap, chain)) {
		free(chain.symbols);
		return -ENOMEM;
	}
	return 0;
}

/* Compilers let an inlined call end behind the one that it is in, too. */
static void close_ended(const struct instance **open, size_t *cnt, uint64_t at)
{
	size_t kept = 0;

	for (size_t i = 0; i < *cnt; i++)
		if (open[i]->end > at)
			open[kept++] = open[i];
	*cnt = kept;
}

/* Runs up to `to`. */
static int advance(struct elf_inlines *inlines, const struct instance **open, size_t *cnt, uint64_t *at,
		   uint64_t to)
{
	int err = 0;

	while (*at < to && !err) {
		uint64_t end = to;

		for (size_t i = 0; i < *cnt; i++)
			end = open[i]->end < end ? open[i]->end : end;
		err = emit(inlines, open, *cnt, *at, end);
		*at = end;
		close_ended(open, cnt, *at);
	}
	return err;
}

static int cut_runs(struct elf_inlines *inlines)
{
	const struct instance *open[NESTING_MAX];
	uint64_t at = 0;
	size_t cnt = 0;
	int err = 0;

	sort_array(inlines->instances, inlines->instance_cnt, sizeof(*inlines->instances), compare);
	for (size_t i = 0; i < inlines->instance_cnt && !err; i++) {
		const struct instance *instance = &inlines->instances[i];

		err = advance(inlines, open, &cnt, &at, instance->start);
		if (cnt < NESTING_MAX && instance->end > at)
			open[cnt++] = instance;
	}
	return err ? err : advance(inlines, open, &cnt, &at, UINT64_MAX);
}

/* ---- looking up ---- */

static const struct elf_inlines *unit_inlines(struct elf_file *file, Dwarf_Off unit)
{
	struct elf_inlines *inlines;
	Dwarf_Die die;

	for (size_t i = 0; i < file->inlines_cnt; i++)
		if (file->inlines[i]->unit == unit)
			return file->inlines[i];
	inlines = calloc(1, sizeof(*inlines));
	if (!inlines)
		return NULL;
	inlines->unit = unit;
	if (!dwarf_offdie(file->dwarf, unit, &die) || visit_children(file, inlines, &die, 0, 0) ||
	    cut_runs(inlines) || ARRAY_PUSH(file->inlines, file->inlines_cnt, file->inlines_cap, inlines)) {
		inlines_free(inlines);
		return NULL;
	}
	return inlines;
}

const struct inline_chain *elf_file_inlines_at(struct elf_file *file, uint64_t addr)
{
	const struct elf_inlines *inlines;
	size_t at;
	Dwarf_Off unit;

	if (!elf_unit_at(file, addr, &unit) || !(inlines = unit_inlines(file, unit)))
		return NULL;
	at = BISECT(inlines->chain_cnt, i, inlines->chains[i].end <= addr);
	return at < inlines->chain_cnt && inlines->chains[at].start <= addr ? &inlines->chains[at] : NULL;
}
