/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable addresses of a file as sorted, disjoint ranges without holes, each of one function. Code
 * without a symbol is unnamed, split where the unwinding tables show that functions begin.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct elf_range {
	uint64_t start, end;
	const struct elf_symbol *symbol; /* NULL: unnamed */
	/* index of the symbol's first range; a function inside another one splits that into several */
	size_t first;
};

/* All ranges; they live as long as the file is open. */
const struct elf_range *elf_file_ranges(struct elf_file *file, size_t *ret_cnt);

/* The range that holds addr, or NULL. */
const struct elf_range *elf_range_find(const struct elf_range *ranges, size_t cnt, uint64_t addr);

/*
 * The extent of the function around addr as the stack unwinding tables have it, in symbols' place or beside
 * them: a function that the compiler has divided has one for each part. 0, or -ENOENT.
 */
int elf_frame_extent(const struct elf_file *file, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end);
