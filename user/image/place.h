/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A place: an object where it is mapped. It is the identity of code: two mappings are the same code if their
 * places are the same, whatever piece of it they show. It gives out the symbols, with the addresses they have
 * there.
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
 * The place of the object called `label`, mapped from the file `path` (NULL: none), whose byte at file offset
 * 0 stands, or would stand, at `base`. It is made to cover [addr, addr + size) where it does not yet. NULL:
 * out of memory.
 */
struct place *place_get(struct place_list *list, const char *label, const char *path, uint64_t base,
			uint64_t addr, uint64_t size);

/* What the place is called; lives as long as the place. */
const char *place_label(const struct place *place);

/*
 * Symbols are to come from this file, which is what the target has in memory at the place. No effect once
 * symbols were given out.
 */
int place_set_symbols(struct place *place, const char *path);

/*
 * The function at ip: equal pointers for equal functions. An ip that belongs to no part of the object gives
 * one symbol for the whole place. NULL: out of memory. Thread-safe.
 */
const struct symbol *place_symbol_at(struct place *place, struct image_objects *objects, uint64_t ip);

/* image_inlines_at() in the place. */
const struct inline_chain *place_inlines_at(struct place *place, struct image_objects *objects, uint64_t ip,
					    uint64_t *ret_end);

/* image_catches() for a handler in the place. */
enum landing place_catches(struct place *place, struct image_objects *objects, uint64_t call_ip,
			   uint64_t handler);

/* image_cfi_at() in the place. */
bool place_cfi_at(struct place *place, struct image_objects *objects, uint64_t ip, struct cfi_row *ret_row);

/* Looks for the source line of a symbol that a place gave out, once. Thread-safe. */
void place_find_source(const struct symbol *symbol);
