/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Versions are lists of sections; a new one starts as a copy, so that old ones stay as they were. A section
 * has its bytes from a file, and its symbols from a place (place.h), which differ for a copied page:
 *
 *	mapping of libx.so	|----------------------------|		bytes and symbols: libx.so
 *	patched page			   |----|			bytes: copy; symbols: libx.so
 *
 * The vDSO has no file: its copy in memory is a whole ELF image, and gives the symbols, too.
 */
#include "image/image.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/containers/hash_index.h"
#include "elf/cfi.h"
#include "image/place.h"
#include "image/section_list.h"

struct version {
	uint64_t start_ns;
	struct section_list list;
};

struct image {
	struct image_objects *objects;
	struct version *versions;
	size_t cnt, cap;
	struct place_list places;
	char **paths; /* of copies: sections point to them, as to the places' names */
	size_t path_cnt, path_cap;
	struct hash_index by_path; /* of paths */
	struct jit_symbols jit;
};

static const struct symbol nowhere = {
	.name = "[unknown]", .object = "[unknown]", .end = UINT64_MAX, .is_divided = true};

int image_new(struct image **ret_image, struct image_objects *objects)
{
	struct image *image = calloc(1, sizeof(*image));
	const struct version first = {0};

	if (!image || ARRAY_PUSH(image->versions, image->cnt, image->cap, first)) {
		free(image);
		return -ENOMEM;
	}
	image->objects = objects;
	*ret_image = image;
	return 0;
}

void image_free(struct image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->cnt; i++)
		section_list_release(&image->versions[i].list);
	for (size_t i = 0; i < image->path_cnt; i++)
		free(image->paths[i]);
	place_list_release(&image->places);
	jit_symbols_release(&image->jit);
	free(image->paths);
	hash_index_release(&image->by_path);
	free(image->versions);
	free(image);
}

/* ---- mappings ---- */

static struct section_list *current(struct image *image)
{
	return &image->versions[image->cnt - 1].list;
}

static int new_version(struct image *image, uint64_t time_ns, bool empty)
{
	struct version version = {.start_ns = time_ns};
	int err = empty ? 0 : section_list_copy(&version.list, current(image));

	if (!err && ARRAY_PUSH(image->versions, image->cnt, image->cap, version)) {
		section_list_release(&version.list);
		err = -ENOMEM;
	}
	return err;
}

/* The same path, owned by the image; NULL where path is NULL, or out of memory. */
static const char *own_path(struct image *image, const char *path)
{
	uint64_t hash = path ? hash_text(0, path) : 0;
	char *copy;

	for (size_t at = 0, i; path && (i = hash_index_next(&image->by_path, hash, &at)) != HASH_INDEX_END;)
		if (!strcmp(image->paths[i], path))
			return image->paths[i];
	copy = path ? strdup(path) : NULL;
	if (ARRAY_TAKE(image->paths, image->path_cnt, image->path_cap, copy))
		return NULL;
	return hash_index_add(&image->by_path, hash, image->path_cnt - 1) ? NULL : copy;
}

/* A section of ours at the place. One that reaches beyond the end of the address space is cut. */
static int own_section(struct image *image, const struct image_section *from,
		       struct image_section *ret_section)
{
	struct image_section section = *from;

	section.path = own_path(image, from->path);
	section.object = own_path(image, from->object);
	if (!section.object || (from->path && !section.path))
		return -ENOMEM;
	if (section.size > UINT64_MAX - section.addr)
		section.size = UINT64_MAX - section.addr;
	*ret_section = section;
	return 0;
}

/*
 * Without a file, offsets mean nothing (the kernel reports anonymous memory's address): they count from the
 * mapping's beginning.
 */
static struct place *mapping_place(struct image *image, const struct image_section *section)
{
	uint64_t base = section->addr - (section->path ? section->file_offset : 0);

	return place_get(&image->places, section->object, section->path, base, section->addr, section->size);
}

int image_map(struct image *image, uint64_t time_ns, const struct image_section *from)
{
	struct image_section section;
	struct place *place;
	int err = own_section(image, from, &section);

	if (err || !section.size)
		return err;
	place = mapping_place(image, &section);
	if (!place)
		return -ENOMEM;
	if (section_list_shows(current(image), section.addr, section.size, place))
		return 0;
	if (section_list_shows_other(current(image), section.addr, section.size, place))
		err = new_version(image, time_ns, false);
	return err ? err : section_list_put(current(image), &section, place);
}

/* A copy shows the place of the mapping it covers; one that covers none is a place of its own. */
static struct place *overlay_place(struct image *image, const struct image_section *section)
{
	const struct section_item *below = section_list_find(current(image), section->addr);
	struct image_section alone = *section;

	if (below)
		return below->place;
	alone.path = NULL;
	return mapping_place(image, &alone);
}

int image_overlay(struct image *image, const struct image_section *from)
{
	struct image_section section;
	struct place *place;
	int err = own_section(image, from, &section);

	if (err || !section.size)
		return err;
	place = overlay_place(image, &section);
	if (!place)
		return -ENOMEM;
	if (section.path && !strcmp(place_label(place), "[vdso]"))
		err = place_set_symbols(place, section.path);
	return err ? err : section_list_put(current(image), &section, place);
}

int image_overlay_at(struct image *image, uint64_t time_ns, const struct image_section *section)
{
	int err =
		image->versions[image->cnt - 1].start_ns == time_ns ? 0 : new_version(image, time_ns, false);

	return err ? err : image_overlay(image, section);
}

int image_set_jit(struct image *image, struct jit_symbols *symbols)
{
	jit_symbols_release(&image->jit);
	image->jit = *symbols;
	*symbols = (struct jit_symbols){0};
	return jit_symbols_sort(&image->jit);
}

int image_exec(struct image *image, uint64_t time_ns)
{
	return current(image)->cnt ? new_version(image, time_ns, true) : 0;
}

/* ---- versions ---- */

size_t image_version_at(const struct image *image, uint64_t time_ns)
{
	return BISECT_LAST(image->cnt, i, image->versions[i].start_ns <= time_ns);
}

size_t image_version_cnt(const struct image *image)
{
	return image->cnt;
}

uint64_t image_version_start(const struct image *image, size_t version)
{
	return image->versions[version].start_ns;
}

/* What a version has at the address, or NULL. */
static const struct section_item *item_at(const struct image *image, size_t version, uint64_t addr)
{
	return section_list_find(&image->versions[version].list, addr);
}

const struct image_section *image_section_at(const struct image *image, size_t version, uint64_t addr)
{
	const struct section_item *item = item_at(image, version, addr);

	return item ? &item->section : NULL;
}

const struct image_section *image_section_from(const struct image *image, size_t version, uint64_t addr)
{
	const struct section_item *item = section_list_from(&image->versions[version].list, addr);

	return item ? &item->section : NULL;
}

size_t image_section_cnt(const struct image *image, size_t version)
{
	return image->versions[version].list.cnt;
}

/* ---- looking up ---- */

const struct jit_function *image_jit_at(const struct image *image, size_t version, uint64_t ip)
{
	uint64_t until = version + 1 < image->cnt ? image->versions[version + 1].start_ns : UINT64_MAX;

	return jit_symbols_find(&image->jit, ip, until);
}

const struct symbol *image_symbol_at(struct image *image, size_t version, uint64_t ip)
{
	const struct section_item *item = item_at(image, version, ip);
	const struct symbol *symbol = item ? place_symbol_at(item->place, image->objects, ip) : &nowhere;
	const struct jit_function *jit = symbol && !symbol->named ? image_jit_at(image, version, ip) : NULL;

	return jit ? &jit->symbol : symbol;
}

char *image_variable_at(struct image *image, uint64_t addr)
{
	char *name = NULL;

	for (size_t i = image->places.cnt; i-- > 0 && !name;)
		name = place_variable_at(image->places.items[i], image->objects, addr);
	return name;
}

bool image_lacks_names(const struct image *image)
{
	for (size_t i = 0; i < image->places.cnt && !image->jit.cnt; i++)
		if (!strcmp(place_label(image->places.items[i]), "//anon") &&
		    place_has_unnamed(image->places.items[i]))
			return true;
	return false;
}

enum landing image_catches(struct image *image, size_t version, uint64_t call_ip, uint64_t handler)
{
	const struct section_item *item = item_at(image, version, handler);

	return item ? place_catches(item->place, image->objects, call_ip, handler) : LANDING_UNKNOWN;
}

const struct inline_chain *image_inlines_at(struct image *image, size_t version, uint64_t ip,
					    uint64_t *ret_end)
{
	const struct section_item *item = item_at(image, version, ip);

	return item ? place_inlines_at(item->place, image->objects, ip, ret_end) : NULL;
}

bool image_cfi_at(struct image *image, size_t version, uint64_t ip, struct cfi_row *ret_row)
{
	const struct section_item *item = item_at(image, version, ip);

	return item && place_cfi_at(item->place, image->objects, ip, ret_row);
}

void image_symbol_source(const struct symbol *symbol)
{
	if (symbol->has_place)
		place_find_source(symbol);
}

void image_find_sources(const struct image *image)
{
	for (size_t i = 0; i < image->places.cnt; i++)
		place_find_sources(image->places.items[i]);
}
