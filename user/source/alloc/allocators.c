/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocators call each other's functions, and their own: calloc() may call malloc(), operator new nearly
 * always does, mimalloc's malloc() jumps to mi_malloc(). What is one allocation for the program must be
 * counted once. Two things see to that:
 *
 * 	- names for the same address are one function, and a function that leads straight into another one of
 *	  the table is left to that one;
 * 	- one that somewhere calls another is marked: while it is at work, the BPF program
 *	  passes over what it calls.
 */
#include "source/alloc/allocators.h"

#include <elf.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "probe/matches.h"
#include "probe/probe.h"
#include "probe/site.h"
#include "source/alloc/alloc_exits.h"

/* ---- the table ---- */

#define NEW(size)                                                                      \
	{                                                                              \
		.call = ALLOC_CALL_NEW, .size_arg = (size), .count_arg = ALLOC_NO_ARG, \
		.pointer_arg = ALLOC_NO_ARG                                            \
	}
#define NEW_OF(cnt, size)                                                                                   \
	{                                                                                                   \
		.call = ALLOC_CALL_NEW, .size_arg = (size), .count_arg = (cnt), .pointer_arg = ALLOC_NO_ARG \
	}
#define NEW_AT(where, size)                                                               \
	{                                                                                 \
		.call = ALLOC_CALL_NEW_AT, .size_arg = (size), .count_arg = ALLOC_NO_ARG, \
		.pointer_arg = (where)                                                    \
	}
#define RESIZE(old, size)                                                                 \
	{                                                                                 \
		.call = ALLOC_CALL_RESIZE, .size_arg = (size), .count_arg = ALLOC_NO_ARG, \
		.pointer_arg = (old)                                                      \
	}
#define RESIZE_OF(old, cnt, size)                                                                       \
	{                                                                                               \
		.call = ALLOC_CALL_RESIZE, .size_arg = (size), .count_arg = (cnt), .pointer_arg = (old) \
	}
#define IN_PLACE(old, size)                                                                        \
	{                                                                                          \
		.call = ALLOC_CALL_RESIZE_IN_PLACE, .size_arg = (size), .count_arg = ALLOC_NO_ARG, \
		.pointer_arg = (old)                                                               \
	}
#define FREE                                                                                 \
	{                                                                                    \
		.call = ALLOC_CALL_FREE, .size_arg = ALLOC_NO_ARG, .count_arg = ALLOC_NO_ARG \
	}

struct row {
	const char *name;
	struct alloc_role role;
};

/* The functions of every allocator, under these names or with its own prefix. */
static const char *const prefixes[] = {"", "je_", "_rjem_", "tc_", "mi_"};

static const struct row common[] = {
	{"malloc", NEW(0)},
	{"calloc", NEW_OF(0, 1)},
	{"realloc", RESIZE(0, 1)},
	{"reallocarray", RESIZE_OF(0, 1, 2)},
	{"aligned_alloc", NEW(1)},
	{"memalign", NEW(1)},
	{"posix_memalign", NEW_AT(0, 2)},
	{"valloc", NEW(0)},
	{"pvalloc", NEW(0)},
	{"free", FREE},
	{"cfree", FREE},
	{"free_sized", FREE},
	{"free_aligned_sized", FREE},
	/* jemalloc */
	{"mallocx", NEW(0)},
	{"rallocx", RESIZE(0, 1)},
	{"xallocx", IN_PLACE(0, 1)},
	{"dallocx", FREE},
	{"sdallocx", FREE},
};

static const struct row particular[] = {
	{"_Znwm", NEW(0)},
	{"_Znam", NEW(0)},
	{"_ZnwmRKSt9nothrow_t", NEW(0)},
	{"_ZnamRKSt9nothrow_t", NEW(0)},
	{"_ZnwmSt11align_val_t", NEW(0)},
	{"_ZnamSt11align_val_t", NEW(0)},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t", NEW(0)},
	{"_ZnamSt11align_val_tRKSt9nothrow_t", NEW(0)},
	{"_ZdlPv", FREE},
	{"_ZdaPv", FREE},
	{"_ZdlPvm", FREE},
	{"_ZdaPvm", FREE},
	{"_ZdlPvRKSt9nothrow_t", FREE},
	{"_ZdaPvRKSt9nothrow_t", FREE},
	{"_ZdlPvSt11align_val_t", FREE},
	{"_ZdaPvSt11align_val_t", FREE},
	{"_ZdlPvmSt11align_val_t", FREE},
	{"_ZdaPvmSt11align_val_t", FREE},
	{"_ZdlPvSt11align_val_tRKSt9nothrow_t", FREE},
	{"_ZdaPvSt11align_val_tRKSt9nothrow_t", FREE},
	/* tcmalloc */
	{"tc_malloc_skip_new_handler", NEW(0)},
	{"tc_new", NEW(0)},
	{"tc_newarray", NEW(0)},
	{"tc_new_nothrow", NEW(0)},
	{"tc_newarray_nothrow", NEW(0)},
	{"tc_new_aligned", NEW(0)},
	{"tc_newarray_aligned", NEW(0)},
	{"tc_delete", FREE},
	{"tc_deletearray", FREE},
	{"tc_delete_sized", FREE},
	{"tc_deletearray_sized", FREE},
	{"tc_delete_nothrow", FREE},
	{"tc_deletearray_nothrow", FREE},
	{"tc_delete_aligned", FREE},
	{"tc_deletearray_aligned", FREE},
	/* mimalloc */
	{"mi_zalloc", NEW(0)},
	{"mi_malloc_small", NEW(0)},
	{"mi_zalloc_small", NEW(0)},
	{"mi_mallocn", NEW_OF(0, 1)},
	{"mi_malloc_aligned", NEW(0)},
	{"mi_zalloc_aligned", NEW(0)},
	{"mi_calloc_aligned", NEW_OF(0, 1)},
	{"mi_new", NEW(0)},
	{"mi_new_n", NEW_OF(0, 1)},
	{"mi_new_nothrow", NEW(0)},
	{"mi_new_aligned", NEW(0)},
	{"mi_new_aligned_nothrow", NEW(0)},
	{"mi_reallocn", RESIZE_OF(0, 1, 2)},
	{"mi_rezalloc", RESIZE(0, 1)},
	{"mi_recalloc", RESIZE_OF(0, 1, 2)},
	{"mi_realloc_aligned", RESIZE(0, 1)},
	{"mi_new_realloc", RESIZE(0, 1)},
	{"mi_new_reallocn", RESIZE_OF(0, 1, 2)},
	{"mi_free_size", FREE},
	{"mi_free_aligned", FREE},
	{"mi_free_size_aligned", FREE},
	{"mi_heap_malloc", NEW(1)},
	{"mi_heap_zalloc", NEW(1)},
	{"mi_heap_calloc", NEW_OF(1, 2)},
	{"mi_heap_realloc", RESIZE(1, 2)},
	{"mi_heap_malloc_aligned", NEW(1)},
	{"mi_heap_zalloc_aligned", NEW(1)},
};

/* Functions that programs call all the time: the cost of others hardly matters. */
static bool is_frequent(const char *name)
{
	static const char *const names[] = {"malloc", "calloc", "realloc", "free",    "_Znwm",
					    "_Znam",  "_ZdlPv", "_ZdaPv",  "_ZdlPvm", "_ZdaPvm"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			if (!strncmp(name, prefixes[i], len) && !strcmp(name + len, names[j]))
				return true;
	}
	return false;
}

/* ---- in one file ---- */

/* The functions of a file before it is known which of them are probed. */
struct found {
	const struct alloc_functions *known; /* of other files, which the program calls by these names */
	struct candidate {
		const struct elf_symbol *symbol;
		struct alloc_role role;
		bool is_wrapper;
	} * items;
	size_t cnt, cap;
};

static void found_release(struct found *found)
{
	free(found->items);
}

static bool has_address(const struct found *found, uint64_t addr)
{
	for (size_t i = 0; i < found->cnt; i++)
		if (found->items[i].symbol->addr == addr)
			return true;
	return false;
}

bool alloc_functions_has(const struct alloc_functions *functions, const char *name)
{
	for (size_t i = 0; i < functions->cnt; i++)
		if (!strcmp(functions->items[i].name, name))
			return true;
	return false;
}

static int add_named(struct found *found, struct elf_file *file, const char *name,
		     const struct alloc_role *role)
{
	CLEANUP(matches_release) struct matches matches = {0};
	int err = alloc_functions_has(found->known, name) ? 0 : matches_find(&matches, file, name);

	for (size_t i = 0; i < matches.cnt && !err; i++) {
		const struct elf_symbol *symbol = matches.symbols[i];
		struct candidate candidate = {symbol, *role, false};

		/* A static function of that name in a file that has others is something else. */
		if (strcmp(symbol->name, name) || symbol->is_plt || symbol->bind == STB_LOCAL ||
		    symbol->type == STT_GNU_IFUNC || has_address(found, symbol->addr))
			continue;
		err = ARRAY_PUSH(found->items, found->cnt, found->cap, candidate);
	}
	return err;
}

static int look_up(struct found *found, struct elf_file *file)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(common) && !err; j++) {
			char name[64];

			snprintf(name, sizeof(name), "%s%s", prefixes[i], common[j].name);
			err = add_named(found, file, name, &common[j].role);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(particular) && !err; i++)
		err = add_named(found, file, particular[i].name, &particular[i].role);
	return err;
}

/* ---- who calls whom ---- */

struct callees {
	const struct found *found;
	struct elf_file *file;
	uint64_t self;
	bool any;
};

static bool is_found(const struct callees *callees, uint64_t addr)
{
	const struct elf_symbol *symbol = elf_file_symbol_at(callees->file, addr);
	size_t len = symbol ? strcspn(symbol->name, "@") : 0;

	if (addr == callees->self)
		return false;
	for (size_t i = 0; i < callees->found->cnt; i++) {
		const struct elf_symbol *other = callees->found->items[i].symbol;

		if (other->addr == addr || (symbol && symbol->is_plt &&
					    !strncmp(other->name, symbol->name, len) && !other->name[len]))
			return true;
	}
	return false;
}

static int note_callee(void *ctx, uint64_t target)
{
	struct callees *callees = ctx;

	callees->any = callees->any || is_found(callees, target);
	return 0;
}

static void relate(struct found *found, struct elf_file *file)
{
	for (size_t i = 0; i < found->cnt; i++) {
		struct candidate *candidate = &found->items[i];
		struct callees callees = {found, file, candidate->symbol->addr, false};
		uint64_t leads_to;

		candidate->is_wrapper = site_leads_to(file, candidate->symbol->addr, &leads_to) &&
					is_found(&callees, leads_to);
		site_each_target(file, candidate->symbol, note_callee, &callees);
		candidate->role.nests = callees.any;
	}
}

/* An operator new that calls malloc() is cheaper to see there. */
static bool is_left_to_others(const struct candidate *candidate)
{
	return candidate->is_wrapper ||
	       (candidate->role.nests && !strncmp(candidate->symbol->name, "_Zn", 3));
}

/* Bit n: the BPF program reads the nth argument. */
static uint32_t args_of(const struct alloc_role *role)
{
	const uint8_t numbers[] = {role->size_arg, role->count_arg, role->pointer_arg};
	uint32_t wanted = role->call == ALLOC_CALL_MAP ? 1u << role->prot_arg | 1u << role->flags_arg : 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i] != ALLOC_NO_ARG)
			wanted |= 1u << numbers[i];
	return wanted;
}

static uint8_t place_of(uint8_t number, const struct site *site)
{
	return number < SITE_ARG_CNT ? site->args[number] : ALLOC_NO_ARG;
}

/* From the numbers of arguments, as the table has them, to where they are. */
static void place_args(struct alloc_role *role, const struct site *site)
{
	role->size_arg = place_of(role->size_arg, site) & 0xf;
	role->count_arg = place_of(role->count_arg, site) & 0xf;
	role->pointer_arg = place_of(role->pointer_arg, site) & 0xf;
	role->prot_arg = place_of(role->prot_arg, site) & 0xf;
	role->flags_arg = place_of(role->flags_arg, site) & 0xf;
	role->pushed = site->pushed & 0x7fff;
}

static int add_function(struct alloc_functions *functions, struct elf_file *file,
			const struct candidate *candidate)
{
	const struct elf_symbol *symbol = candidate->symbol;
	struct alloc_function function = {.role = candidate->role};
	bool exits = alloc_exits_throws(symbol->name);
	struct site site = site_cheapest(file, symbol, args_of(&candidate->role),
					 candidate->role.call != ALLOC_CALL_FREE && !exits);
	int err = exits ? alloc_exits_add(functions, file, symbol->addr) : 0;

	if (err == -ENOTSUP) {
		log_warn("allocations by %s are not seen: %s", symbol->name, fail_message(err));
		return 0;
	}
	if (!err)
		err = probe_init(&function.probe, file, site.addr, symbol->name);

	if (err)
		return err;
	place_args(&function.role, &site);
	function.role.exits = exits;
	function.is_dear = (!site.is_emulated || exits) && is_frequent(symbol->name);
	function.role.function = (uint16_t)functions->cnt;
	function.name = elf_shown_name(symbol->name);
	if (!function.name || ARRAY_PUSH(functions->items, functions->cnt, functions->cap, function)) {
		probe_release(&function.probe);
		free(function.name);
		return -ENOMEM;
	}
	return 0;
}

int alloc_functions_of_file(struct alloc_functions *functions, struct elf_file *file, bool *ret_any)
{
	CLEANUP(found_release) struct found found = {.known = functions};
	int err = look_up(&found, file);

	if (!err)
		relate(&found, file);
	for (size_t i = 0; i < found.cnt && !err; i++)
		if (!is_left_to_others(&found.items[i]))
			err = add_function(functions, file, &found.items[i]);
	if (!err)
		*ret_any = found.cnt;
	return err;
}

void alloc_functions_release(struct alloc_functions *functions)
{
	for (size_t i = 0; i < functions->cnt; i++) {
		probe_release(&functions->items[i].probe);
		free(functions->items[i].name);
	}
	for (size_t i = 0; i < functions->exit_cnt; i++)
		probe_release(&functions->exits[i]);
	free(functions->exits);
	free(functions->items);
	*functions = (struct alloc_functions){0};
}

/* ---- mappings ---- */

/* The file's code, as seen from the probe. */
static int add_range(struct alloc_functions *functions, struct elf_file *file, uint64_t addr)
{
	struct alloc_range *range = &functions->ranges[functions->range_cnt];
	size_t cnt;
	const struct elf_symbol *symbols = elf_file_symbols(file, &cnt);

	if (functions->range_cnt == ARRAY_SIZE(functions->ranges) || !cnt)
		return 0;
	range->before = addr - symbols[0].addr;
	range->behind = symbols[cnt - 1].addr + symbols[cnt - 1].size - addr;
	return (int)++functions->range_cnt;
}

static int add_mapping(struct alloc_functions *functions, struct elf_file *file, const struct row *row,
		       bool is_library, bool *ret_any)
{
	struct candidate candidate = {.role = row->role};
	struct alloc_role *role;
	int err;

	if (!elf_file_find(file, row->name, &candidate.symbol, 1) || candidate.symbol->is_plt)
		return 0;
	err = add_function(functions, file, &candidate);
	if (err)
		return err;
	*ret_any = true;
	role = &functions->items[functions->cnt - 1].role;
	if (is_library && role->call != ALLOC_CALL_FREE)
		role->range =
			(uint8_t)add_range(functions, file, functions->items[functions->cnt - 1].probe.addr);
	return 0;
}

int alloc_mappings_of_file(struct alloc_functions *functions, struct elf_file *file, bool is_library,
			   bool *ret_any)
{
	static const struct row rows[] = {
		{"mmap",
		 {.call = ALLOC_CALL_MAP,
		  .size_arg = 1,
		  .prot_arg = 2,
		  .flags_arg = 3,
		  .count_arg = ALLOC_NO_ARG,
		  .pointer_arg = ALLOC_NO_ARG}},
		{"mremap",
		 {.call = ALLOC_CALL_REMAP, .size_arg = 2, .count_arg = ALLOC_NO_ARG, .pointer_arg = 0}},
		{"munmap", FREE},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && !err; i++)
		err = add_mapping(functions, file, &rows[i], is_library, ret_any);
	return err;
}
