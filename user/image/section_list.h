/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of one version of an image: sorted by address, without overlap, none empty. */
#pragma once

#include <stdbool.h>

#include "image/image.h"

struct place;

/* Parallel arrays, so that image_sections() can return the first. */
struct section_list {
	struct image_section *sections;
	struct place **places; /* the place of each section */
	size_t cnt;
};

void section_list_release(struct section_list *list);
int section_list_copy(struct section_list *ret_list, const struct section_list *from);

/* Inserts a section; sections that it overlaps are cut or split. 0, or -ENOMEM with the list unchanged. */
int section_list_put(struct section_list *list, const struct image_section *section, struct place *place);

/* The index of the section at addr; list->cnt: none. */
size_t section_list_find(const struct section_list *list, uint64_t addr);

/* Whether all of [addr, addr + size) shows this place. */
bool section_list_shows(const struct section_list *list, uint64_t addr, uint64_t size,
			const struct place *place);

/* Whether a part of [addr, addr + size) shows another place. */
bool section_list_shows_other(const struct section_list *list, uint64_t addr, uint64_t size,
			      const struct place *place);

bool section_list_is_valid(const struct section_list *list);
