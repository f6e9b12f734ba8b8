/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inserting a section splits those that it overlaps, and makes the chunks anew in which they are:
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
#include "base/cleanup.h"

enum { CHUNK_MAX = 64 };

/* Sections that follow each other, at least one. It does not change. */
struct section_chunk {
	size_t users; /* lists */
	size_t cnt;
	struct section_item items[];
};

static uint64_t end_of(const struct section_item *item)
{
	return item->section.addr + item->section.size;
}

static uint64_t chunk_end(const struct section_chunk *chunk)
{
	return end_of(&chunk->items[chunk->cnt - 1]);
}

static void chunks_release(struct section_chunk **chunks, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (!--chunks[i]->users)
			free(chunks[i]);
}

void section_list_release(struct section_list *list)
{
	chunks_release(list->chunks, list->chunk_cnt);
	free(list->chunks);
	*list = (struct section_list){0};
}

int section_list_copy(struct section_list *ret_list, const struct section_list *from)
{
	struct section_list list = *from;

	list.chunks = calloc(from->chunk_cnt + 1, sizeof(struct section_chunk *));
	if (!list.chunks)
		return -ENOMEM;
	for (size_t i = 0; i < list.chunk_cnt; i++) {
		list.chunks[i] = from->chunks[i];
		list.chunks[i]->users++;
	}
	*ret_list = list;
	return 0;
}

/* Appends the part of an item that lies in [from, to), if any. */
static void append_part(struct section_item *items, size_t *cnt, struct section_item part, uint64_t from,
			uint64_t to)
{
	struct image_section *section = &part.section;
	uint64_t end = end_of(&part);

	if (section->addr < from) {
		section->file_offset += from - section->addr;
		section->addr = from;
	}
	if (end > to)
		end = to;
	if (section->addr >= end)
		return;
	section->size = end - section->addr;
	items[(*cnt)++] = part;
}

/* Chunks of equal length of all the items. 0, or -ENOMEM with none. */
static int make_chunks(struct section_chunk **chunks, size_t chunk_cnt, const struct section_item *items,
		       size_t cnt)
{
	for (size_t i = 0; i < chunk_cnt; i++) {
		size_t from = cnt * i / chunk_cnt, part = cnt * (i + 1) / chunk_cnt - from;

		chunks[i] = malloc(sizeof(**chunks) + part * sizeof(*items));
		if (!chunks[i]) {
			chunks_release(chunks, i);
			return -ENOMEM;
		}
		chunks[i]->users = 1;
		chunks[i]->cnt = part;
		memcpy(chunks[i]->items, items + from, part * sizeof(*items));
	}
	return 0;
}

/* The items take the place of the chunks [first, last). */
static int replace(struct section_list *list, size_t first, size_t last, const struct section_item *items,
		   size_t cnt)
{
	size_t fresh = (cnt + CHUNK_MAX - 1) / CHUNK_MAX, behind = list->chunk_cnt - last;
	struct section_chunk **chunks = calloc(first + fresh + behind + 1, sizeof(*chunks));

	if (!chunks || make_chunks(chunks + first, fresh, items, cnt)) {
		free(chunks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < first; i++)
		chunks[i] = list->chunks[i];
	for (size_t i = 0; i < behind; i++)
		chunks[first + fresh + i] = list->chunks[last + i];
	for (size_t i = first; i < last; i++)
		list->cnt -= list->chunks[i]->cnt;
	list->cnt += cnt;
	chunks_release(list->chunks + first, last - first);
	free(list->chunks);
	list->chunks = chunks;
	list->chunk_cnt = first + fresh + behind;
	return 0;
}

/* The first chunk that ends behind addr. */
static size_t chunk_from(const struct section_list *list, uint64_t addr)
{
	return BISECT(list->chunk_cnt, i, chunk_end(list->chunks[i]) <= addr);
}

int section_list_put(struct section_list *list, const struct image_section *section, struct place *place)
{
	const struct section_item item = {*section, place};
	size_t first = chunk_from(list, section->addr), last = first, room = 3, cnt = 0;
	CLEANUP(freep) struct section_item *items = NULL;

	/* A neighbour takes what stands alone. */
	if (first && first == list->chunk_cnt)
		first--;
	while (last < list->chunk_cnt &&
	       (last == first || list->chunks[last]->items[0].section.addr < end_of(&item)))
		last++;
	for (size_t i = first; i < last; i++)
		room += list->chunks[i]->cnt;
	items = calloc(room, sizeof(*items));
	if (!items)
		return -ENOMEM;
	for (size_t i = first; i < last; i++)
		for (size_t j = 0; j < list->chunks[i]->cnt; j++)
			append_part(items, &cnt, list->chunks[i]->items[j], 0, section->addr);
	append_part(items, &cnt, item, 0, UINT64_MAX);
	for (size_t i = first; i < last; i++)
		for (size_t j = 0; j < list->chunks[i]->cnt; j++)
			append_part(items, &cnt, list->chunks[i]->items[j], end_of(&item), UINT64_MAX);
	return replace(list, first, last, items, cnt);
}

const struct section_item *section_list_from(const struct section_list *list, uint64_t addr)
{
	size_t i = chunk_from(list, addr);
	const struct section_chunk *chunk = i < list->chunk_cnt ? list->chunks[i] : NULL;

	return chunk ? &chunk->items[BISECT(chunk->cnt, j, end_of(&chunk->items[j]) <= addr)] : NULL;
}

const struct section_item *section_list_find(const struct section_list *list, uint64_t addr)
{
	const struct section_item *item = section_list_from(list, addr);

	return item && item->section.addr <= addr ? item : NULL;
}

bool section_list_shows(const struct section_list *list, uint64_t addr, uint64_t size,
			const struct place *place)
{
	uint64_t covered = addr;

	while (covered < addr + size) {
		const struct section_item *item = section_list_find(list, covered);

		if (!item || item->place != place)
			return false;
		covered = end_of(item);
	}
	return true;
}

bool section_list_shows_other(const struct section_list *list, uint64_t addr, uint64_t size,
			      const struct place *place)
{
	const struct section_item *item = section_list_from(list, addr);

	for (; item && item->section.addr < addr + size; item = section_list_from(list, end_of(item)))
		if (item->place != place)
			return true;
	return false;
}

bool section_list_is_valid(const struct section_list *list)
{
	uint64_t end = 0;
	size_t cnt = 0;

	for (size_t i = 0; i < list->chunk_cnt; i++) {
		const struct section_chunk *chunk = list->chunks[i];

		if (!chunk->cnt || chunk->cnt > CHUNK_MAX)
			return false;
		for (size_t j = 0; j < chunk->cnt; j++) {
			const struct section_item *item = &chunk->items[j];

			if (!item->section.size || end_of(item) < item->section.addr ||
			    !item->section.object || !item->place || item->section.addr < end)
				return false;
			end = end_of(item);
			cnt++;
		}
	}
	return cnt == list->cnt;
}
