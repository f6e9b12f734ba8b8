/* SPDX-License-Identifier: BSD-2-Clause */
/* What there is to be shown of a call: its parameters, fields of what they point to, names of enums. */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/types/elf_fields.h"
#include "elf/types/elf_parameters.h"
#include "elf/types/elf_types.h"

void elf_enum_free(struct elf_enum *constants)
{
	if (!constants)
		return;
	for (size_t i = 0; i < constants->cnt; i++)
		free(constants->constants[i].name);
	free(constants->constants);
	free(constants);
}

static int add_constant(struct elf_enum *constants, Dwarf_Die *enumerator)
{
	struct elf_constant constant = {0};
	const char *name = dwarf_diename(enumerator);
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!name || dwarf_formudata(dwarf_attr(enumerator, DW_AT_const_value, &attribute), &value))
		return 0;
	constant.value = value;
	constant.name = strdup(name);
	if (constant.name && !ARRAY_PUSH(constants->constants, constants->cnt, constants->cap, constant))
		return 0;
	free(constant.name);
	return -ENOMEM;
}

int elf_file_find_enum(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth,
		       const char *path, struct elf_enum **ret_constants)
{
	CLEANUP(elf_enum_freep) struct elf_enum *constants = NULL;
	struct elf_field field = {0};
	Dwarf_Die type, die;
	int more;

	*ret_constants = NULL;
	if (elf_field_locate(file, addr, function, nth, path, &field, &type) ||
	    dwarf_tag(&type) != DW_TAG_enumeration_type)
		return 0;
	constants = calloc(1, sizeof(*constants));
	if (!constants)
		return -ENOMEM;
	for (more = dwarf_child(&type, &die); !more; more = dwarf_siblingof(&die, &die))
		if (dwarf_tag(&die) == DW_TAG_enumerator && add_constant(constants, &die))
			return -ENOMEM;
	*ret_constants = TAKE_PTR(constants);
	return 0;
}

int elf_file_each_parameter(struct elf_file *file, uint64_t addr,
			    int (*found)(void *ctx, const struct elf_parameter *parameter), void *ctx)
{
	struct parameter_search search = {0};
	Dwarf_Die function, die, type;
	int more, err = 0;

	if (!elf_parameter_begin(file, addr, &search))
		return -ENODATA;
	function = elf_parameter_function(&search);
	for (more = dwarf_child(&function, &die); !more && !err; more = dwarf_siblingof(&die, &die)) {
		struct elf_parameter parameter = {.name = dwarf_diename(&die)};

		if (!elf_parameter_is_one(&die) || !parameter.name || !elf_type_of(&die, &type))
			continue;
		parameter.kind = elf_type_is_float(&type)	? ELF_PARAMETER_FLOAT
				 : elf_type_is_aggregate(&type) ? ELF_PARAMETER_STRUCT
								: ELF_PARAMETER_PLAIN;
		err = found(ctx, &parameter);
	}
	return err;
}

struct fields {
	int (*found)(void *ctx, const char *path);
	void *ctx;
	const char *step; /* "." or "->" */
};

static int found_member(void *ctx, Dwarf_Die *member)
{
	const struct fields *fields = ctx;
	char path[256];

	if (elf_type_is_volatile(member) ||
	    snprintf(path, sizeof(path), "%s%s", fields->step, dwarf_diename(member)) >= (int)sizeof(path))
		return 0;
	return fields->found(fields->ctx, path);
}

/* A text or a slice is a value of its own. */
static bool is_value(Dwarf_Die *type)
{
	const char *path;
	int8_t count_at;
	bool is_text;

	return elf_type_is_cxx_string(type) || elf_type_is_counted(type, &path, &count_at, &is_text);
}

int elf_file_each_field(struct elf_file *file, uint64_t addr, unsigned int nth,
			int (*found)(void *ctx, const char *path), void *ctx)
{
	struct parameter_search search = {.function = "", .nth = nth};
	struct fields fields = {found, ctx, "."};
	Dwarf_Die type;

	if (!elf_parameter_begin(file, addr, &search) || elf_parameter_find(&search, &type))
		return 0;
	if (elf_type_is_pointer(&type)) {
		fields.step = "->";
		if (elf_type_is_volatile(&type) || !elf_type_of(&type, &type))
			return 0;
	}
	if (!elf_type_is_aggregate(&type) || is_value(&type) || !elf_type_complete(&type))
		return 0;
	return elf_type_each_member(&type, found_member, &fields);
}
