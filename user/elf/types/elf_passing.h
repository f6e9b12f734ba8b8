/* SPDX-License-Identifier: BSD-2-Clause */
/* Which registers a parameter takes in C and C++ (System V ABI, 3.2.3). */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_passing {
	unsigned int integers, vectors; /* so many registers of each kind, or, if they are too few, none */
	bool is_address;		/* it is one for the address of the struct */
	bool in_memory;			/* it takes none, however many are left */
};

/*
 * How a struct, or a number of 16 bytes, is passed; `is_address`: C++ passes its address. False: that is not
 * known.
 */
bool elf_passing_of(Dwarf_Die *type, bool is_address, struct elf_passing *ret_passing);

/*
 * The byte at `offset` of a struct is in the nth of the integer registers that the struct takes: returns n, 0
 * or 1. Negative: in none, or that is not known.
 */
int elf_passing_register(Dwarf_Die *type, uint64_t offset);

/* Whether the type has to be aligned to more than 8 bytes. */
bool elf_passing_is_wide(Dwarf_Die *type);
