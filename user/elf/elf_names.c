/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds functions by name: as in the symbol table, or demangled, "ns::f" or "ns::f(int, char)". Demangling
 * every symbol of a large program takes seconds, so only symbols whose mangled name contains the identifier
 * are demangled.
 */
#include <ctype.h>
#include <string.h>

#include "elf/elf_internal.h"

static bool equal_but_for_spaces(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}

/* What is looked for. */
struct wanted {
	const char *version; /* NULL: the default one */
	char *name;	     /* without the version */
	char *identifier;    /* must occur in mangled names; NULL where that cannot be told */
	bool plt;	     /* "puts@plt" */
};

static void wanted_release(struct wanted *wanted)
{
	free(wanted->name);
	free(wanted->identifier);
}

/*
 * The last identifier before parameters or template arguments: mangled names spell it out, but for operators
 * and some of std's.
 */
static char *find_identifier(const char *name)
{
	size_t end = strcspn(name, "(<"), start;

	while (end && !isalnum((unsigned char)name[end - 1]) && name[end - 1] != '_')
		end--;
	for (start = end; start && (isalnum((unsigned char)name[start - 1]) || name[start - 1] == '_');
	     start--)
		;
	if (start == end || !strncmp(name, "std::", 5) || strstr(name, "operator"))
		return NULL;
	return strndup(name + start, end - start);
}

/* NAME, NAME@VERSION or NAME@@VERSION; "puts@plt" is a name. */
static bool wanted_init(struct wanted *ret_wanted, const char *name)
{
	const char *at = strchr(name, '@');
	size_t len = strlen(name);

	*ret_wanted = (struct wanted){.plt = at && !strcmp(at, "@plt")};
	if (at && at > name && !ret_wanted->plt) {
		len = (size_t)(at - name);
		ret_wanted->version = at + strspn(at, "@");
	}
	ret_wanted->name = strndup(name, len);
	if (ret_wanted->name)
		ret_wanted->identifier = find_identifier(ret_wanted->name);
	return ret_wanted->name;
}

static bool is_called(const char *symbol, const struct wanted *wanted)
{
	CLEANUP(freep) char *full = NULL;
	CLEANUP(freep) char *bare = NULL;

	if (!strcmp(symbol, wanted->name))
		return true;
	if (wanted->identifier && !strstr(symbol, wanted->identifier))
		return false;
	full = elf_demangle(symbol);
	/* The bare name of "f(int) [clone .cold]" leaves the clone out, too. */
	bare = full && strstr(full, " [clone ") ? NULL : elf_demangle_bare(symbol);
	return (full && equal_but_for_spaces(full, wanted->name)) ||
	       (bare && equal_but_for_spaces(bare, wanted->name));
}

static bool matches(const struct elf_symbol *symbol, const struct wanted *wanted)
{
	if (symbol->is_plt != wanted->plt)
		return false;
	if (wanted->version ? !symbol->version || strcmp(symbol->version, wanted->version)
			    : !symbol->is_default)
		return false;
	return is_called(symbol->name, wanted);
}

size_t elf_file_find(struct elf_file *file, const char *name, const struct elf_symbol **ret_symbols,
		     size_t cap)
{
	CLEANUP(wanted_release) struct wanted wanted;
	const struct elf_symbol *last = NULL;
	size_t found = 0;

	if (!wanted_init(&wanted, name))
		return 0;
	elf_symbols_read(file);
	for (size_t i = 0; i < file->symbol_cnt; i++) {
		const struct elf_symbol *symbol = &file->symbols[i];

		if ((last && last->addr == symbol->addr) || !matches(symbol, &wanted))
			continue;
		last = symbol;
		if (found < cap)
			ret_symbols[found] = symbol;
		found++;
	}
	return found;
}
