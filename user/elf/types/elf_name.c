/* SPDX-License-Identifier: BSD-2-Clause */
/* A name in the source of a function: a parameter, or a constant of an enum. */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "elf/types/elf_fields.h"
#include "elf/types/elf_parameters.h"
#include "elf/types/elf_types.h"

enum { NESTING_MAX = 32 };

/* Whether a parameter has the name; *text becomes a list of all names. */
static bool find_name(const struct parameter_search *search, const char *name, char *text, size_t size)
{
	Dwarf_Die function = elf_parameter_function(search), die;
	int more = dwarf_child(&function, &die);

	for (; !more; more = dwarf_siblingof(&die, &die)) {
		size_t len = strlen(text);

		if (!elf_parameter_is_one(&die) || !dwarf_diename(&die))
			continue;
		if (elf_type_has_name(&die, name))
			return true;
		snprintf(text + len, size - len, "%s%s", len ? ", " : "", dwarf_diename(&die));
	}
	return false;
}

struct constants {
	const char *name;
	size_t cnt;
	bool differ;
	Dwarf_Word value;
};

static void add_constant(struct constants *constants, Dwarf_Die *enumerator)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!elf_type_has_name(enumerator, constants->name) ||
	    dwarf_formudata(dwarf_attr(enumerator, DW_AT_const_value, &attribute), &value))
		return;
	constants->differ |= constants->cnt++ && value != constants->value;
	constants->value = value;
}

/* Enums anywhere in `parent`, and in the parts that dwz has moved out of it. */
static void find_constants(struct constants *constants, Dwarf_Die *parent, unsigned int nesting)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die, imported;
	int more = nesting < NESTING_MAX ? dwarf_child(parent, &die) : 1;

	for (; !more; more = dwarf_siblingof(&die, &die))
		switch (dwarf_tag(&die)) {
		case DW_TAG_enumerator:
			add_constant(constants, &die);
			break;
		case DW_TAG_imported_unit:
			if (dwarf_formref_die(dwarf_attr(&die, DW_AT_import, &attribute), &imported))
				find_constants(constants, &imported, nesting + 1);
			break;
		case DW_TAG_enumeration_type:
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			find_constants(constants, &die, nesting + 1);
			break;
		default:
			break;
		}
}

int elf_file_find_name(struct elf_file *file, uint64_t addr, const char *function, const char *name,
		       struct elf_name *ret_name)
{
	struct parameter_search search = {.function = function, .name = name};
	struct constants constants = {.name = name};
	char names[400] = "";
	Dwarf_Die type, unit;
	int err;

	if (!elf_parameter_begin(file, addr, &search))
		return -ENODATA;
	if (find_name(&search, name, names, sizeof(names))) {
		err = elf_parameter_find(&search, &type);
		if (!err)
			*ret_name = (struct elf_name){.nth = search.nth};
		return err;
	}
	if (dwarf_diecu(&search.die, &unit, NULL, NULL))
		find_constants(&constants, &unit, 0);
	if (constants.differ)
		return fail(-EINVAL, "'%s' is ambiguous: enums have different constants of that name", name);
	if (!constants.cnt)
		return fail(
			-ENOENT,
			"'%s' is unknown: no enum in the source of %s has it, and the parameters there are: "
			"%s",
			name, function, *names ? names : "none");
	*ret_name = (struct elf_name){.is_constant = true, .constant = constants.value};
	return 0;
}
