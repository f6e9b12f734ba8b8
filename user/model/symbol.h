/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Functions that do to the stack what no call or return does. */
enum symbol_role {
	SYMBOL_PLAIN,
	SYMBOL_SETJMP,	     /* returns twice */
	SYMBOL_SWITCH,	     /* leaves to another stack: swapcontext, Go's gogo */
	SYMBOL_OCAML,	     /* compiled from OCaml: it may jump to a handler of its own caller */
	SYMBOL_GO_MORESTACK, /* makes Go's stack grow, and the function that called it begin again */
};

/*
 * A function, or what stands for one where no symbol covers an address. Owned by its image; stable while that
 * lives.
 */
struct symbol {
	const char
		*name; /* demangled; "OBJECT+0x1200" (start of the unnamed range) where no symbol is known */
	const char *object;    /* path of the file, "[vdso]", "//anon" */
	uint64_t start;	       /* address of the first byte in the target ... */
	uint64_t end;	       /* ... and past the last one; == start where the extent is unknown */
	const char *file;      /* declaring source file, or NULL where unknown */
	uint32_t line;	       /* 0 where unknown */
	const char *call_file; /* of an inlined call: where it stands, or NULL */
	uint32_t call_line;
	bool has_place;	    /* image_symbol_source() can look for file and line ... */
	bool source_sought; /* ... and has done so */
	bool named;	    /* false: the name is made up from object and offset */
	uint8_t role;	    /* enum symbol_role */
	bool is_part;	    /* the compiler moved it out of its function: "f.cold" */
	/* some of [start, end) belongs to other symbols: those inside it, or all that are known */
	bool is_divided;
};

/* Without a name and an extent, a symbol may stand for any piece of code. */
static inline bool symbol_is_function(const struct symbol *symbol)
{
	return symbol->named || symbol->end > symbol->start;
}

/* Whether ip is the symbol's for certain; else whoever knows all symbols must be asked. */
static inline bool symbol_owns(const struct symbol *symbol, uint64_t ip)
{
	return !symbol->is_divided && ip >= symbol->start && ip < symbol->end;
}

/* Whether it is the name of a part that the compiler moved out of a function. */
bool symbol_is_part(const char *name);

/* What the function of that name (as in the symbol table) does. */
enum symbol_role symbol_role(const char *name);
