/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds parameters of a function, and fields of the objects that they point to, from DWARF. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct elf_file;

enum { ELF_FIELD_LOADS_MAX = 8 };

/* Instead of an argument's number: the return value. */
enum {
	ELF_RESULT = 1u << 30,
	/*
	 * From here on the parameter is on the stack, so many bytes above the return
	 * address at the beginning.
	 */
	ELF_ON_STACK = 1u << 29,
};

static inline bool elf_is_on_stack(unsigned int nth)
{
	return nth >= ELF_ON_STACK && nth < ELF_RESULT;
}

/*
 * How to compute the field's address: add offsets[0] to the argument; for each further offset, load a pointer
 * from the address so far and add the offset to it. The value there is an integer of `size` bytes. With
 * `depth` > 0 it is a pointer to one, `depth` pointers deep; size 0 then means a pointer to something else,
 * such as a struct. With `in_register` the struct itself is in registers: begin with the argument that is
 * `skip` after the given one, shifted right by `shift` bits, and pass over offsets[0].
 */
struct elf_field {
	uint64_t offsets[ELF_FIELD_LOADS_MAX];
	size_t cnt;
	uint8_t size; /* 0, 1, 2, 4, 8 */
	bool is_signed;
	uint8_t depth;
	bool is_array; /* its address is the value, as in C */
	bool is_text;  /* it points to text, or is an array of it */
	uint32_t array_bytes;
	bool in_register;
	uint8_t skip, shift;
	/*
	 * what it points to is counted: the number of elements lies so many bytes behind the pointer; else 0
	 */
	int8_t count_at;
	/* of a bit field: so many bits of those `size` bytes, from this one on; else 0 */
	uint8_t bit_cnt, bit_shift;
};

/*
 * Looks up `path` ("->conn->fd", "->name.len") in the argument that the function at addr takes in the nth
 * integer register (System V ABI; vector registers do not count). `function` is its name for messages.
 * Members of anonymous structs and unions and of base classes count as the struct's own. A struct that is
 * only declared is looked up by name in the other units. Of an empty path, *ret_field is the argument's own
 * type, without offsets. A std::string (libstdc++, basic_string.h), or a reference to one, is the address of
 * its text; so is a std::string_view, and a string or slice of Go or Rust the address of its elements. With
 * ELF_RESULT, it is the return value.
 * A struct whose address C++ passes counts as if it were here.
 *
 * -ENOENT with a sentence: no debug information; no such argument or field. -EINVAL with a sentence: the
 * argument is not a pointer to a struct; the field is a floating-point number or a struct; the
 * argument's parameter is unknown.
 */
int elf_file_find_field(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth,
			const char *path, struct elf_field *ret_field);

struct elf_constant {
	char *name;
	uint64_t value; /* sign-extended */
};

/* The constants of an enum. */
struct elf_enum {
	struct elf_constant *constants;
	size_t cnt, cap;
};

/*
 * Finds the constants of the field's enum; the field is named as for elf_file_find_field(). *ret_constants is
 * NULL if the field has no enum type or is unknown. 0 or -ENOMEM. The caller frees it.
 */
int elf_file_find_enum(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth,
		       const char *path, struct elf_enum **ret_constants);
void elf_enum_free(struct elf_enum *constants);

struct elf_parameter {
	const char *name;
	enum {
		ELF_PARAMETER_PLAIN,
		ELF_PARAMETER_STRUCT, /* by value */
		ELF_PARAMETER_FLOAT,  /* in a vector register */
	} kind;
};

/*
 * Calls found() for each parameter that has a name, in their order. -ENODATA without a sentence: no debug
 * information. An error of found() ends it and is returned.
 */
int elf_file_each_parameter(struct elf_file *file, uint64_t addr,
			    int (*found)(void *ctx, const struct elf_parameter *parameter), void *ctx);

/*
 * The same for the fields of the struct that arg `nth` is or points to; none if it does neither. Their paths
 * begin with "." or "->". Fields of anonymous structs and unions and of base classes are among them, what is
 * volatile is not.
 */
int elf_file_each_field(struct elf_file *file, uint64_t addr, unsigned int nth,
			int (*found)(void *ctx, const char *path), void *ctx);

DEFINE_CLEANUP(struct elf_enum *, elf_enum_free)

/*
 * Whether arg `nth` is one of the function's integer parameters: -ENOENT with a sentence if it has too few of
 * them and some are floating-point numbers, which are not counted. 0 also where there is no telling.
 */
int elf_file_check_argument(struct elf_file *file, uint64_t addr, const char *function, unsigned int nth);

/* -EINVAL with a sentence: the function returns a floating-point number. 0 also where there is no telling. */
int elf_file_check_result(struct elf_file *file, uint64_t addr, const char *function);

/* What a name in a function's source means. */
struct elf_name {
	bool is_constant;  /* of an enum; else a parameter */
	unsigned int nth;  /* the integer argument that the parameter is, or from ELF_ON_STACK on */
	uint64_t constant; /* sign-extended */
};

/*
 * Looks up a name in the function at addr: its parameters, then the constants of the enums in its unit.
 * -ENODATA without a sentence: no debug information. -ENOENT with a sentence: no such name. -EINVAL with a
 * sentence: the parameter is in no register for integers, or there is no telling; constants of that name
 * differ.
 */
int elf_file_find_name(struct elf_file *file, uint64_t addr, const char *function, const char *name,
		       struct elf_name *ret_name);
