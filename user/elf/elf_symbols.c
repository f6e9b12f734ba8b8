/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of a file, sorted by address: those of .symtab and .dynsym, here and in the debug file, which has
 * the same virtual addresses. A symbol in several tables is kept once, with its version if one of them has
 * it.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "elf/elf_internal.h"

enum { VERSION_HIDDEN = 0x8000, VERSION_CNT = 0x8000 };

struct table {
	Elf *elf;
	Elf_Data *symbols;
	size_t strings;	       /* section of the names */
	Elf_Data *versions;    /* a number for each symbol, or NULL */
	const char **defined;  /* version names by number, or NULL */
	bool versions_in_name; /* .symtab spells them out: "memcpy@@GLIBC_2.14" */
};

static void table_release(struct table *table)
{
	free(table->defined);
}

char *elf_keep_name(struct elf_file *file, char *text)
{
	return ARRAY_TAKE(file->names, file->name_cnt, file->name_cap, text) ? NULL : text;
}

/* ---- versions ---- */

/* Definitions are chained by byte offsets, which are the file's word: they must go forward. */
static int read_version_names(struct table *table, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0;
	GElf_Verdef def;

	table->defined = calloc(VERSION_CNT, sizeof(*table->defined));
	if (!table->defined)
		return -ENOMEM;
	while (data && at < data->d_size && at < INT32_MAX && gelf_getverdef(data, (int)at, &def)) {
		GElf_Verdaux aux;
		uint64_t aux_at = at + (uint64_t)def.vd_aux;

		if (aux_at < data->d_size && aux_at < INT32_MAX && gelf_getverdaux(data, (int)aux_at, &aux))
			table->defined[def.vd_ndx % VERSION_CNT] =
				elf_strptr(table->elf, header->sh_link, aux.vda_name);
		if (!def.vd_next)
			break;
		at += def.vd_next;
	}
	return 0;
}

static int find_versions(struct table *table, size_t table_index)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(table->elf, section));) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_GNU_versym && header.sh_link == table_index)
			table->versions = elf_getdata(section, NULL);
		if (header.sh_type == SHT_GNU_verdef && !table->defined &&
		    read_version_names(table, section, &header))
			return -ENOMEM;
	}
	return 0;
}

/* Versions 0 and 1 are "local" and "global": none. */
static void version_by_number(const struct table *table, size_t index, struct elf_symbol *symbol)
{
	GElf_Versym version;
	uint16_t number;

	if (!table->versions || !gelf_getversym(table->versions, (int)index, &version))
		return;
	number = version % VERSION_CNT;
	if (number > 1 && table->defined)
		symbol->version = table->defined[number];
	symbol->is_default = !(version & VERSION_HIDDEN);
}

static int version_by_name(struct elf_file *file, struct elf_symbol *symbol)
{
	const char *at = strchr(symbol->name, '@');

	if (!at || at == symbol->name)
		return 0;
	symbol->is_default = at[1] == '@';
	symbol->version = at + 1 + symbol->is_default;
	symbol->name = elf_keep_name(file, strndup(symbol->name, (size_t)(at - symbol->name)));
	return symbol->name ? 0 : -ENOMEM;
}

/* ---- symbol tables ---- */

/* Inside of an executable section: the end of one (etext) is not. */
static bool in_code_section(Elf *elf, const GElf_Sym *sym)
{
	Elf_Scn *section = elf_getscn(elf, sym->st_shndx);
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR &&
	       sym->st_value >= header.sh_addr && sym->st_value - header.sh_addr < header.sh_size;
}

static bool is_function(const struct elf_file *file, Elf *elf, const GElf_Sym *sym)
{
	uint8_t type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || (sym->st_shndx >= SHN_LORESERVE && sym->st_shndx != SHN_XINDEX) ||
	    !elf_code_segment(file, sym->st_value))
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && in_code_section(elf, sym));
}

/* No function goes beyond its segment, whatever the table says. */
static uint64_t limit_size(const struct elf_file *file, uint64_t addr, uint64_t size)
{
	const GElf_Phdr *segment = elf_code_segment(file, addr);
	uint64_t limit = segment->p_memsz - (addr - segment->p_vaddr);

	return size < limit ? size : limit;
}

static int add_symbol(struct elf_file *file, const struct table *table, size_t index, const GElf_Sym *sym)
{
	struct elf_symbol symbol = {.name = elf_strptr(table->elf, table->strings, sym->st_name),
				    .addr = sym->st_value,
				    .size = limit_size(file, sym->st_value, sym->st_size),
				    .type = GELF_ST_TYPE(sym->st_info),
				    .bind = GELF_ST_BIND(sym->st_info),
				    .is_default = 1};

	if (!symbol.name || !symbol.name[0])
		return 0;
	version_by_number(table, index, &symbol);
	if (table->versions_in_name && version_by_name(file, &symbol))
		return -ENOMEM;
	return ARRAY_PUSH(file->symbols, file->symbol_cnt, file->symbol_cap, symbol);
}

static int add_table(struct elf_file *file, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	CLEANUP(table_release)
	struct table table = {.elf = elf,
			      .symbols = elf_getdata(section, NULL),
			      .strings = header->sh_link,
			      .versions_in_name = header->sh_type == SHT_SYMTAB};
	size_t cnt = table.symbols ? table.symbols->d_size / sizeof(Elf64_Sym) : 0;
	int err = find_versions(&table, elf_ndxscn(section));

	for (size_t i = 1; i < cnt && i < INT32_MAX && !err; i++) {
		GElf_Sym sym;

		if (gelf_getsym(table.symbols, (int)i, &sym) && is_function(file, elf, &sym))
			err = add_symbol(file, &table, i, &sym);
	}
	return err;
}

static int add_tables(struct elf_file *file, Elf *elf)
{
	int err = 0;

	for (Elf_Scn *section = NULL; !err && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			err = add_table(file, elf, section, &header);
	}
	return err;
}

/* ---- order ---- */

/*
 * Libraries export the name that people know as an alias, often a weak one: write and __write, puts and
 * _IO_puts.
 */
static int order_to_show(const struct elf_symbol *a, const struct elf_symbol *b)
{
	int underscores = (int)strspn(a->name, "_") - (int)strspn(b->name, "_");

	return a->is_plt - b->is_plt
		       ?: (a->type == STT_NOTYPE) - (b->type == STT_NOTYPE)
		       ?: (a->bind == STB_LOCAL) - (b->bind == STB_LOCAL)
		       ?: !a->size - !b->size
		       ?: underscores
		       /* "free" rather than "cfree", which is there for old programs only. */
		       ?: b->is_default - a->is_default
		       ?: (a->bind == STB_WEAK) - (b->bind == STB_WEAK);
}

/*
 * Total, but for what is equal in all that is compared: equal names stand together, the one with a version
 * first.
 */
static int compare_symbols(const void *left, const void *right)
{
	const struct elf_symbol *a = left, *b = right;

	return ORDER_UP(a->addr, b->addr)
		       ?: order_to_show(a, b)
		       ?: strcmp(a->name, b->name)
		       ?: !a->version - !b->version
		       ?: b->is_default - a->is_default
		       ?: a->version ? strcmp(a->version, b->version) : 0;
}

static bool is_duplicate(const struct elf_symbol *kept, const struct elf_symbol *next)
{
	return kept->addr == next->addr && !strcmp(kept->name, next->name) &&
	       (!next->version || !strcmp(kept->version ? kept->version : "", next->version));
}

static void sort_symbols(struct elf_file *file)
{
	size_t kept = 0;

	if (!file->symbol_cnt)
		return;
	sort_array(file->symbols, file->symbol_cnt, sizeof(*file->symbols), compare_symbols);
	for (size_t i = 1; i < file->symbol_cnt; i++)
		if (!is_duplicate(&file->symbols[kept], &file->symbols[i]))
			file->symbols[++kept] = file->symbols[i];
	file->symbol_cnt = kept + 1;
}

bool elf_has_symbol(const struct elf_file *file, const char *name)
{
	for (size_t i = 0; i < file->symbol_cnt; i++)
		if (!strcmp(file->symbols[i].name, name))
			return true;
	return false;
}

static int read_symbols(struct elf_file *file)
{
	int err = add_tables(file, file->elf);

	if (!err && elf_debug_file(file))
		err = add_tables(file, file->debug);
	if (!err)
		err = elf_go_add(file);
	if (!err)
		err = elf_main_add(file);
	sort_symbols(file);
	if (!err)
		err = elf_plt_add(file);
	sort_symbols(file);
	return err ? err : elf_ranges_build(file);
}

void elf_symbols_read(struct elf_file *file)
{
	if (file->symbols_read)
		return;
	file->symbols_read = true;
	if (read_symbols(file))
		file->symbol_cnt = file->range_cnt = 0;
}

const struct elf_symbol *elf_file_symbols(struct elf_file *file, size_t *ret_cnt)
{
	elf_symbols_read(file);
	*ret_cnt = file->symbol_cnt;
	return file->symbols;
}

const struct elf_symbol *elf_file_symbol_at(struct elf_file *file, uint64_t addr)
{
	size_t cnt;
	const struct elf_range *ranges = elf_file_ranges(file, &cnt);
	const struct elf_range *range = elf_range_find(ranges, cnt, addr);

	return range ? range->symbol : NULL;
}
