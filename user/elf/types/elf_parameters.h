/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a parameter of a function in DWARF, and which integer argument it is. Inside of this module only. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_field;
struct elf_file;

struct parameter_search {
	const char *function; /* for messages */
	const char *name;     /* the wanted one, or NULL: the nth integer argument, or from ELF_ON_STACK on */
	unsigned int nth;     /* the result where `name` is given */
	Dwarf_Die die;	      /* the function */
	bool is_address; /* of the result: the register has the address of the struct, as C++ passes some */
	bool is_split;	 /* of the result: it is a struct in registers, from the nth on */
	bool has_floats; /* among the parameters before */
	uint64_t stack_size; /* what the parameter that was looked at last takes on the stack */
};

/* Finds the function at addr. False: there is no debug information for it. */
bool elf_parameter_begin(struct elf_file *file, uint64_t addr, struct parameter_search *search);

/* The function as it was written has all parameters, as it was compiled perhaps not. */
Dwarf_Die elf_parameter_function(const struct parameter_search *search);

/* Whether the entry is a parameter: Go lists results among them. */
bool elf_parameter_is_one(Dwarf_Die *die);

/* The type of the return value, in Go of the first result. False: there is none. */
bool elf_parameter_result(struct parameter_search *search, Dwarf_Die *ret_type);

/*
 * The type of the argument that is searched for. -ENOENT with a sentence: the function has no such argument.
 * -EINVAL with a sentence: it is not in a register for integers, or its place is unknown.
 */
int elf_parameter_find(struct parameter_search *search, Dwarf_Die *ret_type);

/*
 * Finds the register that has the byte at `offset` of a struct that is split between registers: it comes
 * *ret_skip after the struct's first one, and the byte begins at its bit *ret_shift. False: the byte is in a
 * vector register, or its place is unknown.
 */
bool elf_parameter_part(const struct parameter_search *search, Dwarf_Die *type, uint64_t offset,
			uint8_t *ret_skip, uint8_t *ret_shift);

/* As elf_file_find_field(), and gives the type of the value. The caller clears *field. */
int elf_field_locate(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth,
		     const char *path, struct elf_field *field, Dwarf_Die *ret_type);
