/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sections of one version of an image: sorted by address, without overlap, none empty. A compiler in the
 * process makes thousands of versions, which differ by a page each: lists share the chunks in which they are
 * the same.
 */
#pragma once

#include <stdbool.h>

#include "image/image.h"

struct place;
struct section_chunk;

struct section_item {
	struct image_section section;
	struct place *place;
};

/* All 0: empty. */
struct section_list {
	struct section_chunk **chunks;
	size_t chunk_cnt;
	size_t cnt; /* sections */
};

void section_list_release(struct section_list *list);
/* Not thread-safe, as all that changes lists: both count the chunks' users. 0 or -ENOMEM. */
int section_list_copy(struct section_list *ret_list, const struct section_list *from);

/* Inserts a section; sections that it overlaps are cut or split. 0, or -ENOMEM with the list unchanged. */
int section_list_put(struct section_list *list, const struct image_section *section, struct place *place);

/* The section at addr, or NULL. Valid until the list changes. */
const struct section_item *section_list_find(const struct section_list *list, uint64_t addr);

/* The first section that ends behind addr, or NULL. Valid until the list changes. */
const struct section_item *section_list_from(const struct section_list *list, uint64_t addr);

/* Whether all of [addr, addr + size) shows this place. */
bool section_list_shows(const struct section_list *list, uint64_t addr, uint64_t size,
			const struct place *place);

/* Whether a part of [addr, addr + size) shows another place. */
bool section_list_shows_other(const struct section_list *list, uint64_t addr, uint64_t size,
			      const struct place *place);

bool section_list_is_valid(const struct section_list *list);
