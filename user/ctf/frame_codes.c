/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two indices: by address, for each frame of each sample; and on a miss by file and offset, since one place
 * can be at several addresses in different versions of the image.
 */
#include "ctf/frame_codes.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/file/path.h"
#include "image/image.h"
#include "image/object.h"

enum { LOCATIONS_MAX = 255 };

struct code {
	char *path;	 /* the file, or what the mapping is called */
	uint64_t offset; /* in it */
	struct memtrace_location *locations;
	size_t location_cnt;
	char *made_name; /* of a location without a symbol; or NULL */
	bool is_wrapper;
};

struct frame_codes {
	struct image *image;
	struct image_objects *objects;
	struct code *codes; /* that of code 1 comes first */
	size_t code_cnt, code_cap;
	struct address {
		size_t version;
		uint64_t ip, code;
	} * addresses;
	size_t address_cnt, address_cap;
	struct hash_index by_address, by_place;
};

/* ---- wrappers ---- */

bool frame_is_wrapper_name(const char *name)
{
	static const char *const patterns[] = {
		"malloc",
		"calloc",
		"realloc",
		"reallocarray",
		"aligned_alloc",
		"memalign",
		"posix_memalign",
		"operator new*",
		"xmalloc",
		"xcalloc",
		"xzalloc",
		"xrealloc",
		"xmallocarray",
		"xreallocarray",
		"g_malloc*",
		"g_realloc*",
		"g_try_malloc*",
		"g_try_realloc*",
		"g_slice_alloc*",
		"std::allocator<*>::allocate*",
		"std::__new_allocator<*>::allocate*",
		"__gnu_cxx::new_allocator<*>::allocate*",
		"std::allocator_traits<*>::allocate*",
		"std::__allocate_guarded<*",
		"std::_*_base<*>::_M_allocate*",
		"std::_*_base<*>::_M_get_node*",
		"std::__1::allocator<*>::allocate*",
		"std::__1::__libcpp_allocate*",
		/* Rust */
		"__rust_alloc*",
		"__rust_realloc*",
		"__rdl_alloc*",
		"__rdl_realloc*",
		"alloc::alloc::alloc*",
		"alloc::alloc::realloc*",
		"alloc::alloc::Global::alloc_impl*",
		"alloc::alloc::Global::grow_impl*",
		"<alloc::alloc::Global as core::alloc::Allocator>::*",
		"std::sys::*::alloc::*",
	};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

/* ---- what is where ---- */

/* The line of the very instruction. */
static void find_line(const struct frame_codes *table, const struct image_section *section, uint64_t ip,
		      struct memtrace_location *location)
{
	struct object *object = section && section->path ? object_get(table->objects, section->path) : NULL;
	struct elf_file *elf = object ? object_lock(object) : NULL;
	uint64_t addr;

	if (!elf)
		return;
	if (!elf_file_addr(elf, ip - section->addr + section->file_offset, &addr))
		elf_file_source(elf, addr, &location->file, &location->line);
	object_unlock(object);
}

static int name_function(struct code *code, const struct symbol *symbol, struct memtrace_location *location)
{
	location->function = symbol->name;
	location->file = symbol->object ? symbol->object : "";
	if (symbol->named || symbol->name[0] == '[')
		return 0;
	if (asprintf(&code->made_name, "[%s]", path_name(symbol->name)) < 0) {
		code->made_name = NULL;
		return -ENOMEM;
	}
	location->function = code->made_name;
	return 0;
}

/* A function's line is where it calls the next one that is inlined. */
static void add_inlined(struct code *code, const struct inline_chain *chain)
{
	for (size_t i = 0; chain && i < chain->cnt && code->location_cnt < LOCATIONS_MAX; i++) {
		const struct symbol *call = chain->symbols[i];
		struct memtrace_location *caller = &code->locations[code->location_cnt - 1];

		if (call->call_file) {
			caller->file = call->call_file;
			caller->line = call->call_line;
		}
		code->locations[code->location_cnt++] =
			(struct memtrace_location){.function = call->name, .file = call->object};
	}
}

static int look_up(const struct frame_codes *table, struct code *code, size_t version, uint64_t ip)
{
	const struct symbol *symbol = image_symbol_at(table->image, version, ip);
	uint64_t end;
	const struct inline_chain *chain = image_inlines_at(table->image, version, ip, &end);
	int err;

	code->locations = calloc(1 + (chain ? chain->cnt : 0), sizeof(*code->locations));
	if (!symbol || !code->locations)
		return -ENOMEM;
	code->location_cnt = 1;
	err = name_function(code, symbol, &code->locations[0]);
	if (err)
		return err;
	add_inlined(code, chain);
	find_line(table, image_section_at(table->image, version, ip), ip,
		  &code->locations[code->location_cnt - 1]);
	while (code->location_cnt > 1 &&
	       frame_is_wrapper_name(code->locations[code->location_cnt - 1].function))
		code->location_cnt--;
	code->is_wrapper = code->location_cnt == 1 && frame_is_wrapper_name(code->locations[0].function);
	return 0;
}

/* ---- the table ---- */

int frame_codes_new(struct frame_codes **ret_table, struct image *image, struct image_objects *objects)
{
	struct frame_codes *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->image = image;
	table->objects = objects;
	*ret_table = table;
	return 0;
}

static void code_release(struct code *code)
{
	free(code->path);
	free(code->locations);
	free(code->made_name);
}

void frame_codes_free(struct frame_codes *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->code_cnt; i++)
		code_release(&table->codes[i]);
	free(table->codes);
	free(table->addresses);
	hash_index_release(&table->by_address);
	hash_index_release(&table->by_place);
	free(table);
}

static uint64_t add(struct frame_codes *table, const char *path, uint64_t offset, size_t version, uint64_t ip)
{
	struct code code = {.path = strdup(path), .offset = offset};

	if (code.path && !look_up(table, &code, version, ip) &&
	    !array_reserve(&table->codes, &table->code_cap, table->code_cnt + 1, sizeof(code)) &&
	    !hash_index_add(&table->by_place, hash_number(hash_text(0, path), offset), table->code_cnt)) {
		table->codes[table->code_cnt++] = code;
		return table->code_cnt;
	}
	code_release(&code);
	return 0;
}

/* What no file tells apart is told apart by its address. */
static uint64_t find_place(struct frame_codes *table, size_t version, uint64_t ip)
{
	const struct image_section *section = image_section_at(table->image, version, ip);
	const char *path = !section ? "" : section->path ? section->path : section->object;
	uint64_t offset = section && section->path ? ip - section->addr + section->file_offset : ip;

	for (size_t at = 0, i; (i = hash_index_next(&table->by_place, hash_number(hash_text(0, path), offset),
						    &at)) != HASH_INDEX_END;)
		if (table->codes[i].offset == offset && !strcmp(table->codes[i].path, path))
			return i + 1;
	return add(table, path, offset, version, ip);
}

uint64_t frame_codes_get(struct frame_codes *table, size_t version, uint64_t ip)
{
	uint64_t hash = hash_number(hash_number(0, version), ip);
	struct address address = {.version = version, .ip = ip};

	for (size_t at = 0, i; (i = hash_index_next(&table->by_address, hash, &at)) != HASH_INDEX_END;)
		if (table->addresses[i].version == version && table->addresses[i].ip == ip)
			return table->addresses[i].code;
	address.code = find_place(table, version, ip - 1); /* in the call, not behind it */
	if (!address.code || hash_index_add(&table->by_address, hash, table->address_cnt) ||
	    ARRAY_PUSH(table->addresses, table->address_cnt, table->address_cap, address))
		return 0;
	return address.code;
}

uint64_t frame_codes_make(struct frame_codes *table, const char *name)
{
	struct code code = {.path = strdup(""),
			    .locations = calloc(1, sizeof(*code.locations)),
			    .location_cnt = 1,
			    .made_name = strdup(name)};

	if (!code.path || !code.locations || !code.made_name ||
	    array_reserve(&table->codes, &table->code_cap, table->code_cnt + 1, sizeof(code))) {
		code_release(&code);
		return 0;
	}
	code.locations[0] = (struct memtrace_location){.function = code.made_name, .file = ""};
	table->codes[table->code_cnt++] = code;
	return table->code_cnt;
}

bool frame_codes_is_wrapper(const struct frame_codes *table, uint64_t code)
{
	return table->codes[code - 1].is_wrapper;
}

int frame_codes_locate(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	const struct frame_codes *table = ctx;

	*ret_locations = table->codes[code - 1].locations;
	return (int)table->codes[code - 1].location_cnt;
}
