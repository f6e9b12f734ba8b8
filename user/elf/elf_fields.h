/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a field of what a function's argument points to is, from DWARF. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

enum { ELF_FIELD_LOADS_MAX = 8 };

/*
 * The address of the field is offsets[0] behind the argument; of each further offset: behind the pointer that
 * is loaded from the address so far. The value there is an integer of `size` bytes or, of `depth` > 0, a
 * pointer that leads to one, that many times over; size 0: to something else, a struct for instance.
 */
struct elf_field {
	uint64_t offsets[ELF_FIELD_LOADS_MAX];
	size_t cnt;
	uint8_t size; /* 0, 1, 2, 4, 8 */
	bool is_signed;
	uint8_t depth;
	bool is_array; /* its address is the value, as in C */
	/* of a bit field: so many bits of those `size` bytes, from this one on; else 0 */
	uint8_t bit_cnt, bit_shift;
};

/*
 * Looks `path` ("->conn->fd", "->name.len") up in the argument that the function at addr has in the nth
 * register for integers (System V ABI: numbers in vector registers do not count). `function` is its name for
 * messages. Members of anonymous structs and unions, and of base classes, count as the struct's own. A struct
 * that is only declared is looked for by its name in the other units. -ENOENT with a sentence: no debug
 * information; no such argument or field. -EINVAL with a sentence: the argument is no pointer to a struct; a
 * floating-point number or struct; there is no telling what the argument is.
 */
int elf_file_find_field(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth,
			const char *path, struct elf_field *ret_field);

/*
 * Whether arg `nth` is one of the function's integer parameters: -ENOENT with a sentence if it has too few of
 * them and some are floating-point numbers, which are not counted. 0 also where there is no telling.
 */
int elf_file_check_argument(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth);

/* -EINVAL with a sentence: the function returns a floating-point number. 0 also where there is no telling. */
int elf_file_check_result(struct elf_file *file, uint64_t addr, const char *function);
