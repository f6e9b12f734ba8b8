/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source lines, from DWARF. Only gcc writes an index from address to unit (.debug_aranges), clang does not.
 * So the units and their address ranges are listed here, once.
 */
#include <errno.h>

#include <dwarf.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "elf/elf_internal.h"

/* A unit has several of these. */
struct elf_unit {
	uint64_t start, end; /* start first: sorted by it */
	Dwarf_Off die;
};

static int add_unit(struct elf_file *file, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
		struct elf_unit unit = {start, end, dwarf_dieoffset(die)};

		if (start < end && ARRAY_PUSH(file->units, file->unit_cnt, file->unit_cap, unit))
			return -ENOMEM;
	}
	return 0;
}

static void list_units(struct elf_file *file)
{
	Dwarf_Die die;

	for (Dwarf_CU *unit = NULL; !dwarf_get_units(file->dwarf, unit, &unit, NULL, NULL, &die, NULL);)
		if (add_unit(file, &die))
			break;
	sort_array(file->units, file->unit_cnt, sizeof(*file->units), sort_by_number);
}

void elf_dwarf_open(struct elf_file *file)
{
	GElf_Shdr header;
	Elf *elf;

	if (file->dwarf_sought)
		return;
	file->dwarf_sought = true;
	elf = elf_section(file->elf, ".debug_info", &header) ? file->elf : elf_debug_file(file);
	if (!elf)
		return;
	elf_inflate(file, elf);
	file->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (file->dwarf)
		list_units(file);
}

static const struct elf_unit *find_unit(const struct elf_file *file, uint64_t addr)
{
	size_t low = BISECT(file->unit_cnt, i, file->units[i].start <= addr);

	return low && addr < file->units[low - 1].end ? &file->units[low - 1] : NULL;
}

bool elf_unit_at(struct elf_file *file, uint64_t addr, Dwarf_Off *ret_unit)
{
	const struct elf_unit *unit;

	elf_dwarf_open(file);
	unit = find_unit(file, addr);
	if (unit)
		*ret_unit = unit->die;
	return unit != NULL;
}

int elf_file_source(struct elf_file *file, uint64_t addr, const char **ret_path, uint32_t *ret_line)
{
	const struct elf_unit *unit;
	const char *path;
	Dwarf_Line *line;
	Dwarf_Die die;
	int number;

	elf_dwarf_open(file);
	unit = find_unit(file, addr);
	if (!unit || !dwarf_offdie(file->dwarf, unit->die, &die))
		return -ENOENT;
	line = dwarf_getsrc_die(&die, addr);
	path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!path || dwarf_lineno(line, &number) || number <= 0)
		return -ENOENT;
	*ret_path = path;
	*ret_line = (uint32_t)number;
	return 0;
}

const char *elf_unit_dir(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL)
		       ? dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute))
		       : NULL;
}

const char *elf_file_source_dir(struct elf_file *file, uint64_t addr)
{
	Dwarf_Off unit;
	Dwarf_Die die;

	return elf_unit_at(file, addr, &unit) && dwarf_offdie(file->dwarf, unit, &die) ? elf_unit_dir(&die)
										       : NULL;
}

void elf_source_release(struct elf_file *file)
{
	elf_inlines_release(file);
	if (file->dwarf)
		dwarf_end(file->dwarf);
	elf_inflate_release(file);
	free(file->units);
}
