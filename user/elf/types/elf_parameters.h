/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds a parameter of a function in DWARF, and which integer argument it is. Inside of this module only. */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

struct parameter_search {
	const char *function; /* for messages */
	const char *name;     /* the wanted one, or NULL: the nth integer argument */
	unsigned int nth;     /* the result where `name` is given */
	Dwarf_Die die;	      /* the function */
	bool has_floats;      /* among the parameters before */
};

/* Finds the function at addr. False: there is no debug information for it. */
bool elf_parameter_begin(struct elf_file *file, uint64_t addr, struct parameter_search *search);

/*
 * Its type. -ENOENT with a sentence: the function has no such argument. -EINVAL with a sentence: it is not in
 * a register for integers, or there is no telling.
 */
int elf_parameter_find(struct parameter_search *search, Dwarf_Die *ret_type);
