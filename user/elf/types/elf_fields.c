/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A path of names is followed through the types: a pointer adds a load, a struct adds to the offset.
 */
#include "elf/types/elf_fields.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "elf/types/elf_parameters.h"
#include "elf/types/elf_types.h"

enum { NESTING_MAX = 32 };

static int fail_no_debug(const struct parameter_search *search)
{
	return fail(-ENOENT,
		    "there is no debug information for %s, so the fields of arg%u are unknown: compile "
		    "with -g, install the debug file, or write *(int *)(arg%u + 8), for instance",
		    search->function, search->nth, search->nth);
}

/* ---- fields ---- */

static bool find_own(Dwarf_Die *type, const char *name, size_t len, Dwarf_Die *ret_member, uint64_t *offset)
{
	Dwarf_Die die;
	int more = dwarf_child(type, &die);

	for (; !more; more = dwarf_siblingof(&die, &die)) {
		const char *own = dwarf_tag(&die) == DW_TAG_member ? dwarf_diename(&die) : NULL;

		if (own && strlen(own) == len && !strncmp(own, name, len) &&
		    elf_type_add_offset(&die, offset)) {
			*ret_member = die;
			return true;
		}
	}
	return false;
}

/* Its own hide those of base classes. */
static bool find_member(Dwarf_Die *type, const char *name, size_t len, unsigned int nesting,
			Dwarf_Die *ret_member, uint64_t *offset)
{
	Dwarf_Die inner, die;
	int more = nesting < NESTING_MAX ? dwarf_child(type, &die) : 1;

	if (find_own(type, name, len, ret_member, offset))
		return true;
	for (; !more; more = dwarf_siblingof(&die, &die)) {
		uint64_t at = *offset;

		if (!elf_type_is_transparent(&die) || !elf_type_of(&die, &inner) ||
		    !elf_type_complete(&inner) || !elf_type_add_offset(&die, &at) ||
		    !find_member(&inner, name, len, nesting + 1, ret_member, &at))
			continue;
		*offset = at;
		return true;
	}
	return false;
}

enum { MEMBERS_BYTES = 400 };

static int list_member(void *ctx, Dwarf_Die *member)
{
	char *text = ctx;
	size_t len = strlen(text), size = MEMBERS_BYTES;

	if (len < size / 2)
		snprintf(text + len, size - len, "%s%s", len ? ", " : "", dwarf_diename(member));
	else if (text[len - 1] != '.')
		snprintf(text + len, size - len, ", ...");
	return 0;
}

static int fail_no_member(Dwarf_Die *type, const char *name, size_t len)
{
	char text[MEMBERS_BYTES] = "", type_name[128];

	elf_type_each_member(type, list_member, text);
	elf_type_name(type, type_name, sizeof(type_name));
	return fail(-ENOENT, "%s has no field '%.*s' that can be read: it has %s", type_name, (int)len, name,
		    *text ? text : "none");
}

static int fail_kind(Dwarf_Die *type, const char *name, size_t len)
{
	char type_name[128];

	elf_type_name(type, type_name, sizeof(type_name));
	return fail(-EINVAL,
		    "'%.*s' is of the type %s: only integers, pointers and arrays of them can be read%s",
		    (int)len, name, type_name,
		    elf_type_is_aggregate(type) ? "; name a field of it with '.'" : "");
}

/* What the path has come to. */
struct walk {
	Dwarf_Die type; /* of the value there */
	const char *name;
	size_t len;
	uint8_t bit_unit; /* of a bit field: bytes that hold it */
	struct elf_field *field;
};

/* The struct that the next name is in: behind a pointer, or right here. */
static int enter(struct walk *walk, bool is_arrow, bool is_argument)
{
	bool is_pointer = elf_type_is_pointer(&walk->type);
	bool is_reference = is_pointer && dwarf_tag(&walk->type) != DW_TAG_pointer_type;
	char type_name[128];
	Dwarf_Die to = walk->type;

	elf_type_name(&walk->type, type_name, sizeof(type_name));
	if ((is_pointer && !elf_type_of(&walk->type, &to)) || !elf_type_is_aggregate(&to))
		return fail(-EINVAL, "%.*s is of the type %s, not a %sstruct", (int)walk->len, walk->name,
			    type_name, is_argument || is_pointer ? "pointer to a " : "");
	if (!is_reference && is_arrow != is_pointer)
		return fail(-EINVAL, "%.*s is of the type %s: write '%s' after it", (int)walk->len,
			    walk->name, type_name, is_pointer ? "->" : ".");
	if (!elf_type_complete(&to))
		return fail(-ENOENT,
			    "the debug information declares %s, but this file has no single definition of "
			    "it: write *(int *)(ADDRESS + 8), for instance",
			    type_name);
	if (is_pointer && walk->field->cnt == ELF_FIELD_LOADS_MAX)
		return fail(-EINVAL, "at most %d pointers can be followed", ELF_FIELD_LOADS_MAX);
	walk->field->cnt += is_pointer;
	walk->type = to;
	return 0;
}

/* From the beginning of what it is in, or, DWARF 2 and 3, of its member; those count from the upper end. */
static bool first_bit(Dwarf_Die *member, Dwarf_Word bit_cnt, Dwarf_Word *ret_bit)
{
	Dwarf_Attribute attribute;
	Dwarf_Word size, from_end;

	if (!dwarf_formudata(dwarf_attr(member, DW_AT_data_bit_offset, &attribute), ret_bit))
		return true;
	if (dwarf_formudata(dwarf_attr(member, DW_AT_byte_size, &attribute), &size) ||
	    dwarf_formudata(dwarf_attr(member, DW_AT_bit_offset, &attribute), &from_end))
		return false;
	*ret_bit = 8 * size - from_end - bit_cnt;
	return *ret_bit < 8 * size;
}

/* It is read with the whole unit of its type, or, packed, with the bytes from its first one on. */
static bool place_bits(Dwarf_Die *member, struct walk *walk)
{
	Dwarf_Word size = (Dwarf_Word)dwarf_bytesize(&walk->type), bit_cnt, bit, at;
	Dwarf_Attribute attribute;

	if (dwarf_formudata(dwarf_attr(member, DW_AT_bit_size, &attribute), &bit_cnt) || !bit_cnt ||
	    bit_cnt > 64 || !first_bit(member, bit_cnt, &bit) || !size || size > 8)
		return false;
	at = bit / (8 * size) * size;
	if (bit - 8 * at + bit_cnt > 8 * size)
		for (at = bit / 8, size = 1; bit % 8 + bit_cnt > 8 * size;)
			size *= 2;
	walk->field->offsets[walk->field->cnt - 1] += at;
	walk->field->bit_cnt = (uint8_t)bit_cnt;
	walk->field->bit_shift = (uint8_t)(bit - 8 * at);
	walk->bit_unit = (uint8_t)size;
	return size <= 8;
}

static int take_member(struct walk *walk, const char *name, size_t len)
{
	uint64_t *offset = &walk->field->offsets[walk->field->cnt - 1];
	Dwarf_Die member;

	if (!find_member(&walk->type, name, len, 0, &member, offset))
		return fail_no_member(&walk->type, name, len);
	if (!elf_type_of(&member, &walk->type))
		return fail(-ENOENT, "the debug information does not say what '%.*s' is", (int)len, name);
	if (dwarf_hasattr(&member, DW_AT_bit_size) && !place_bits(&member, walk))
		return fail(-EINVAL, "'%.*s' is a bit field that is no part of 8 bytes: it cannot be read",
			    (int)len, name);
	walk->name = name;
	walk->len = len;
	return 0;
}

static int follow_names(struct walk *walk, const char *path)
{
	int err = 0;

	for (bool is_first = true; *path && !err; is_first = false) {
		bool is_arrow = *path == '-';
		size_t len;

		path += is_arrow ? 2 : 1;
		len = strcspn(path, "-.");
		err = enter(walk, is_arrow, is_first);
		if (!err)
			err = take_member(walk, path, len);
		path += len;
	}
	return err;
}

/* A std::string of libstdc++, or a reference to one; a pointer to one stays a pointer. */
static bool is_cxx_string(Dwarf_Die *type)
{
	Dwarf_Die at = *type;

	if (elf_type_is_pointer(&at) && (dwarf_tag(&at) == DW_TAG_pointer_type || !elf_type_of(&at, &at)))
		return false;
	return elf_type_is_cxx_string(&at);
}

static int follow(struct walk *walk, const char *path)
{
	int err = follow_names(walk, path);
	const char *to_address;
	bool is_text = false;

	if (!err && is_cxx_string(&walk->type))
		err = follow_names(walk, "._M_dataplus._M_p");
	else if (!err && elf_type_is_counted(&walk->type, &to_address, &walk->field->count_at, &is_text))
		err = follow_names(walk, to_address);
	if (!err && !elf_type_classify(&walk->type, walk->field))
		err = fail_kind(&walk->type, walk->name, walk->len);
	walk->field->is_text |= is_text;
	if (!err && walk->field->bit_cnt)
		walk->field->size = walk->bit_unit;
	return err;
}

static int find_result(struct parameter_search *search, Dwarf_Die *ret_type)
{
	if (!elf_parameter_result(search, ret_type))
		return fail(-ENOENT, "%s returns nothing", search->function);
	return elf_type_is_aggregate(ret_type) ? fail(-EINVAL, "%s returns a struct", search->function) : 0;
}

/* As if it were behind a pointer, but for the first step. */
static int find_part(const struct parameter_search *search, Dwarf_Die *type, struct elf_field *field)
{
	uint64_t size = field->cnt > 1 || field->depth ? 8 : field->size;

	field->in_register = true;
	if ((field->is_array && field->cnt == 1) ||
	    !elf_parameter_part(search, type, field->offsets[0], &field->skip, &field->shift) ||
	    field->shift + 8 * size > 64)
		return fail(-EINVAL, "this field of %s's parameter is in no register for integers",
			    search->function);
	return 0;
}

int elf_field_locate(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth,
		     const char *path, struct elf_field *field, Dwarf_Die *ret_type)
{
	struct parameter_search search = {.function = function, .nth = nth};
	char name[16] = "ret";
	Dwarf_Die whole;
	struct walk walk = {.name = name, .len = strlen(name), .field = field};
	int err;

	if (nth != ELF_RESULT)
		walk.len = (size_t)snprintf(name, sizeof(name), "arg%u", nth);
	if (!elf_parameter_begin(file, addr, &search))
		return fail_no_debug(&search);
	err = nth == ELF_RESULT ? find_result(&search, &walk.type) : elf_parameter_find(&search, &walk.type);
	whole = walk.type;
	/* As if it were behind a pointer. */
	field->cnt = !err && (search.is_address || search.is_split);
	if (!err)
		err = follow(&walk, path);
	if (!err && search.is_split)
		err = find_part(&search, &whole, field);
	if (!err)
		*ret_type = walk.type;
	return err;
}

int elf_file_find_field(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth,
			const char *path, struct elf_field *ret_field)
{
	struct elf_field field = {0};
	Dwarf_Die type;
	int err = elf_field_locate(file, addr, function, nth, path, &field, &type);

	if (!err)
		*ret_field = field;
	return err;
}

int elf_file_check_argument(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth)
{
	struct parameter_search search = {.function = function, .nth = nth};
	Dwarf_Die type;

	return elf_parameter_begin(file, addr, &search) && elf_parameter_find(&search, &type) == -ENOENT &&
			       search.has_floats
		       ? -ENOENT
		       : 0;
}

int elf_file_check_result(struct elf_file *file, uint64_t addr, const char *function)
{
	struct parameter_search search = {.function = function};
	char type_name[128];
	Dwarf_Die type;

	if (!elf_parameter_begin(file, addr, &search) || !elf_type_of(&search.die, &type) ||
	    !elf_type_is_float(&type))
		return 0;
	elf_type_name(&type, type_name, sizeof(type_name));
	return fail(-EINVAL,
		    "%s returns a %s in a vector register, which cannot be read: `ret` is an integer or a "
		    "pointer; `elapsed` and arguments are known",
		    function, type_name);
}
