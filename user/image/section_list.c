/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inserting a section splits those that it overlaps:
 *
 *	before	|-----------a-----------|     |--b--|
 *	put	          |--n--|
 *	after	|----a----|--n--|---a---|     |--b--|
 */
#include "image/section_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

void section_list_release(struct section_list *list)
{
	free(list->sections);
	free(list->places);
	*list = (struct section_list){0};
}

static int list_init(struct section_list *ret_list, size_t cap)
{
	struct section_list list = {.sections = calloc(cap + 1, sizeof(*list.sections)),
				    .places = calloc(cap + 1, sizeof(struct place *))};

	if (!list.sections || !list.places) {
		section_list_release(&list);
		return -ENOMEM;
	}
	*ret_list = list;
	return 0;
}

int section_list_copy(struct section_list *ret_list, const struct section_list *from)
{
	int err = list_init(ret_list, from->cnt);

	if (err || !from->cnt)
		return err;
	memcpy(ret_list->sections, from->sections, from->cnt * sizeof(*from->sections));
	memcpy(ret_list->places, from->places, from->cnt * sizeof(*from->places));
	ret_list->cnt = from->cnt;
	return 0;
}

/* Appends the part of a section that lies in [from, to), if any. */
static void append_part(struct section_list *list, const struct image_section *section, struct place *place,
			uint64_t from, uint64_t to)
{
	struct image_section part = *section;
	uint64_t end = section->addr + section->size;

	if (part.addr < from) {
		part.file_offset += from - part.addr;
		part.addr = from;
	}
	if (end > to)
		end = to;
	if (part.addr >= end)
		return;
	part.size = end - part.addr;
	list->sections[list->cnt] = part;
	list->places[list->cnt++] = place;
}

int section_list_put(struct section_list *list, const struct image_section *section, struct place *place)
{
	uint64_t end = section->addr + section->size;
	struct section_list put;
	int err = list_init(&put, list->cnt + 2);

	if (err)
		return err;
	for (size_t i = 0; i < list->cnt; i++)
		append_part(&put, &list->sections[i], list->places[i], 0, section->addr);
	append_part(&put, section, place, 0, UINT64_MAX);
	for (size_t i = 0; i < list->cnt; i++)
		append_part(&put, &list->sections[i], list->places[i], end, UINT64_MAX);
	section_list_release(list);
	*list = put;
	return 0;
}

/* Index of the first section that ends behind addr. */
static size_t lower_bound(const struct section_list *list, uint64_t addr)
{
	return BISECT(list->cnt, i, list->sections[i].addr + list->sections[i].size <= addr);
}

size_t section_list_find(const struct section_list *list, uint64_t addr)
{
	size_t i = lower_bound(list, addr);

	return i < list->cnt && list->sections[i].addr <= addr ? i : list->cnt;
}

bool section_list_shows(const struct section_list *list, uint64_t addr, uint64_t size,
			const struct place *place)
{
	uint64_t covered = addr;

	for (size_t i = lower_bound(list, addr); i < list->cnt && covered < addr + size; i++) {
		if (list->sections[i].addr > covered || list->places[i] != place)
			return false;
		covered = list->sections[i].addr + list->sections[i].size;
	}
	return covered >= addr + size;
}

bool section_list_shows_other(const struct section_list *list, uint64_t addr, uint64_t size,
			      const struct place *place)
{
	for (size_t i = lower_bound(list, addr); i < list->cnt && list->sections[i].addr < addr + size; i++)
		if (list->places[i] != place)
			return true;
	return false;
}

bool section_list_is_valid(const struct section_list *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		const struct image_section *section = &list->sections[i];

		if (!section->size || section->addr + section->size < section->addr || !section->object ||
		    !list->places[i])
			return false;
		if (i && section[-1].addr + section[-1].size > section->addr)
			return false;
	}
	return true;
}
