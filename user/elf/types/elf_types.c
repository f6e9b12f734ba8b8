/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A struct that a unit only declares is looked up in the unit that defines it. In C two units may define
 * different structs of one name; different sizes reveal that.
 */
#include "elf/types/elf_types.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

enum { NESTING_MAX = 32 };

bool elf_type_of(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type) &&
	       !dwarf_peel_type(&type, ret_type);
}

bool elf_type_is_aggregate(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool elf_type_is_pointer(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static int encoding_of(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;
	Dwarf_Die base;

	if (!dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attribute), &encoding))
		return (int)encoding;
	return dwarf_tag(type) == DW_TAG_enumeration_type && elf_type_of(type, &base) ? encoding_of(&base)
										      : 0;
}

bool elf_type_has_name(Dwarf_Die *die, const char *name)
{
	const char *own = dwarf_diename(die);

	return own && !strcmp(own, name);
}

bool elf_type_is_float(Dwarf_Die *type)
{
	int encoding = dwarf_tag(type) == DW_TAG_base_type ? encoding_of(type) : 0;

	return encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
	       encoding == DW_ATE_decimal_float;
}

bool elf_type_is_volatile(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at = *die;
	int tag;

	do {
		if (!dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attribute), &at))
			return false;
		tag = dwarf_tag(&at);
		if (tag == DW_TAG_volatile_type)
			return true;
	} while (tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_restrict_type ||
		 tag == DW_TAG_atomic_type);
	return false;
}

/* ---- definitions ---- */

struct definition {
	Dwarf_Die *declaration;
	Dwarf_Die found;
	size_t cnt;
	bool differ;
};

/* Namespaces and classes around both are called the same. */
static bool is_same_scope(Dwarf_Die *a, Dwarf_Die *b)
{
	CLEANUP(freep) Dwarf_Die *around_a = NULL;
	CLEANUP(freep) Dwarf_Die *around_b = NULL;
	int cnt_a = dwarf_getscopes_die(a, &around_a), cnt_b = dwarf_getscopes_die(b, &around_b);

	/* The last is the unit. */
	for (int i = 0; i < cnt_a - 1 && i < cnt_b - 1; i++) {
		const char *name_a = dwarf_diename(&around_a[i]), *name_b = dwarf_diename(&around_b[i]);

		if (strcmp(name_a ? name_a : "", name_b ? name_b : "") != 0)
			return false;
	}
	return cnt_a == cnt_b;
}

static void compare(struct definition *definition, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (!name || strcmp(name, dwarf_diename(definition->declaration)) != 0 ||
	    dwarf_hasattr(die, DW_AT_declaration) || !is_same_scope(die, definition->declaration))
		return;
	if (definition->cnt++ && dwarf_bytesize(die) != dwarf_bytesize(&definition->found))
		definition->differ = true;
	definition->found = *die;
}

static void search(struct definition *definition, Dwarf_Die *parent, unsigned int nesting)
{
	Dwarf_Die die;
	int more = nesting < NESTING_MAX ? dwarf_child(parent, &die) : 1;

	for (; !more; more = dwarf_siblingof(&die, &die)) {
		if (elf_type_is_aggregate(&die))
			compare(definition, &die);
		if (elf_type_is_aggregate(&die) || dwarf_tag(&die) == DW_TAG_namespace)
			search(definition, &die, nesting + 1);
	}
}

bool elf_type_complete(Dwarf_Die *type)
{
	struct definition definition = {.declaration = type};
	Dwarf_Attribute attribute;
	Dwarf_Die die;

	if (!dwarf_hasattr(type, DW_AT_declaration))
		return elf_type_is_aggregate(type);
	if (dwarf_formref_die(dwarf_attr(type, DW_AT_signature, &attribute), &die)) {
		*type = die;
		return true;
	}
	if (!dwarf_diename(type))
		return false;
	for (Dwarf_CU *unit = NULL;
	     !dwarf_get_units(dwarf_cu_getdwarf(type->cu), unit, &unit, NULL, NULL, &die, NULL);)
		search(&definition, &die, 0);
	if (!definition.cnt || definition.differ)
		return false;
	*type = definition.found;
	return true;
}

/* ---- members ---- */

bool elf_type_add_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	Dwarf_Op *op;
	size_t cnt;

	if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
		return !dwarf_hasattr(member, DW_AT_external) && !dwarf_hasattr(member, DW_AT_declaration);
	if (dwarf_formudata(&attribute, &value)) {
		/* DWARF 2 */
		if (dwarf_getlocation(&attribute, &op, &cnt) || cnt != 1 || op->atom != DW_OP_plus_uconst)
			return false;
		value = op->number;
	}
	*offset += value;
	return true;
}

bool elf_type_is_transparent(Dwarf_Die *member)
{
	return dwarf_tag(member) == DW_TAG_inheritance ||
	       (dwarf_tag(member) == DW_TAG_member && !dwarf_diename(member));
}

static int each_member(Dwarf_Die *type, unsigned int nesting, int (*found)(void *ctx, Dwarf_Die *member),
		       void *ctx)
{
	Dwarf_Die inner, die;
	int err = 0, more = nesting < NESTING_MAX ? dwarf_child(type, &die) : 1;

	for (; !more && !err; more = dwarf_siblingof(&die, &die)) {
		if (elf_type_is_transparent(&die)) {
			if (elf_type_of(&die, &inner) && elf_type_complete(&inner))
				err = each_member(&inner, nesting + 1, found, ctx);
		} else if (dwarf_tag(&die) == DW_TAG_member) {
			err = found(ctx, &die);
		}
	}
	return err;
}

int elf_type_each_member(Dwarf_Die *type, int (*found)(void *ctx, Dwarf_Die *member), void *ctx)
{
	return each_member(type, 0, found, ctx);
}

/* ---- values ---- */

bool elf_type_is_cxx_string(Dwarf_Die *type)
{
	Dwarf_Die at = *type;
	const char *name = elf_type_is_aggregate(&at) && elf_type_complete(&at) ? dwarf_diename(&at) : NULL;

	return name && !strncmp(name, "basic_string<char,", strlen("basic_string<char,"));
}

bool elf_type_is_of(Dwarf_Die *die, int language)
{
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL) && dwarf_srclang(&unit) == language;
}

bool elf_type_is_counted(Dwarf_Die *type, const char **ret_path, int8_t *ret_count_at, bool *ret_is_text)
{
	static const struct {
		const char *name; /* what it begins with */
		int language;	  /* 0: any */
		bool is_text;
		int8_t count_at;
		const char *path;
	} kinds[] = {
		{"string", DW_LANG_Go, true, 8, ".str"},
		{"[]", DW_LANG_Go, false, 8, ".array"},
		{"&str", DW_LANG_Rust, true, 8, ".data_ptr"},
		{"&[", DW_LANG_Rust, false, 8, ".data_ptr"},
		{"&mut [", DW_LANG_Rust, false, 8, ".data_ptr"},
		{"basic_string_view<char,", 0, true, -8, "._M_str"},
	};
	const char *name = elf_type_is_aggregate(type) ? dwarf_diename(type) : NULL;

	for (size_t i = 0; name && i < ARRAY_SIZE(kinds); i++) {
		if (strncmp(name, kinds[i].name, strlen(kinds[i].name)) != 0 ||
		    (kinds[i].language && !elf_type_is_of(type, kinds[i].language)))
			continue;
		*ret_path = kinds[i].path;
		*ret_count_at = kinds[i].count_at;
		*ret_is_text = kinds[i].is_text;
		return true;
	}
	return false;
}

static bool is_char(Dwarf_Die *type)
{
	const char *name = dwarf_tag(type) == DW_TAG_base_type ? dwarf_diename(type) : NULL;

	return name && !strcmp(name, "char");
}

static bool classify_integer(Dwarf_Die *type, struct elf_field *field)
{
	int encoding = encoding_of(type), size = dwarf_bytesize(type);

	if ((dwarf_tag(type) != DW_TAG_base_type && dwarf_tag(type) != DW_TAG_enumeration_type) ||
	    elf_type_is_float(type) || (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	field->size = (uint8_t)size;
	field->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return true;
}

/* More dimensions than one are no plain array. */
static bool is_row(Dwarf_Die *type)
{
	Dwarf_Die dimension;

	return dwarf_tag(type) == DW_TAG_array_type && !dwarf_child(type, &dimension) &&
	       dwarf_siblingof(&dimension, &dimension) == 1;
}

bool elf_type_classify(Dwarf_Die *type, struct elf_field *field)
{
	Dwarf_Die at = *type, next;
	Dwarf_Word bytes;

	if (classify_integer(&at, field))
		return true;
	if (is_row(&at)) {
		field->is_array = true;
		if (!dwarf_aggregate_size(&at, &bytes) && bytes <= UINT32_MAX)
			field->array_bytes = (uint32_t)bytes;
	}
	if (!field->is_array && !elf_type_is_pointer(&at))
		return false;
	do {
		field->depth++;
		if (!elf_type_of(&at, &next))
			return true; /* void * */
		at = next;
	} while (elf_type_is_pointer(&at) && field->depth < NESTING_MAX);
	field->is_text = field->depth == 1 && is_char(&at);
	classify_integer(&at, field);
	return true;
}

/* ---- names ---- */

static void add(char *text, size_t size, const char *more)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s", more);
}

static const char *word_of(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_class_type:
		return "class ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

void elf_type_name(Dwarf_Die *type, char *text, size_t size)
{
	int tags[NESTING_MAX], cnt = 0;
	bool is_known = true;
	Dwarf_Die at = *type;

	while (is_known && cnt < NESTING_MAX && !dwarf_diename(&at) &&
	       (elf_type_is_pointer(&at) || dwarf_tag(&at) == DW_TAG_array_type)) {
		tags[cnt++] = dwarf_tag(&at);
		is_known = elf_type_of(&at, &at);
	}
	if (is_known)
		snprintf(text, size, "%s%s", word_of(dwarf_tag(&at)),
			 dwarf_diename(&at) ? dwarf_diename(&at) : "without a name");
	else
		snprintf(text, size, "void");
	while (cnt--)
		add(text, size,
		    tags[cnt] == DW_TAG_array_type     ? "[]"
		    : tags[cnt] == DW_TAG_pointer_type ? " *"
						       : " &");
}
