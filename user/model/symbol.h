/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Functions that change the stack other than by calls and returns. */
enum symbol_role {
	SYMBOL_PLAIN,
	SYMBOL_SETJMP,	     /* returns twice */
	SYMBOL_SWITCH,	     /* leaves to another stack: swapcontext, Go's gogo */
	SYMBOL_OCAML,	     /* compiled from OCaml: it may jump to a handler of its own caller */
	SYMBOL_GO_MORESTACK, /* makes Go's stack grow, and the function that called it begin again */
	SYMBOL_ADAPTER,	     /* of a JVM: leads a call on, to methods and to the interpreter */
};

/*
 * A function, or a made-up one for an address without a symbol. Owned by its image and valid as long as that.
 */
struct symbol {
	/* First what is asked at every call: it is in one line of the processor's cache. */
	uint64_t start; /* address of the first byte in the target ... */
	uint64_t end;	/* ... and past the last one; == start where the extent is unknown */
	/* parts of [start, end) belong to other symbols: those inside it, or all known ones */
	bool is_divided;
	bool is_region; /* no function is known in [start, end): it may be many */
	bool is_part;	/* the compiler moved it out of its function: "f.cold" */
	bool named;	/* false: the name is made up from object and offset */
	uint8_t role;	/* enum symbol_role */
	/* demangled; "OBJECT+0x1200" (start of the unnamed range) where no symbol is known */
	const char *name;
	const char *object;    /* path of the file, "[vdso]", "//anon" */
	const char *file;      /* declaring source file, or NULL where unknown */
	uint32_t line;	       /* 0 where unknown */
	const char *file_dir;  /* what a relative `file` is relative to, or NULL */
	const char *call_file; /* of an inlined call: the file of the call, or NULL */
	uint32_t call_line;
	bool has_place;	    /* image_symbol_source() can look for file and line ... */
	bool source_sought; /* ... and has done so */
};

/* A symbol without a name and an extent may stand for any code. */
static inline bool symbol_is_function(const struct symbol *symbol)
{
	return symbol->named || symbol->end > symbol->start;
}

/* Whether `ip` certainly belongs to the symbol; false: look it up among all symbols. */
static inline bool symbol_owns(const struct symbol *symbol, uint64_t ip)
{
	return !symbol->is_divided && ip >= symbol->start && ip < symbol->end;
}

/* Whether `name` is of a part that the compiler moved out of a function. */
bool symbol_is_part(const char *name);

/* Whether one is a part of the other, or both are of one function, by their names. */
bool symbol_shares_name(const struct symbol *a, const struct symbol *b);

/* The same function, or parts of one that the compiler moved out. */
static inline bool symbol_same_function(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a && b && (a->is_part || b->is_part) && symbol_shares_name(a, b));
}

/* The role of the function of this name (as in the symbol table). */
enum symbol_role symbol_role(const char *name);
