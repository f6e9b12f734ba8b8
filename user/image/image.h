/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image of one process: its code and symbols by address, over time. An image is a list of versions. A new
 * version begins at an exec, or when a mapping replaces a different one. Within a version an address always
 * means the same code, so a decoder can use one version until the next begins.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/jit_symbols.h"
#include "model/inlines.h"
#include "model/landing.h"
#include "model/symbol.h"

/*
 * A run of code bytes in the target: the `size` bytes at `addr` are those of the file `path` from
 * `file_offset`.
 */
struct image_section {
	uint64_t addr, size, file_offset;
	const char *path;   /* file that holds the bytes; NULL: the bytes are unknown */
	const char *object; /* name of the mapping: path, "[vdso]", "//anon" */
};

struct image;
struct image_objects; /* cache of ELF files, shared by the images of all processes and threads */

int image_objects_new(struct image_objects **ret_objects);
void image_objects_free(struct image_objects *objects);

/* `objects` must outlive the image. */
int image_new(struct image **ret_image, struct image_objects *objects);
void image_free(struct image *image);

/*
 * An executable mapping appears at time_ns; times must not run back. A mapping equal to an existing one
 * changes nothing. One that overlaps a different one begins a new version, in which it replaces what it
 * overlaps (cutting or splitting it). `section` is copied. 0 or -ENOMEM.
 */
int image_map(struct image *image, uint64_t time_ns, const struct image_section *section);

/*
 * Replaces bytes of a mapping by a code copy (vDSO, JIT, patched page) for the whole current version:
 * `section` takes precedence over the mapping it overlaps. 0 or -ENOMEM.
 */
int image_overlay(struct image *image, const struct image_section *section);

/* The same from time_ns on: begins a new version unless one begins then already. */
int image_overlay_at(struct image *image, uint64_t time_ns, const struct image_section *section);

/*
 * Sets the names of code that no file describes: an address without a symbol gets its name from here, by the
 * time of the version. Takes over the contents of `symbols`, whose times are as the image's. Call it after
 * the mappings. 0 or -ENOMEM.
 */
int image_set_jit(struct image *image, struct jit_symbols *symbols);

/*
 * Whether image_symbol_at() has come to code that is in no file while image_set_jit() had nothing: that of a
 * JIT compiler that tells no names.
 */
bool image_lacks_names(const struct image *image);

/* The address space is empty from time_ns on: exec. */
int image_exec(struct image *image, uint64_t time_ns);

/* The version in force at time_ns: the last one that began at or before it, else 0. Versions count from 0. */
size_t image_version_at(const struct image *image, uint64_t time_ns);
size_t image_version_cnt(const struct image *image);
/* The time when `version` began. */
uint64_t image_version_start(const struct image *image, size_t version);

/* The sections of a version are disjoint. How many there are. */
size_t image_section_cnt(const struct image *image, size_t version);

/* The section of a version that covers addr, or NULL. Valid until the image changes. */
const struct image_section *image_section_at(const struct image *image, size_t version, uint64_t addr);

/* The first one that ends behind addr, or NULL. */
const struct image_section *image_section_from(const struct image *image, size_t version, uint64_t addr);

/* All sections of a version, in the order of their addresses. */
#define IMAGE_FOR_EACH_SECTION(section, image, version)                                                \
	for (const struct image_section *section = image_section_from((image), (version), 0); section; \
	     section = image_section_from((image), (version), section->addr + section->size))

/* The function of a JIT compiler's that is at the address; NULL: none is known. Thread-safe. */
const struct jit_function *image_jit_at(const struct image *image, size_t version, uint64_t ip);

/*
 * The function at `ip`. An address without a symbol gives one made up from object and offset
 * ("libc.so.6+0x28000"); an address outside every mapping gives "[unknown]". Within a version equal functions
 * give equal pointers. NULL: out of memory. Thread-safe. Source files and lines come from
 * image_symbol_source() only.
 */
const struct symbol *image_symbol_at(struct image *image, size_t version, uint64_t ip);

/*
 * The name of the variable of a mapped file, at whatever time it was mapped, that covers `addr`; the caller
 * frees it. NULL: none is known. Slow. Thread-safe.
 */
char *image_variable_at(struct image *image, uint64_t addr);

/*
 * Fills symbol->file and line from DWARF (of the object or its debug file), once. `symbol` is from
 * image_symbol_at(). Slow for the first symbol of an object. Thread-safe.
 */
void image_symbol_source(const struct symbol *symbol);

/* The same for all functions that image_symbol_at() was asked for. Thread-safe. */
void image_find_sources(const struct image *image);

/*
 * Whether an exception from the call at call_ip lands at `handler`; call_ip 0: from any call. Uses the
 * unwinding tables (C++, Rust) and OCaml's code. Thread-safe; slow for the first handler of an object.
 */
enum landing image_catches(struct image *image, size_t version, uint64_t call_ip, uint64_t handler);

/*
 * The inlined calls at ip; NULL: no debug information. They are the same for the code up to *ret_end.
 * Thread-safe; slow for the first address of a unit of debug information.
 */
const struct inline_chain *image_inlines_at(struct image *image, size_t version, uint64_t ip,
					    uint64_t *ret_end);
