/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One ELF file: its functions, and the conversion between virtual addresses and file offsets. Functions come
 * from .symtab, .dynsym and the separate debug file (build-id, .gnu_debuglink). PLT entries get made-up
 * symbols ("puts@plt"), and a stripped program a symbol for main.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "model/inlines.h"

struct elf_file;

struct elf_symbol {
	const char *name;    /* as in the symbol table (mangled), without a version */
	const char *version; /* "GLIBC_2.14" or NULL */
	uint64_t addr;	     /* virtual address in the file (st_value) */
	uint64_t size;	     /* 0 if the table has none */
	uint8_t type;	     /* STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE */
	uint8_t bind;	     /* STB_GLOBAL, STB_WEAK, STB_LOCAL */
	uint8_t is_default;  /* the default version (@@), or the symbol has none */
	uint8_t is_plt;	     /* made up from a PLT entry */
	uint8_t is_guess;    /* main of a stripped program, found by its start-up code */
};

/*
 * Opens an ELF file. Errors, each with a sentence that names the path: those of open(2); -ENOEXEC: not an ELF
 * file (for a script the sentence asks for the interpreter), or damaged; -ENOTSUP: not x86-64 (32-bit,
 * another machine).
 */
int elf_file_open(struct elf_file **ret_file, const char *path);
void elf_file_close(struct elf_file *file);

const char *elf_file_path(const struct elf_file *file);

/*
 * All functions, sorted by (addr, preference). Of several names for one address the name to show comes first:
 * functions before labels, exported before local, with a size before without, fewer leading underscores,
 * global before weak ("puts" before "_IO_puts"), PLT names last.
 */
const struct elf_symbol *elf_file_symbols(struct elf_file *file, size_t *ret_cnt);

/*
 * The symbol that covers `addr`, or NULL. A symbol of size 0 extends to the next symbol or the end of its
 * section. Of several, the one that begins last; a label without type and size inside a function does not
 * count.
 */
const struct elf_symbol *elf_file_symbol_at(struct elf_file *file, uint64_t addr);

/*
 * Functions defined as `name`, mangled or demangled (with or without parameters); default versions only
 * unless `name` is "NAME@VERSION". Writes up to `cap` of them with different addresses to `ret_symbols`;
 * returns how many there are.
 */
size_t elf_file_find(struct elf_file *file, const char *name, const struct elf_symbol **ret_symbols,
		     size_t cap);

/*
 * Writes up to `cap` defined function names most similar to `name` (edit distance, substring), best first,
 * C++ and Rust demangled. Returns how many. The names live as long as the file is open.
 */
size_t elf_file_similar(struct elf_file *file, const char *name, const char **ret_names, size_t cap);

/* Convert between virtual address and file offset by PT_LOAD. -ERANGE: no segment covers it. */
int elf_file_offset(const struct elf_file *file, uint64_t addr, uint64_t *ret_offset);
int elf_file_addr(const struct elf_file *file, uint64_t offset, uint64_t *ret_addr);

/* Whether the address lies in an executable PT_LOAD. */
int elf_file_is_code(const struct elf_file *file, uint64_t addr);

/* Reads file bytes at an offset; returns the number of bytes read. */
size_t elf_file_read(const struct elf_file *file, uint64_t offset, void *bytes, size_t size);

/*
 * The source file and line of the function that starts at addr, from DWARF in the file or its debug file. 0,
 * or -ENOENT. The string lives as long as the file is open.
 */
int elf_file_source(struct elf_file *file, uint64_t addr, const char **ret_path, uint32_t *ret_line);

/* The directory in which the function at addr was compiled, as long-lived; NULL: unknown. */
const char *elf_file_source_dir(struct elf_file *file, uint64_t addr);

/* The inlined calls at an address; NULL: no debug information. Slow for the first address of a unit. */
const struct inline_chain *elf_file_inlines_at(struct elf_file *file, uint64_t addr);

/*
 * The addresses where the source line begins a statement, one for each function that has it. `source` is a
 * path or the end of one. The caller frees the array. -ENOENT with a sentence: no debug information, no such
 * source file, or no code for the line (the sentence names the next line with code); -ENOMEM.
 */
int elf_file_find_line(struct elf_file *file, const char *source, uint32_t line, uint64_t **ret_addrs,
		       size_t *ret_cnt);

/* Statically defined probes. Strings live as long as the file is open. */
struct elf_usdt {
	const char *provider, *name;
	const char *args;   /* from the note: "8@%rdi -4@$3" */
	uint64_t addr;	    /* of the probed nop */
	uint64_t semaphore; /* address of a counter to raise while the probe is used; 0: none */
};

struct elf_usdt_list {
	struct elf_usdt *items; /* the caller's to free */
	size_t cnt, cap;
};

static inline void elf_usdt_list_release(struct elf_usdt_list *list)
{
	free(list->items);
}

/* Appends all USDT probes. 0 or -ENOMEM. */
int elf_file_usdts(const struct elf_file *file, struct elf_usdt_list *list);

/* The address of a variable in a symbol table; else -ENOENT. */
int elf_file_find_data(const struct elf_file *file, const char *name, uint64_t *ret_addr);

/*
 * The variable that covers `addr`, by a symbol table, which is read as far as that; NULL: none does. The name
 * lives as long as the file is open.
 */
const char *elf_file_data_at(const struct elf_file *file, uint64_t addr);

/* Whether it is a program without a dynamic loader. */
int elf_file_is_static(const struct elf_file *file);

/* Whether the Go compiler made it; Go stacks move. */
int elf_file_is_go(const struct elf_file *file);

/* Whether addr is in a function from the Go compiler or Go's assembler, rather than from C. */
int elf_file_is_go_code(struct elf_file *file, uint64_t addr);

/* Whether functions of this Go program pass arguments in registers (since Go 1.17). */
int elf_file_go_passes_in_registers(struct elf_file *file);

/* The offset of the goroutine number in runtime.g. -ENOENT: not Go, or no debug information. Slow. */
int elf_file_go_goid(struct elf_file *file, uint64_t *ret_offset);

/* Build-id bytes, or NULL. */
const uint8_t *elf_file_build_id(const struct elf_file *file, size_t *ret_size);

/*
 * Finds the library `name` ("libc.so.6", or "libc" for libc.so.N) as the dynamic loader would for the
 * executable `exe`: in its DT_NEEDED closure first, by DT_RPATH/DT_RUNPATH with $ORIGIN, LD_LIBRARY_PATH,
 * /etc/ld.so.cache and the default directories. The caller frees *ret_path. -ENOENT with a sentence, or an
 * error of elf_file_open() for `exe`.
 */
int elf_library_find(const char *exe, const char *name, char **ret_path);

/*
 * Calls fn with the path of each library in the DT_NEEDED closure of exe, breadth first (the loader's search
 * order); stops at the first non-zero return and returns it.
 */
int elf_library_each(const char *exe, int (*fn)(void *ctx, const char *path), void *ctx);

/* Demangled (C++, Rust) with parameters, or NULL where `name` is not mangled; the caller's to free. */
char *elf_demangle(const char *name);

/* The name as people read it: demangled, or else as it is; the caller's to free. NULL: there is no memory. */
char *elf_shown_name(const char *name);

DEFINE_CLEANUP(struct elf_file *, elf_file_close)
