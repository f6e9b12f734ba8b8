/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A place: an object at the address where it is mapped. Two mappings have the same code if their places are
 * the same, whichever part each maps. A place gives symbols their addresses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "model/symbol.h"

struct cfi_row;
struct image_objects;
struct place;

struct place_list {
	struct place **items;
	size_t cnt, cap;
};

void place_list_release(struct place_list *list);

/*
 * The place of the object `label`, mapped from the file `path` (NULL: none) such that file offset 0 is at
 * `base`. Extends the place to cover [addr, addr + size). NULL: out of memory.
 */
struct place *place_get(struct place_list *list, const char *label, const char *path, uint64_t base,
			uint64_t addr, uint64_t size);

/* The place's label; lives as long as the place. */
const char *place_label(const struct place *place);

/*
 * Takes symbols from the file `path`, which holds what the target has in memory there. No effect after the
 * first symbol.
 */
int place_set_symbols(struct place *place, const char *path);

/*
 * The function at ip; equal functions give equal pointers. An ip outside the object gives one symbol for the
 * whole place. NULL: out of memory. Thread-safe.
 */
const struct symbol *place_symbol_at(struct place *place, struct image_objects *objects, uint64_t ip);

/* image_variable_at() in the place. */
char *place_variable_at(struct place *place, struct image_objects *objects, uint64_t addr);

/* Whether place_symbol_at() was asked for an ip outside every function. */
bool place_has_unnamed(const struct place *place);

/* image_inlines_at() in the place. */
const struct inline_chain *place_inlines_at(struct place *place, struct image_objects *objects, uint64_t ip,
					    uint64_t *ret_end);

/* image_catches() for a handler in the place. */
enum landing place_catches(struct place *place, struct image_objects *objects, uint64_t call_ip,
			   uint64_t handler);

/* image_cfi_at() in the place. */
bool place_cfi_at(struct place *place, struct image_objects *objects, uint64_t ip, struct cfi_row *ret_row);

/* Finds the source line of a place's symbol, once. Thread-safe. */
void place_find_source(const struct symbol *symbol);

/* The same for all functions that place_symbol_at() was asked for. Thread-safe. */
void place_find_sources(struct place *place);
