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
	const char *name;     /* the wanted one, or NULL: the nth integer argument */
	unsigned int nth;     /* the result where `name` is given */
	Dwarf_Die die;	      /* the function */
	bool is_address; /* of the result: the register has the address of the struct, as C++ passes some */
	bool has_floats; /* among the parameters before */
};

/* Finds the function at addr. False: there is no debug information for it. */
bool elf_parameter_begin(struct elf_file *file, uint64_t addr, struct parameter_search *search);

/* The function as it was written has all parameters, as it was compiled perhaps not. */
Dwarf_Die elf_parameter_function(const struct parameter_search *search);

/* Whether it is one; Go lists results among them. */
bool elf_parameter_is_one(Dwarf_Die *die);

/* Of the return value; of Go, of the first result. False: there is none. */
bool elf_parameter_result(struct parameter_search *search, Dwarf_Die *ret_type);

/* A string or a slice of Go or Rust: an address and a length. */
bool elf_parameter_is_counted(Dwarf_Die *type);

/*
 * Its type. -ENOENT with a sentence: the function has no such argument. -EINVAL with a sentence: it is not in
 * a register for integers, or there is no telling.
 */
int elf_parameter_find(struct parameter_search *search, Dwarf_Die *ret_type);

/* As elf_file_find_field(), with the type of the value there. *field is all 0 before. */
int elf_field_locate(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth,
		     const char *path, struct elf_field *field, Dwarf_Die *ret_type);
