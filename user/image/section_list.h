/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of one version of an image: sorted by address, without overlap, none empty. */
#pragma once

#include <stdbool.h>

#include "image/image.h"

struct place;

/* Parallel arrays, so that image_sections() can hand out the first. */
struct section_list {
	struct image_section *sections;
	struct place **places; /* whose code each section shows */
	size_t cnt;
};

void section_list_release(struct section_list *list);
int section_list_copy(struct section_list *ret_list, const struct section_list *from);

/* Puts a section in; what it overlaps is cut, or split in two. 0 or -ENOMEM with the list unchanged. */
int section_list_put(struct section_list *list, const struct image_section *section, struct place *place);

/* Index of the section at addr, or list->cnt where there is none. */
size_t section_list_find(const struct section_list *list, uint64_t addr);

/* Whether [addr, addr + size) shows this place everywhere. */
bool section_list_shows(const struct section_list *list, uint64_t addr, uint64_t size,
			const struct place *place);

/* Whether some of [addr, addr + size) shows another place. */
bool section_list_shows_other(const struct section_list *list, uint64_t addr, uint64_t size,
			      const struct place *place);

bool section_list_is_valid(const struct section_list *list);
