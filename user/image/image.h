/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image of one process: which code and symbols stood at which address, over time. It is a list of
 * versions; a new one begins at an exec, or when a mapping takes the place of a different one. Within a
 * version an address always means the same code, so a decoder can be handed one version and keep it until the
 * next begins.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "elf/inlines.h"
#include "elf/landing.h"
#include "image/jit_symbols.h"
#include "model/symbol.h"

/*
 * A run of code bytes in the target: `size` bytes at `addr` are those of the file `path` from `file_offset`
 * on.
 */
struct image_section {
	uint64_t addr, size, file_offset;
	const char *path;   /* file that holds the bytes; NULL where no file does: nothing is known here */
	const char *object; /* what the mapping is called: path, "[vdso]", "//anon" */
};

struct image;
struct image_objects; /* ELF files already read, shared by the images of all processes and threads */

int image_objects_new(struct image_objects **ret_objects);
void image_objects_free(struct image_objects *objects);

/* `objects` must outlive the image. */
int image_new(struct image **ret_image, struct image_objects *objects);
void image_free(struct image *image);

/*
 * An executable mapping appears at time_ns (times must not run back). Equal to one already there: nothing
 * happens. Overlapping a different one: a new version begins, where it replaces what it overlaps (which is
 * cut, or split in two). `section` is copied. 0 or -ENOMEM.
 */
int image_map(struct image *image, uint64_t time_ns, const struct image_section *section);

/*
 * Bytes that replace those of a mapping from its beginning on, in the version current now (a code copy: vDSO,
 * JIT, patched page): `section` wins over the mapping it overlaps, without a new version.
 */
int image_overlay(struct image *image, const struct image_section *section);

/* The same from time_ns on: a new version begins, if none begins then already. */
int image_overlay_at(struct image *image, uint64_t time_ns, const struct image_section *section);

/*
 * Names of code that no file describes: what covers an address without a symbol gets them, in each version
 * those of its time. Taken over (and left empty), with times like the image's. To be called after the
 * mappings. 0 or -ENOMEM.
 */
int image_set_jit(struct image *image, struct jit_symbols *symbols);

/* The address space is empty from time_ns on: exec. */
int image_exec(struct image *image, uint64_t time_ns);

/*
 * Number of the version in force at time_ns: the last one that began at or before it, else 0. Versions count
 * from 0.
 */
size_t image_version_at(const struct image *image, uint64_t time_ns);
size_t image_version_cnt(const struct image *image);
/* When version `version` began. */
uint64_t image_version_start(const struct image *image, size_t version);

/* The sections of a version, sorted by address, not overlapping. Valid while the image is not changed. */
const struct image_section *image_sections(const struct image *image, size_t version, size_t *ret_cnt);

/* The section of a version that covers addr, or NULL. Valid while the image is not changed. */
const struct image_section *image_section_at(const struct image *image, size_t version, uint64_t addr);

/*
 * The function at `ip`. Never NULL unless out of memory: an address without a symbol gives a symbol made up
 * from object and offset ("libc.so.6+0x28000"), one outside every mapping "[unknown]". Equal functions give
 * equal pointers within a version. Thread-safe. Source files and lines are looked up only by
 * image_symbol_source().
 */
const struct symbol *image_symbol_at(struct image *image, size_t version, uint64_t ip);

/*
 * Fills symbol->file and line from DWARF (of the object or its separate debug file), once; slow the first
 * time per object. Symbols must come from image_symbol_at(). Thread-safe.
 */
void image_symbol_source(const struct symbol *symbol);

/*
 * Copies up to `size` bytes of code at addr from the section's file to `bytes`. Returns the number of bytes
 * known, 0 where none.
 */
size_t image_read(struct image *image, size_t version, uint64_t addr, void *bytes, size_t size);

/*
 * Whether an exception raised by the call at call_ip comes down at `handler`; call_ip 0: from any call. By
 * the tables for unwinding (C++, Rust) and OCaml's code. Thread-safe; slow the first time per object.
 */
enum landing image_catches(struct image *image, size_t version, uint64_t call_ip, uint64_t handler);

/*
 * The inlined calls at ip, or NULL where no debug information tells. The code up to *ret_end has the same.
 * Thread-safe; slow the first time per unit of debug information.
 */
const struct inline_chain *image_inlines_at(struct image *image, size_t version, uint64_t ip,
					    uint64_t *ret_end);
