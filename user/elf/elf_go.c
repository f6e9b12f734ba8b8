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
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "elf/elf_internal.h"

enum { MAGIC_1_16 = 0xfffffffa, MAGIC_1_18 = 0xfffffff0, MAGIC_1_20 = 0xfffffff1 };

/* ---- whose code ---- */

static Elf_Data *section_data(const struct elf_file *file, const char *name, const char *other)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(file->elf, name, &header);

	if (!section && other)
		section = elf_section(file->elf, other, &header);
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
	const Elf_Data *info = section_data(file, ".go.buildinfo", NULL);
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
	const Elf_Data *table = section_data(file, ".gopclntab", ".data.rel.ro.gopclntab");
	uint32_t magic;

	if (!table || table->d_size < sizeof(magic))
		return false;
	memcpy(&magic, table->d_buf, sizeof(magic));
	return magic == MAGIC_1_18 || magic == MAGIC_1_20 || (magic == (uint32_t)MAGIC_1_16 && is_1_17(file));
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
