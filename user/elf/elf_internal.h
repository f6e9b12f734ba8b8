/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the implementation files of elf_file.h, and of the folders here. */
#pragma once

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>

#include "elf/elf_file.h"
#include "elf/elf_handlers.h"
#include "elf/elf_range.h"

struct elf_unit;    /* elf_source.c */
struct elf_inlines; /* elf_inlines.c */
struct elf_cfi;	    /* elf_cfi.c */

struct elf_handler_list {
	struct elf_handler *items;
	size_t cnt, cap;
};

/* What libdw reads of a section that is compressed. */
struct elf_inflated {
	uint8_t *bytes;
	size_t size;
	const uint8_t *from; /* the section in the file, if it is not inflated yet; else NULL */
	size_t from_size;
};

struct elf_file {
	char *path;
	int fd;
	Elf *elf;
	GElf_Phdr *loads; /* PT_LOADs */
	size_t load_cnt, load_cap;
	uint8_t build_id[64];
	size_t build_id_size;
	/* The separate debug file, searched once. */
	bool debug_sought;
	int debug_fd;
	Elf *debug;
	uint8_t *minidebug; /* the bytes of `debug` if it is embedded in the file */
	/* All functions, read once. */
	bool symbols_read;
	struct elf_symbol *symbols;
	size_t symbol_cnt, symbol_cap;
	char **names; /* made-up or shortened names: "puts@plt" */
	size_t name_cnt, name_cap;
	struct elf_range *ranges;
	size_t range_cnt, range_cap;
	/* Exception handlers, read once. */
	bool handlers_read;
	struct elf_handler_list handlers;
	uint64_t *landings; /* addresses of handlers, sorted */
	/* Debug information, opened once. */
	bool dwarf_sought;
	Dwarf *dwarf;
	struct elf_inflated *inflated;
	size_t inflated_cnt, inflated_cap;
	struct elf_unit *units;
	size_t unit_cnt, unit_cap;
	struct elf_inlines **inlines; /* of the units read so far */
	size_t inlines_cnt, inlines_cap;
	/* Go's code, searched once. */
	bool go_sought, go_registers;
	uint64_t go_start, go_end; /* range of Go code */
	struct elf_cfi *cfi;	   /* call frame information, opened once */
};

/*
 * Opens the ELF file `fd` (which stays open and the caller's) in private memory, which no uprobe changes.
 * NULL: see elf_errmsg().
 */
Elf *elf_map(int fd);

/* The file's bytes from a virtual address on, as they are mapped, and how many there are; NULL: none. */
const uint8_t *elf_bytes_at(const struct elf_file *file, uint64_t addr, size_t *ret_size);

/* The section called `name`, or NULL. */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *ret_header);

/* The executable PT_LOAD that covers addr, or NULL. */
const GElf_Phdr *elf_code_segment(const struct elf_file *file, uint64_t addr);

/* Fills file->symbols and ranges, once; damaged entries are left out. */
void elf_symbols_read(struct elf_file *file);

/* Makes the file own `text` and returns it. NULL if `text` is NULL, or out of memory (then text is freed). */
char *elf_keep_name(struct elf_file *file, char *text);

/*
 * Adds made-up symbols for the PLT. file->symbols must be sorted before, and is not afterwards. 0 or -ENOMEM.
 */
int elf_plt_add(struct elf_file *file);

/* Whether file->symbols, while they are read, have one of this name. */
bool elf_has_symbol(const struct elf_file *file, const char *name);

/* Adds the symbol "main" if no symbol table has it and the start-up code shows where it is. 0 or -ENOMEM. */
int elf_main_add(struct elf_file *file);

/* elf_go.c: adds the functions of a Go program whose symbol table was removed. 0 or -ENOMEM. */
int elf_go_add(struct elf_file *file);

/* Fills file->ranges from the sorted file->symbols. 0 or -ENOMEM. */
int elf_ranges_build(struct elf_file *file);

struct cfi_row;

/* elf_walked.c: fills in the row of code without call frame information, if it can be told. 0 or -ENOMEM. */
int elf_walk_row(struct elf_file *file, struct cfi_row *row);

/*
 * The beginnings of functions by the unwinding tables: sorted addresses; the caller frees them. 0 or -ENOMEM.
 */
int elf_frame_starts(const struct elf_file *file, uint64_t **ret_addrs, size_t *ret_cnt);

/* The separate debug file, or NULL; opened at the first call. */
Elf *elf_debug_file(struct elf_file *file);

/*
 * The compressed symbols embedded in a stripped file (.gnu_debugdata), or NULL. *ret_bytes, which the caller
 * frees, must outlive it.
 */
Elf *elf_minidebug_open(const struct elf_file *file, uint8_t **ret_bytes);

/* "Stdlib.List.map", or NULL where it is no OCaml name; the caller's to free. */
char *elf_ocaml_demangle(const char *name);

/* Opens file->dwarf, once; it stays NULL if there is no debug information. */
void elf_dwarf_open(struct elf_file *file);

/*
 * Inflates the compressed sections of `elf`, which is file->elf or file->debug. Those that cannot be inflated
 * stay as they are.
 */
void elf_inflate(struct elf_file *file, Elf *elf);

/* The lists of where variables are, which elf_inflate() leaves for later: before libdw is asked for them. */
void elf_inflate_locations(struct elf_file *file);

/* Frees what elf_inflate() made: nobody reads the sections any more. */
void elf_inflate_release(struct elf_file *file);

/* The directory in which the unit of `die` was compiled, or NULL. */
const char *elf_unit_dir(Dwarf_Die *die);

/* Closes what elf_file_source() opened. */
void elf_source_release(struct elf_file *file);

/* Demangled without parameters, or NULL where `name` is not mangled; the caller's to free. */
char *elf_demangle_bare(const char *name);

/*
 * Whether the file name `base` is that of the library `name`: "libc.so.6" is a whole name, "libc" stands for
 * libc.so and libc.so.N.
 */
bool elf_library_is_called(const char *base, const char *name);

/* 1 for a file that can be opened with elf_file_open(), else 0. */
int elf_library_is_usable(const char *path);

/* The path of a library in /etc/ld.so.cache, if the file is usable; else NULL. The caller frees it. */
char *elf_cache_find(const char *name);

/*
 * Append handlers from the unwinding tables, and from OCaml's note or code. They may be nested. 0 or -ENOMEM.
 */
int elf_lsda_handlers(const struct elf_file *file, struct elf_handler_list *list);
int elf_ocaml_handlers(const struct elf_file *file, struct elf_handler_list *list);

/* The unit of debug information that an address belongs to. */
bool elf_unit_at(struct elf_file *file, uint64_t addr, Dwarf_Off *ret_unit);

/* Frees what elf_file_inlines_at() made. */
void elf_inlines_release(struct elf_file *file);

/* Frees what elf_file_cfi_at() made. */
void elf_cfi_release(struct elf_file *file);
