/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a source line to its instructions: the rows of the line tables that say "a statement begins here". A
 * line that was inlined or made from a template is in several functions; of each the first such row counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "elf/elf_internal.h"

struct search {
	struct elf_file *file;
	const char *source;
	uint32_t line;
	uint64_t *addrs;
	size_t cnt, cap;
	bool file_found;
	uint32_t next; /* the nearest line after it that has code; 0: none */
};

/* Whole path components from the end: "b.c" and "a/b.c" are both meant by "/src/a/b.c". */
static bool is_meant(const char *path, const char *source)
{
	size_t path_len = strlen(path), len = strlen(source);

	if (len > path_len || strcmp(path + path_len - len, source))
		return false;
	return len == path_len || path[path_len - len - 1] == '/';
}

/* Keeps the first address in each function. */
static int add_addr(struct search *search, uint64_t addr)
{
	const struct elf_symbol *symbol = elf_file_symbol_at(search->file, addr);

	for (size_t i = 0; i < search->cnt; i++) {
		if (elf_file_symbol_at(search->file, search->addrs[i]) != symbol)
			continue;
		if (addr < search->addrs[i])
			search->addrs[i] = addr;
		return 0;
	}
	return ARRAY_PUSH(search->addrs, search->cnt, search->cap, addr);
}

static int look_at_row(struct search *search, Dwarf_Line *row)
{
	const char *path = dwarf_linesrc(row, NULL, NULL);
	bool is_statement, is_end;
	Dwarf_Addr addr;
	int number;

	if (!path || !is_meant(path, search->source))
		return 0;
	search->file_found = true;
	if (dwarf_lineno(row, &number) || dwarf_linebeginstatement(row, &is_statement) ||
	    dwarf_lineendsequence(row, &is_end) || dwarf_lineaddr(row, &addr) || !is_statement || is_end)
		return 0;
	if (number > (int)search->line && (!search->next || number < (int)search->next))
		search->next = (uint32_t)number;
	return number == (int)search->line ? add_addr(search, addr) : 0;
}

static int look_at_unit(struct search *search, Dwarf_Die *die)
{
	Dwarf_Lines *rows;
	size_t cnt;
	int err = 0;

	if (dwarf_getsrclines(die, &rows, &cnt))
		return 0;
	for (size_t i = 0; i < cnt && !err; i++)
		err = look_at_row(search, dwarf_onesrcline(rows, i));
	return err;
}

static int fail_not_found(const struct search *search)
{
	const char *path = elf_file_path(search->file);

	if (!search->file->dwarf)
		return fail(-ENOENT,
			    "%s has no debug information, so %s:%u cannot be found: compile with -g, or "
			    "install its debug file",
			    path, search->source, search->line);
	if (!search->file_found)
		return fail(-ENOENT, "no source file '%s' in the debug information of %s", search->source,
			    path);
	if (search->next)
		return fail(-ENOENT, "there is no code for %s:%u in %s; the next line that has some is %u",
			    search->source, search->line, path, search->next);
	return fail(-ENOENT, "there is no code for %s:%u in %s, nor for a line after it", search->source,
		    search->line, path);
}

int elf_file_find_line(struct elf_file *file, const char *source, uint32_t line, uint64_t **ret_addrs,
		       size_t *ret_cnt)
{
	struct search search = {.file = file, .source = source, .line = line};
	Dwarf_Die die;
	int err = 0;

	elf_dwarf_open(file);
	for (Dwarf_CU *unit = NULL;
	     file->dwarf && !err && !dwarf_get_units(file->dwarf, unit, &unit, NULL, NULL, &die, NULL);)
		err = look_at_unit(&search, &die);
	if (!err && !search.cnt)
		err = fail_not_found(&search);
	if (err) {
		free(search.addrs);
		return err;
	}
	*ret_addrs = search.addrs;
	*ret_cnt = search.cnt;
	return 0;
}
