/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The number of a goroutine is the member `goid` of runtime.g. Its offset depends on the version of Go and
 * comes from DWARF.
 *
 * Go code lies between runtime.text and runtime.etext; C functions (cgo) come after. Without symbols all code
 * counts as Go's.
 *
 * The calling convention follows from the magic number of Go's line table, which some versions change
 * (src/debug/gosym/pclntab.go). Versions 1.16 (arguments on the stack) and 1.17 (in registers) have the same
 * number; .go.buildinfo has the version (src/debug/buildinfo).
 *
 * The line table also has the name of each function, and stays in a stripped program: the runtime needs it.
 *
 *	header		magic, 0, 0, 1, 8; words: functions, files, [address of the code,]
 *			offsets: names, ..., functions
 *	functions	pairs of a function's address and the offset of its record; at
 *			last, where the code ends
 *	record		address, offset of the name
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "elf/elf_internal.h"

enum { MAGIC_1_2 = 0xfffffffb, MAGIC_1_16 = 0xfffffffa, MAGIC_1_18 = 0xfffffff0, MAGIC_1_20 = 0xfffffff1 };

/* ---- functions ---- */

struct line_table {
	const uint8_t *bytes;
	size_t size;
	uint64_t magic;
	uint64_t addr;		 /* of the table itself */
	uint64_t text;		 /* addresses are relative to it */
	uint64_t cnt;		 /* functions */
	uint64_t pairs;		 /* offset of the functions' pairs */
	uint64_t names, records; /* what offsets of these are relative to */
	unsigned int width;	 /* of the numbers of a pair, and of an address in a record: bytes */
};

static bool number_at(const struct line_table *table, uint64_t at, unsigned int width, uint64_t *ret_number)
{
	if (at > table->size || table->size - at < width)
		return false;
	*ret_number = 0;
	memcpy(ret_number, table->bytes + at, width);
	return true;
}

static bool header_word(const struct line_table *table, unsigned int nth, uint64_t *ret_word)
{
	return number_at(table, 8 + 8 * (uint64_t)nth, 8, ret_word);
}

/* A program that can be loaded anywhere has the address in a relocation. */
static void relocate(const struct elf_file *file, uint64_t at, uint64_t *addr)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
			continue;
		data = elf_getdata(section, NULL);
		for (size_t i = 0; data && i < data->d_size / sizeof(Elf64_Rela) && i < INT32_MAX; i++) {
			GElf_Rela rela;

			if (!gelf_getrela(data, (int)i, &rela) || rela.r_offset != at)
				continue;
			*addr = (uint64_t)rela.r_addend;
			return;
		}
	}
}

static bool read_header(const struct elf_file *file, struct line_table *table)
{
	if (!number_at(table, 0, 4, &table->magic) || !header_word(table, 0, &table->cnt) ||
	    table->bytes[7] != 8)
		return false;
	switch (table->magic) {
	case MAGIC_1_18:
	case MAGIC_1_20:
		table->width = 4;
		if (!header_word(table, 2, &table->text) || !header_word(table, 3, &table->names) ||
		    !header_word(table, 7, &table->records))
			return false;
		if (!table->text)
			relocate(file, table->addr + 8 + 8 * 2, &table->text);
		table->pairs = table->records;
		return true;
	case MAGIC_1_16:
		table->width = 8;
		if (!header_word(table, 2, &table->names) || !header_word(table, 6, &table->records))
			return false;
		table->pairs = table->records;
		return true;
	case MAGIC_1_2:
		table->width = 8;
		table->pairs = 8 + 8;
		return true;
	default:
		return false;
	}
}

/* False: the table is damaged from here on. */
static bool read_function(const struct line_table *table, uint64_t nth, struct elf_symbol *symbol)
{
	uint64_t at = table->pairs + 2 * nth * table->width, addr, end, record, name;

	if (!number_at(table, at, table->width, &addr) ||
	    !number_at(table, at + table->width, table->width, &record) ||
	    !number_at(table, at + 2 * (uint64_t)table->width, table->width, &end) || end < addr ||
	    !number_at(table, table->records + record + table->width, 4, &name))
		return false;
	name += table->names;
	if (name >= table->size || !memchr(table->bytes + name, 0, table->size - name))
		return false;
	*symbol = (struct elf_symbol){.name = (const char *)table->bytes + name,
				      .addr = table->text + addr,
				      .size = end - addr,
				      .type = STT_FUNC,
				      .bind = STB_LOCAL,
				      .is_default = 1};
	return true;
}

/* The table of which this is the beginning, if its first function lies in code. */
static bool is_table(const struct elf_file *file, struct line_table *table)
{
	struct elf_symbol symbol;

	return table->size > 8 && read_header(file, table) && read_function(table, 0, &symbol) &&
	       elf_code_segment(file, symbol.addr);
}

/* The system's linker, which is called for C, puts it among other data: it begins as no other data does. */
static bool search_table(const struct elf_file *file, struct line_table *table)
{
	static const uint8_t behind_magic[] = {0, 0, 1, 8};
	const struct line_table all = *table;

	for (size_t at = 0; at + 8 <= all.size; at += 8) {
		if (memcmp(all.bytes + at + 4, behind_magic, sizeof(behind_magic)))
			continue;
		*table = (struct line_table){
			.bytes = all.bytes + at, .size = all.size - at, .addr = all.addr + at};
		if (is_table(file, table))
			return true;
	}
	return false;
}

static bool open_table(const struct elf_file *file, struct line_table *ret_table)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		GElf_Shdr header;
		Elf_Scn *section = elf_section(file->elf, names[i], &header);
		const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

		if (!data || !data->d_buf)
			continue;
		*ret_table = (struct line_table){
			.bytes = data->d_buf, .size = data->d_size, .addr = header.sh_addr};
		return search_table(file, ret_table);
	}
	return false;
}

static bool is_code(const struct elf_file *file, const struct elf_symbol *symbol)
{
	const GElf_Phdr *segment = elf_code_segment(file, symbol->addr);

	return symbol->size && segment && elf_code_segment(file, symbol->addr + symbol->size - 1) == segment;
}

int elf_go_add(struct elf_file *file)
{
	struct line_table table;
	struct elf_symbol symbol;
	int err = 0;

	if (!elf_file_is_go(file) || elf_has_symbol(file, "runtime.main") || !open_table(file, &table))
		return 0;
	for (uint64_t i = 0; i < table.cnt && !err && read_function(&table, i, &symbol); i++)
		if (symbol.name[0] && is_code(file, &symbol))
			err = ARRAY_PUSH(file->symbols, file->symbol_cnt, file->symbol_cap, symbol);
	return err;
}

/* ---- whose code ---- */

static Elf_Data *section_data(const struct elf_file *file, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(file->elf, name, &header);

	return section ? elf_rawdata(section, NULL) : NULL;
}

static bool read_at(const struct elf_file *file, uint64_t addr, void *bytes, size_t size)
{
	uint64_t offset;

	return !elf_file_offset(file, addr, &offset) && elf_file_read(file, offset, bytes, size) == size;
}

/* Before Go 1.18: the address of a string's address and length. */
static bool is_1_17(const struct elf_file *file)
{
	static const char wanted[] = "go1.17";
	const Elf_Data *info = section_data(file, ".go.buildinfo");
	char text[sizeof(wanted) - 1];
	uint64_t at[2];

	if (!info || info->d_size < 24)
		return false;
	memcpy(at, (const char *)info->d_buf + 16, sizeof(at[0]));
	return read_at(file, at[0], at, sizeof(at)) && at[1] >= sizeof(text) &&
	       read_at(file, at[0], text, sizeof(text)) && !memcmp(text, wanted, sizeof(text));
}

static bool passes_in_registers(const struct elf_file *file)
{
	struct line_table table;

	return open_table(file, &table) && (table.magic == MAGIC_1_18 || table.magic == MAGIC_1_20 ||
					    (table.magic == MAGIC_1_16 && is_1_17(file)));
}

static void seek(struct elf_file *file)
{
	if (file->go_sought)
		return;
	file->go_sought = true;
	if (!elf_file_is_go(file))
		return;
	if (elf_file_find_data(file, "runtime.text", &file->go_start) ||
	    elf_file_find_data(file, "runtime.etext", &file->go_end)) {
		file->go_start = 0;
		file->go_end = UINT64_MAX;
	}
	file->go_registers = passes_in_registers(file);
}

int elf_file_is_go_code(struct elf_file *file, uint64_t addr)
{
	seek(file);
	return addr >= file->go_start && addr < file->go_end;
}

int elf_file_go_passes_in_registers(struct elf_file *file)
{
	seek(file);
	return file->go_registers;
}

/* ---- goroutines ---- */

static bool is_called(Dwarf_Die *die, const char *name)
{
	const char *called = dwarf_diename(die);

	return called && !strcmp(called, name);
}

static bool find_member(Dwarf_Die *structure, const char *name, uint64_t *ret_offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	Dwarf_Die die;

	for (int more = dwarf_child(structure, &die); !more; more = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) != DW_TAG_member || !is_called(&die, name))
			continue;
		if (dwarf_formudata(dwarf_attr(&die, DW_AT_data_member_location, &attribute), &offset))
			return false;
		*ret_offset = offset;
		return true;
	}
	return false;
}

int elf_file_go_goid(struct elf_file *file, uint64_t *ret_offset)
{
	Dwarf_Die unit, die;

	if (!elf_file_is_go(file))
		return -ENOENT;
	elf_dwarf_open(file);
	if (!file->dwarf)
		return -ENOENT;
	for (Dwarf_CU *next = NULL; !dwarf_get_units(file->dwarf, next, &next, NULL, NULL, &unit, NULL);)
		for (int more = dwarf_child(&unit, &die); !more; more = dwarf_siblingof(&die, &die))
			if (dwarf_tag(&die) == DW_TAG_structure_type && is_called(&die, "runtime.g"))
				return find_member(&die, "goid", ret_offset) ? 0 : -ENOENT;
	return -ENOENT;
}
