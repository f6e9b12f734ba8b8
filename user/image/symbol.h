/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A function, or what stands for one where no symbol covers an address. Owned by its image; stable while that
 * lives.
 */
struct symbol {
	const char
		*name; /* demangled; "OBJECT+0x1200" (start of the unnamed range) where no symbol is known */
	const char *object; /* path of the file, "[vdso]", "//anon" */
	uint64_t start;	    /* address of the first byte in the target ... */
	uint64_t end;	    /* ... and past the last one */
	const char *file;   /* declaring source file, or NULL where unknown */
	uint32_t line;	    /* 0 where unknown */
	bool source_sought; /* file and line have been looked for */
	bool named;	    /* false: the name is made up from object and offset */
};
