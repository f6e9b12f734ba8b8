/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where Go keeps the number of a goroutine: in the member `goid` of runtime.g, at an offset that changes with Go's versions and that DWARF tells.
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "image/elf_internal.h"

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
