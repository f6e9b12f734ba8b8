/* SPDX-License-Identifier: BSD-2-Clause */
/* Types in DWARF, without typedef, const and the like. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

#include "elf/types/elf_fields.h"

/* The type of a variable, member or function, or the target of a pointer. False: none (void), or damaged. */
bool elf_type_of(Dwarf_Die *die, Dwarf_Die *ret_type);

bool elf_type_has_name(Dwarf_Die *die, const char *name);

/* A struct, class or union. */
bool elf_type_is_aggregate(Dwarf_Die *type);

/* A pointer or a reference. */
bool elf_type_is_pointer(Dwarf_Die *type);
bool elf_type_is_float(Dwarf_Die *type);

/* Replaces a declaration by its definition. False: no unit defines it, or several do with different sizes. */
bool elf_type_complete(Dwarf_Die *type);

/*
 * Calls found() with each member; members of anonymous structs and unions and of base classes
 * count as its own. An error of found() ends it and is returned.
 */
int elf_type_each_member(Dwarf_Die *type, int (*found)(void *ctx, Dwarf_Die *member), void *ctx);

/* Whether the type of a member, or the target of a pointer, is volatile. */
bool elf_type_is_volatile(Dwarf_Die *die);

/* Adds the offset of a member, or of a base class, in what it is in. False: it has none. */
bool elf_type_add_offset(Dwarf_Die *member, uint64_t *offset);

/* Whether a member's own members count as those of what it is in. */
bool elf_type_is_transparent(Dwarf_Die *member);

/* std::string of libstdc++. */
bool elf_type_is_cxx_string(Dwarf_Die *type);

/* Whether its compilation unit is written in the language (DW_LANG_...). */
bool elf_type_is_of(Dwarf_Die *die, int language);

/*
 * A string or a slice of Go or Rust, or a std::string_view of libstdc++: an address and a length.
 * *ret_path is the path to the address, and the length lies *ret_count_at bytes behind it.
 * *ret_is_text: it is a string.
 */
bool elf_type_is_counted(Dwarf_Die *type, const char **ret_path, int8_t *ret_count_at, bool *ret_is_text);

/*
 * Fills size, is_signed, depth, is_array, is_text and array_bytes. False: not an integer, a pointer or a
 * plain array of these.
 */
bool elf_type_classify(Dwarf_Die *type, struct elf_field *field);

/* "struct buffer *", cut to `size`. */
void elf_type_name(Dwarf_Die *type, char *text, size_t size);
