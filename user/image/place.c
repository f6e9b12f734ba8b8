/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object's ranges (elf_range.h) never change. So a place has one slot for each range; the first look-up
 * makes the symbol. A look-up is a binary search and a load without a lock, because all threads do it
 * millions of times. The last slot is for addresses outside every range, and for objects without ranges: JIT
 * code and missing files.
 *
 *	ranges	|  main  |unnamed|   f   | g |   f   |
 *	slots	|   0    |   1   |   2   | 3 |   -   | whole |	(f's second range: slot 2)
 */
#include "image/place.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/cfi.h"
#include "elf/elf_handlers.h"
#include "elf/elf_range.h"
#include "image/object.h"

/* A symbol, and what it needs to find its source. */
struct place_symbol {
	struct symbol public; /* first: place_find_source() is given a pointer to it */
	struct place *place;
	char *made_name; /* demangled or made up; else the name is the object's */
};

struct place {
	char *label, *path, *symbols;
	uint64_t base, start, end;
	pthread_mutex_t lock;  /* guards what is made on demand */
	atomic_bool is_open;   /* the fields below are filled */
	struct object *object; /* NULL: no symbols */
	bool has_bias;
	uint64_t bias; /* address in the target - virtual address in the object */
	const struct elf_range *ranges;
	size_t range_cnt;
	uint32_t *steps; /* the first range that ends behind each 2^STEP_SHIFT bytes; NULL: too many */
	size_t step_cnt;
	struct place_symbol *_Atomic *slots; /* range_cnt + 1 */
};

enum { STEP_SHIFT = 8, STEPS_MAX = 1 << 22 };

static void place_free(struct place *place)
{
	for (size_t i = 0; place->slots && i <= place->range_cnt; i++) {
		struct place_symbol *symbol = atomic_load(&place->slots[i]);

		if (symbol)
			free(symbol->made_name);
		free(symbol);
	}
	free(place->slots);
	free(place->steps);
	pthread_mutex_destroy(&place->lock);
	free(place->symbols);
	free(place->path);
	free(place->label);
	free(place);
}

void place_list_release(struct place_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		place_free(list->items[i]);
	free(list->items);
}

static struct place *place_new(const char *label, const char *path, uint64_t base)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return NULL;
	pthread_mutex_init(&place->lock, NULL);
	place->base = base;
	place->start = UINT64_MAX;
	place->label = strdup(label);
	place->path = path ? strdup(path) : NULL;
	place->symbols = path ? strdup(path) : NULL;
	if (!place->label || (path && (!place->path || !place->symbols))) {
		place_free(place);
		return NULL;
	}
	return place;
}

static bool is_called(const struct place *place, const char *label, const char *path)
{
	return !strcmp(place->label, label) && !place->path == !path && (!path || !strcmp(place->path, path));
}

static struct place *find_or_add(struct place_list *list, const char *label, const char *path, uint64_t base)
{
	struct place *place;

	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i]->base == base && is_called(list->items[i], label, path))
			return list->items[i];
	place = place_new(label, path, base);
	if (place && ARRAY_PUSH(list->items, list->cnt, list->cap, place)) {
		place_free(place);
		return NULL;
	}
	return place;
}

struct place *place_get(struct place_list *list, const char *label, const char *path, uint64_t base,
			uint64_t addr, uint64_t size)
{
	struct place *place = find_or_add(list, label, path, base);

	if (!place)
		return NULL;
	if (addr < place->start)
		place->start = addr;
	if (addr + size > place->end)
		place->end = addr + size;
	return place;
}

const char *place_label(const struct place *place)
{
	return place->label;
}

int place_set_symbols(struct place *place, const char *path)
{
	char *copy;

	if (atomic_load(&place->is_open) || place->object)
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(place->symbols);
	place->symbols = copy;
	return 0;
}

/* ---- opening ---- */

static int find_object_locked(struct place *place, struct image_objects *objects)
{
	struct elf_file *elf;
	uint64_t addr;

	if (!place->symbols || place->object)
		return 0;
	place->object = object_get(objects, place->symbols);
	if (!place->object)
		return -ENOMEM;
	elf = object_lock(place->object);
	if (elf && !elf_file_addr(elf, place->start - place->base, &addr)) {
		place->bias = place->start - addr;
		place->has_bias = true;
	}
	if (elf)
		object_unlock(place->object);
	return 0;
}

static void read_ranges(struct place *place)
{
	struct elf_file *elf = place->has_bias ? object_lock(place->object) : NULL;

	if (!elf)
		return;
	place->ranges = elf_file_ranges(elf, &place->range_cnt);
	object_unlock(place->object);
}

/* So that a look-up is in few lines of the processor's cache. Where it fails, look-ups take longer. */
static void make_steps(struct place *place)
{
	const struct elf_range *ranges = place->ranges;
	uint64_t first = place->range_cnt ? ranges[0].start : 0;
	uint64_t cnt = place->range_cnt ? ((ranges[place->range_cnt - 1].end - first) >> STEP_SHIFT) + 2 : 0;
	size_t at = 0;

	if (!cnt || cnt > STEPS_MAX || place->range_cnt > UINT32_MAX)
		return;
	place->steps = malloc(cnt * sizeof(*place->steps));
	for (size_t i = 0; place->steps && i < cnt; i++) {
		while (at < place->range_cnt && ranges[at].end <= first + ((uint64_t)i << STEP_SHIFT))
			at++;
		place->steps[i] = (uint32_t)at;
	}
	place->step_cnt = place->steps ? cnt : 0;
}

/* As elf_range_find(). */
static const struct elf_range *find_range(const struct place *place, uint64_t addr)
{
	size_t step = place->step_cnt ? (addr - place->ranges[0].start) >> STEP_SHIFT : 0, low, cnt;

	if (step + 1 >= place->step_cnt)
		return elf_range_find(place->ranges, place->range_cnt, addr);
	low = place->steps[step];
	cnt = place->steps[step + 1] - low + 1;
	if (cnt > place->range_cnt - low)
		cnt = place->range_cnt - low;
	return elf_range_find(place->ranges + low, cnt, addr);
}

static int open_locked(struct place *place, struct image_objects *objects)
{
	int err;

	if (atomic_load(&place->is_open))
		return 0;
	err = find_object_locked(place, objects);
	if (err)
		return err;
	read_ranges(place);
	place->slots = calloc(place->range_cnt + 1, sizeof(*place->slots));
	if (!place->slots)
		return -ENOMEM;
	make_steps(place);
	atomic_store(&place->is_open, true);
	return 0;
}

static int place_open(struct place *place, struct image_objects *objects)
{
	int err;

	if (atomic_load_explicit(&place->is_open, memory_order_acquire))
		return 0;
	pthread_mutex_lock(&place->lock);
	err = open_locked(place, objects);
	pthread_mutex_unlock(&place->lock);
	return err;
}

/* As object_lock(), of the place's object. Its symbols, which may be many, are not needed for that. */
static struct elf_file *place_lock(struct place *place, struct image_objects *objects)
{
	int err = 0;

	if (!atomic_load_explicit(&place->is_open, memory_order_acquire)) {
		pthread_mutex_lock(&place->lock);
		err = find_object_locked(place, objects);
		pthread_mutex_unlock(&place->lock);
	}
	return err || !place->object ? NULL : object_lock(place->object);
}

/* ---- symbols ---- */

/* Files are called by the last part of their path; "//anon" is a whole name. */
static const char *short_label(const char *label)
{
	const char *slash = strrchr(label, '/');

	return label[0] == '/' && label[1] != '/' && slash[1] ? slash + 1 : label;
}

static int name_by_offset(struct place_symbol *symbol)
{
	const struct place *place = symbol->place;

	if (asprintf(&symbol->made_name, "%s+0x%" PRIx64, short_label(place->label),
		     symbol->public.start - place->base) < 0) {
		symbol->made_name = NULL;
		return -ENOMEM;
	}
	symbol->public.name = symbol->made_name;
	return 0;
}

/* "f(int)@plt" of "_Z1fi@plt". NULL: it is not mangled. */
static char *demangle_plt(const char *name)
{
	CLEANUP(freep) char *bare = strndup(name, strlen(name) - strlen("@plt"));
	CLEANUP(freep) char *demangled = bare ? elf_demangle(bare) : NULL;
	char *whole;

	return demangled && asprintf(&whole, "%s@plt", demangled) > 0 ? whole : NULL;
}

/* Names that need no demangling are the object's, which outlives the image. */
static void name_by_symbol(struct place_symbol *symbol, const struct elf_symbol *from)
{
	symbol->made_name = from->is_plt ? demangle_plt(from->name) : elf_demangle(from->name);
	symbol->public.name = symbol->made_name ? symbol->made_name : from->name;
	symbol->public.named = symbol->public.has_place = true;
	symbol->public.role = (uint8_t)symbol_role(from->name);
	symbol->public.is_part = symbol_is_part(from->name);
}

/* The whole extent of a range's symbol, which may have several ranges. */
static void find_extent(const struct place *place, size_t index, struct symbol *symbol)
{
	const struct elf_range *range = &place->ranges[index];

	symbol->start = range->start + place->bias;
	symbol->end = range->end + place->bias;
	if (range->symbol && range->symbol->size)
		symbol->end = range->symbol->addr + range->symbol->size + place->bias;
	symbol->is_divided = symbol->end > range->end + place->bias;
}

/* Code without symbols, of which the unwinding tables tell no function, or one that is only a part of it. */
static bool may_be_many(struct place *place, const struct elf_range *range)
{
	enum { PADDING = 64 };
	struct elf_file *elf = object_lock(place->object);
	uint64_t start, end;
	bool is_one;

	if (!elf)
		return true;
	is_one = !elf_frame_extent(elf, range->start, &start, &end) && start == range->start &&
		 (end >= range->end || range->end - end <= PADDING);
	object_unlock(place->object);
	return !is_one;
}

static struct place_symbol *make_symbol(struct place *place, size_t index)
{
	const struct elf_symbol *from = index < place->range_cnt ? place->ranges[index].symbol : NULL;
	struct place_symbol *symbol = calloc(1, sizeof(*symbol));

	if (!symbol)
		return NULL;
	symbol->place = place;
	symbol->public.object = place->label;
	symbol->public.start = place->start;
	symbol->public.end = place->end;
	symbol->public.is_region =
		index >= place->range_cnt || (!from && may_be_many(place, &place->ranges[index]));
	if (index < place->range_cnt)
		find_extent(place, index, &symbol->public);
	if (from) {
		name_by_symbol(symbol, from);
	} else if (name_by_offset(symbol)) {
		free(symbol);
		return NULL;
	}
	return symbol;
}

static struct place_symbol *make_once(struct place *place, size_t index)
{
	struct place_symbol *symbol;

	pthread_mutex_lock(&place->lock);
	symbol = atomic_load(&place->slots[index]);
	if (!symbol) {
		symbol = make_symbol(place, index);
		atomic_store(&place->slots[index], symbol);
	}
	pthread_mutex_unlock(&place->lock);
	return symbol;
}

const struct symbol *place_symbol_at(struct place *place, struct image_objects *objects, uint64_t ip)
{
	const struct elf_range *range;
	struct place_symbol *symbol;
	size_t index;

	if (place_open(place, objects))
		return NULL;
	range = find_range(place, ip - place->bias);
	index = range ? range->first : place->range_cnt;
	symbol = atomic_load_explicit(&place->slots[index], memory_order_acquire);
	if (!symbol)
		symbol = make_once(place, index);
	return symbol ? &symbol->public : NULL;
}

char *place_variable_at(struct place *place, struct image_objects *objects, uint64_t addr)
{
	struct elf_file *elf = place_lock(place, objects);
	const char *name;
	char *shown;

	if (!elf)
		return NULL;
	name = elf_file_data_at(elf, addr - place->bias);
	shown = name ? elf_shown_name(name) : NULL;
	object_unlock(place->object);
	return shown;
}

bool place_has_unnamed(const struct place *place)
{
	return place->slots && atomic_load(&place->slots[place->range_cnt]);
}

enum landing place_catches(struct place *place, struct image_objects *objects, uint64_t call_ip,
			   uint64_t handler)
{
	struct elf_file *elf = place_lock(place, objects);
	enum landing answer;

	if (!elf)
		return LANDING_UNKNOWN;
	answer = elf_file_catches(elf, call_ip ? call_ip - place->bias : 0, handler - place->bias);
	object_unlock(place->object);
	return answer;
}

const struct inline_chain *place_inlines_at(struct place *place, struct image_objects *objects, uint64_t ip,
					    uint64_t *ret_end)
{
	struct elf_file *elf = place_lock(place, objects);
	const struct inline_chain *chain;

	if (!elf)
		return NULL;
	chain = elf_file_inlines_at(elf, ip - place->bias);
	object_unlock(place->object);
	if (chain)
		*ret_end = chain->end + place->bias;
	return chain;
}

bool place_cfi_at(struct place *place, struct image_objects *objects, uint64_t ip, struct cfi_row *ret_row)
{
	struct elf_file *elf = place_lock(place, objects);
	const struct cfi_row *row;
	bool known;

	if (!elf)
		return false;
	row = elf_file_cfi_at(elf, ip - place->bias);
	known = row && row->is_known;
	if (known)
		*ret_row = *row;
	object_unlock(place->object);
	return known;
}

/* ---- source lines ---- */

static void find_source_locked(struct place_symbol *symbol)
{
	struct place *place = symbol->place;
	struct elf_file *elf;

	if (symbol->public.source_sought)
		return;
	symbol->public.source_sought = true;
	elf = object_lock(place->object);
	if (!elf)
		return;
	if (!elf_file_source(elf, symbol->public.start - place->bias, &symbol->public.file,
			     &symbol->public.line))
		symbol->public.file_dir = elf_file_source_dir(elf, symbol->public.start - place->bias);
	object_unlock(place->object);
}

void place_find_source(const struct symbol *public)
{
	struct place_symbol *symbol = (struct place_symbol *)public;

	pthread_mutex_lock(&symbol->place->lock);
	find_source_locked(symbol);
	pthread_mutex_unlock(&symbol->place->lock);
}

void place_find_sources(struct place *place)
{
	pthread_mutex_lock(&place->lock);
	for (size_t i = 0; place->slots && i < place->range_cnt; i++) {
		struct place_symbol *symbol = atomic_load_explicit(&place->slots[i], memory_order_acquire);

		if (symbol && symbol->public.has_place)
			find_source_locked(symbol);
	}
	pthread_mutex_unlock(&place->lock);
}
