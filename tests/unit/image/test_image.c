/* SPDX-License-Identifier: BSD-2-Clause */
#include "image/image.h"

#include <dlfcn.h>

#include "base/parallel.h"
#include "unit/elf/fixture.h"

enum { TEXT = 0x10000, PAGE = 0x1000 };

struct world {
	char *dir;
	struct image_objects *objects;
	struct image *image;
	uint64_t text, size; /* file offset and size of the program's code */
	uint64_t add, main;  /* file offsets of functions */
};

static uint64_t offset_of(struct elf_file *file, const char *name)
{
	uint64_t offset;

	assert_ok(elf_file_offset(file, fixture_find(file, name)->addr, &offset));
	return offset;
}

static int setup(void **state)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct world *world = calloc(1, sizeof(*world));
	void *dir;

	if (!world || fixture_enter(&dir))
		return -1;
	world->dir = dir;
	fixture_build(
		"a.cc",
		"namespace ns {\nint add(int a) { return a + 1; }\n}\nint main()\n{\n\treturn "
		"ns::add(1);\n}\n",
		"g++ -O0 -g -o a a.cc && strip -o stripped a && g++ -O0 -fno-asynchronous-unwind-tables "
		"-fno-exceptions -o bare a.cc && strip bare");
	file = fixture_open("a");
	world->add = offset_of(file, "ns::add");
	world->main = offset_of(file, "main");
	world->text = world->add & ~0xfffull;
	world->size = PAGE;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;
	void *dir = world->dir;

	free(world);
	return fixture_leave(&dir);
}

static int begin(void **state)
{
	struct world *world = *state;

	return image_objects_new(&world->objects) || image_new(&world->image, world->objects);
}

static int end(void **state)
{
	struct world *world = *state;

	image_free(world->image);
	image_objects_free(world->objects);
	return 0;
}

static void map(struct world *world, uint64_t time_ns, uint64_t addr, uint64_t size, const char *path,
		uint64_t offset)
{
	struct image_section section = {
		.addr = addr, .size = size, .file_offset = offset, .path = path, .object = path};

	assert_ok(image_map(world->image, time_ns, &section));
}

/* The program's code, at addr. */
static void map_program(struct world *world, uint64_t time_ns, uint64_t addr)
{
	map(world, time_ns, addr, world->size, "a", world->text);
}

/* ---- versions ---- */

TEST_WITH(a_fresh_image_is_empty, begin, end)
{
	struct world *world = *state;

	assert_int_equal(image_section_cnt(world->image, 0), 0);
	assert_null(image_section_from(world->image, 0, 0));
	assert_int_equal(image_version_cnt(world->image), 1);
	assert_int_equal(image_version_start(world->image, 0), 0);
	assert_string_equal(image_symbol_at(world->image, 0, 0x1234)->name, "[unknown]");
}

TEST_WITH(mappings_beside_each_other_are_one_version, begin, end)
{
	struct world *world = *state;
	const struct image_section *first, *second;

	map(world, 10, 0x3000, 0x1000, "three", 0);
	map(world, 20, 0x1000, 0x1000, "one", 0x500);
	map(world, 30, 0x3000, 0x1000, "three", 0); /* again */
	map(world, 40, 0x5000, 0, "none", 0);
	first = image_section_from(world->image, 0, 0);
	second = image_section_from(world->image, 0, 0x2000);
	assert_int_equal(image_version_cnt(world->image), 1);
	assert_int_equal(image_section_cnt(world->image, 0), 2);
	assert_string_equal(first->path, "one");
	assert_int_equal(first->file_offset, 0x500);
	assert_string_equal(second->path, "three");
}

TEST_WITH(replacing_a_mapping_begins_a_version, begin, end)
{
	struct world *world = *state;
	const struct image_section *behind;

	map(world, 10, 0x1000, 0x3000, "old", 0x1000);
	map(world, 20, 0x2000, 0x1000, "new", 0);
	assert_int_equal(image_version_cnt(world->image), 2);
	assert_int_equal(image_version_start(world->image, 1), 20);
	assert_int_equal(image_section_cnt(world->image, 0), 1);
	assert_int_equal(image_section_from(world->image, 0, 0)->size, 0x3000);
	assert_int_equal(image_section_cnt(world->image, 1), 3);
	assert_string_equal(image_section_at(world->image, 1, 0x2000)->path, "new");
	behind = image_section_from(world->image, 1, 0x3000);
	assert_int_equal(behind->addr, 0x3000);
	assert_int_equal(behind->file_offset, 0x3000);
}

/* The same file further along in the same place is other code. */
TEST_WITH(another_offset_is_another_mapping, begin, end)
{
	struct world *world = *state;

	map(world, 10, 0x1000, 0x1000, "file", 0);
	map(world, 20, 0x1000, 0x1000, "file", 0x1000);
	assert_int_equal(image_version_cnt(world->image), 2);
	map(world, 30, 0x1000, 0x2000, "file", 0x1000); /* grows */
	map(world, 40, 0x1800, 0x0800, "file", 0x1800); /* a part */
	assert_int_equal(image_version_cnt(world->image), 2);
}

TEST_WITH(exec_empties, begin, end)
{
	struct world *world = *state;

	assert_ok(image_exec(world->image, 5));
	assert_int_equal(image_version_cnt(world->image), 1);
	map_program(world, 10, TEXT);
	assert_ok(image_exec(world->image, 20));
	assert_int_equal(image_version_cnt(world->image), 2);
	assert_int_equal(image_section_cnt(world->image, 1), 0);
	assert_string_equal(image_symbol_at(world->image, 1, TEXT)->name, "[unknown]");
	assert_string_not_equal(image_symbol_at(world->image, 0, TEXT)->name, "[unknown]");
}

TEST_WITH(versions_are_found_by_time, begin, end)
{
	struct world *world = *state;

	for (uint64_t i = 0; i < 5; i++)
		map(world, i * 10, 0x1000, 0x1000, "file", i * 0x1000);
	assert_int_equal(image_version_cnt(world->image), 5);
	assert_int_equal(image_version_at(world->image, 0), 0);
	assert_int_equal(image_version_at(world->image, 9), 0);
	assert_int_equal(image_version_at(world->image, 10), 1);
	assert_int_equal(image_version_at(world->image, 39), 3);
	assert_int_equal(image_version_at(world->image, UINT64_MAX), 4);
}

TEST_WITH(mappings_at_the_end_of_addresses, begin, end)
{
	struct world *world = *state;

	map(world, 0, UINT64_MAX - 0xfff, 0x1000, "last", 0);
	map(world, 0, UINT64_MAX - 0x1fff, 0x8000, "beyond", 0);
	assert_string_equal(image_symbol_at(world->image, 1, UINT64_MAX - 0x100)->object, "beyond");
}

/* ---- symbols ---- */

TEST_WITH(functions_are_at_their_mapped_addresses, begin, end)
{
	struct world *world = *state;
	uint64_t ip = TEXT + world->add - world->text;
	const struct symbol *symbol;

	map_program(world, 0, TEXT);
	symbol = image_symbol_at(world->image, 0, ip);
	assert_string_equal(symbol->name, "ns::add(int)");
	assert_string_equal(symbol->object, "a");
	assert_true(symbol->named);
	assert_int_equal(symbol->start, ip);
	assert_int_equal(symbol->end, TEXT + world->main - world->text);
	assert_ptr_equal(image_symbol_at(world->image, 0, ip + 3), symbol);
	assert_ptr_equal(image_symbol_at(world->image, 0, symbol->end - 1), symbol);
	assert_string_equal(image_symbol_at(world->image, 0, symbol->end)->name, "main");
}

TEST_WITH(a_function_around_another_is_one, begin, end)
{
	struct world *world = *state;
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const struct symbol *outer;
	uint64_t offset;

	fixture_build("o.s",
		      ".globl _start\n.type _start, @function\n_start: .fill 8, 1, 0x90\n"
		      ".type inner, @function\ninner: .fill 4, 1, 0x90\n.size inner, 4\n.fill 4, 1, 0x90\n"
		      ".size _start, 16\n",
		      "gcc -nostdlib -static -o o o.s");
	file = fixture_open("o");
	offset = offset_of(file, "_start");
	map(world, 0, TEXT, PAGE, "o", offset);
	outer = image_symbol_at(world->image, 0, TEXT + 12);
	assert_string_equal(outer->name, "_start");
	assert_int_equal(outer->start, TEXT);
	assert_int_equal(outer->end, TEXT + 16);
	assert_ptr_equal(image_symbol_at(world->image, 0, TEXT), outer);
	assert_string_equal(image_symbol_at(world->image, 0, TEXT + 8)->name, "inner");
}

TEST_WITH(versions_keep_their_symbols, begin, end)
{
	struct world *world = *state;
	uint64_t in_text = world->add - world->text;

	map_program(world, 0, TEXT);
	map(world, 10, TEXT, world->size, "missing", 0);
	map_program(world, 20, 0x90000);
	assert_string_equal(image_symbol_at(world->image, 0, TEXT + in_text)->name, "ns::add(int)");
	assert_string_equal(image_symbol_at(world->image, 1, TEXT + in_text)->name, "missing+0x0");
	assert_string_equal(image_symbol_at(world->image, 1, 0x90000 + in_text)->name, "ns::add(int)");
	assert_int_equal(image_symbol_at(world->image, 1, 0x90000 + in_text)->start, 0x90000 + in_text);
}

TEST_WITH(files_without_symbols_give_offsets, begin, end)
{
	struct world *world = *state;
	const struct symbol *symbol;

	fixture_write("text", "not an ELF file, but mapped", 27);
	map(world, 0, 0x1000, 0x1000, "text", 0x3000);
	map(world, 0, 0x4000, 0x1000, "/no/such/lib.so", 0x28000);
	symbol = image_symbol_at(world->image, 0, 0x1234);
	assert_string_equal(symbol->name, "text+0x3000");
	assert_false(symbol->named);
	assert_true(symbol->is_region);
	assert_int_equal(symbol->start, 0x1000);
	assert_int_equal(symbol->end, 0x2000);
	assert_ptr_equal(image_symbol_at(world->image, 0, 0x1235), symbol);
	assert_string_equal(image_symbol_at(world->image, 0, 0x4321)->name, "lib.so+0x28000");
	assert_string_equal(image_symbol_at(world->image, 0, 0x4321)->object, "/no/such/lib.so");
}

TEST_WITH(stripped_functions_are_told_apart, begin, end)
{
	struct world *world = *state;
	uint64_t add = TEXT + world->add - world->text, main_ip = TEXT + world->main - world->text;
	const struct symbol *symbol;
	char expected[64];

	map(world, 0, TEXT, world->size, "stripped", world->text);
	symbol = image_symbol_at(world->image, 0, add + 2);
	snprintf(expected, sizeof(expected), "stripped+0x%lx", world->add);
	assert_string_equal(symbol->name, expected);
	assert_int_equal(symbol->start, add);
	assert_int_equal(symbol->end, main_ip);
	assert_ptr_not_equal(image_symbol_at(world->image, 0, main_ip), symbol);
	assert_false(symbol->is_region);
	assert_false(image_symbol_at(world->image, 0, main_ip)->is_region);
}

/* The start-up code has a table, which tells nothing of what lies behind it. */
TEST_WITH(functions_without_tables_are_a_region, begin, end)
{
	struct world *world = *state;
	const struct symbol *symbol;

	map(world, 0, TEXT, world->size, "bare", world->text);
	symbol = image_symbol_at(world->image, 0, TEXT + world->add - world->text);
	assert_false(symbol->named);
	assert_true(symbol->is_region);
}

TEST_WITH(anonymous_memory_counts_from_its_beginning, begin, end)
{
	struct world *world = *state;
	struct image_section jit = {
		.addr = 0x7000, .size = 0x2000, .file_offset = 0x7000, .path = NULL, .object = "//anon"};

	assert_ok(image_map(world->image, 0, &jit));
	assert_string_equal(image_symbol_at(world->image, 0, 0x7abc)->name, "//anon+0x0");
	assert_string_equal(image_symbol_at(world->image, 0, 0x7abc)->object, "//anon");
	assert_true(image_symbol_at(world->image, 0, 0x7abc)->is_region);
}

/* ---- copies ---- */

TEST_WITH(a_patched_page_keeps_the_symbols_of_its_file, begin, end)
{
	struct world *world = *state;
	struct image_section copy = {.addr = TEXT, .size = 0x800, .path = "copy", .object = "a"};
	uint64_t add = TEXT + world->add - world->text;
	const struct image_section *copied;
	uint8_t page[0x800];

	memset(page, 0xcc, sizeof(page));
	fixture_write("copy", page, sizeof(page));
	map_program(world, 0, TEXT);
	assert_ok(image_overlay(world->image, &copy));
	assert_int_equal(image_version_cnt(world->image), 1);
	assert_int_equal(image_section_cnt(world->image, 0), 2);
	copied = image_section_from(world->image, 0, 0);
	assert_string_equal(copied->path, "copy");
	assert_string_equal(image_section_from(world->image, 0, copied->addr + copied->size)->path, "a");
	assert_string_equal(image_symbol_at(world->image, 0, add)->name, "ns::add(int)");
	assert_int_equal(image_symbol_at(world->image, 0, add)->start, add);
	assert_string_equal(image_section_at(world->image, 0, add)->path, "copy");
	/* The same mapping once more changes nothing. */
	map_program(world, 10, TEXT);
	assert_int_equal(image_version_cnt(world->image), 1);
	assert_string_equal(image_section_at(world->image, 0, add)->path, "copy");
}

/* A function that begins in the mapping and ends in the copy is one function. */
TEST_WITH(a_function_across_the_edge_of_a_copy_is_one, begin, end)
{
	struct world *world = *state;
	uint64_t add = TEXT + world->add - world->text;
	struct image_section copy = {.addr = add + 4, .size = 0x100, .path = "copy", .object = "a"};

	map_program(world, 0, TEXT);
	assert_ok(image_overlay(world->image, &copy));
	assert_ptr_equal(image_symbol_at(world->image, 0, add), image_symbol_at(world->image, 0, add + 4));
}

TEST_WITH(copies_of_anonymous_memory_have_no_symbols, begin, end)
{
	struct world *world = *state;
	struct image_section jit = {.addr = 0x7000, .size = 0x2000, .object = "//anon"};
	/* Even where the bytes look like a program. */
	struct image_section copy = {.addr = 0x8000, .size = 0x1000, .path = "a", .object = "//anon"};
	struct image_section stray = {.addr = 0x20000, .size = 0x1000, .path = "a", .object = "//anon"};

	assert_ok(image_map(world->image, 0, &jit));
	assert_ok(image_overlay(world->image, &copy));
	assert_ok(image_overlay(world->image, &stray));
	assert_string_equal(image_symbol_at(world->image, 0, 0x8123)->name, "//anon+0x0");
	assert_ptr_equal(image_symbol_at(world->image, 0, 0x7123), image_symbol_at(world->image, 0, 0x8123));
	assert_string_equal(image_symbol_at(world->image, 0, 0x20123)->name, "//anon+0x0");
	assert_string_equal(image_section_at(world->image, 0, 0x8000)->path, "a");
	assert_null(image_section_at(world->image, 0, 0x7000)->path);
	assert_null(image_section_at(world->image, 0, 0x9000));
	assert_null(image_section_at(world->image, 0, 0x6fff));
}

/* The address range of this process's mapping of that name; false where there is none. */
static bool own_mapping(const char *name, const char *permissions, struct image_section *ret_section)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4200], perms[8];
	bool found = false;

	while (!found && fgets(line, sizeof(line), maps)) {
		uint64_t end_addr;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx", &ret_section->addr, &end_addr, perms,
			   &ret_section->file_offset) != 4)
			continue;
		ret_section->size = end_addr - ret_section->addr;
		found = !strcmp(perms, permissions) && strstr(line, name);
	}
	fclose(maps);
	return found;
}

TEST_WITH(the_vdso_is_an_elf_image, begin, end)
{
	struct world *world = *state;
	struct image_section vdso = {.object = "[vdso]"};
	struct image_section copy;
	const struct symbol *symbol;
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	if (!own_mapping("[vdso]", "r-xp", &vdso))
		skip();
	fixture_write("vdso", (void *)vdso.addr, vdso.size);
	copy = vdso;
	copy.path = "vdso";
	assert_ok(image_map(world->image, 0, &vdso));
	assert_ok(image_overlay(world->image, &copy));
	file = fixture_open("vdso");
	symbol = image_symbol_at(world->image, 0, vdso.addr + fixture_find(file, "clock_gettime")->addr + 1);
	assert_string_equal(symbol->name, "clock_gettime");
	assert_string_equal(symbol->object, "[vdso]");
	assert_int_equal(symbol->start, vdso.addr + fixture_find(file, "clock_gettime")->addr);
	assert_ok(image_map(world->image, 10, &vdso));
	assert_int_equal(image_version_cnt(world->image), 1);
}

TEST_WITH(the_vdso_without_a_copy_has_no_symbols, begin, end)
{
	struct world *world = *state;
	struct image_section vdso = {.addr = 0x7fff0000, .size = 0x2000, .object = "[vdso]"};
	struct image_section copy = {
		.addr = 0x7fff0000, .size = 0x2000, .path = "garbage", .object = "[vdso]"};

	fixture_write("garbage", "\177ELF and no more", 16);
	assert_ok(image_map(world->image, 0, &vdso));
	assert_string_equal(image_symbol_at(world->image, 0, 0x7fff0123)->name, "[vdso]+0x0");
	assert_ok(image_exec(world->image, 10));
	vdso.addr = copy.addr = 0x6fff0000;
	assert_ok(image_map(world->image, 20, &vdso));
	assert_ok(image_overlay(world->image, &copy));
	assert_string_equal(image_symbol_at(world->image, 1, 0x6fff0123)->name, "[vdso]+0x0");
}

/* ---- a real process ---- */

TEST_WITH(this_process_finds_its_own_functions, begin, end)
{
	struct world *world = *state;
	CLEANUP(freep) char *libc = fixture_libc();
	struct image_section section = {.path = libc, .object = libc};
	/* The library's own: a sanitizer has one of that name, too. */
	uint64_t ip = (uint64_t)(uintptr_t)dlsym(dlopen("libc.so.6", RTLD_NOW), "puts");
	const struct symbol *symbol;

	if (!own_mapping("/libc.so.6", "r-xp", &section))
		skip();
	assert_ok(image_map(world->image, 0, &section));
	symbol = image_symbol_at(world->image, 0, ip + 1);
	assert_string_equal(symbol->name, "puts");
	assert_int_equal(symbol->start, ip);
}

/* ---- source lines ---- */

TEST_WITH(source_lines_are_found_when_asked_for, begin, end)
{
	struct world *world = *state;
	const struct symbol *symbol;

	map_program(world, 0, TEXT);
	symbol = image_symbol_at(world->image, 0, TEXT + world->main - world->text + 4);
	assert_null(symbol->file);
	assert_false(symbol->source_sought);
	image_symbol_source(symbol);
	assert_true(symbol->source_sought);
	assert_string_equal(strrchr(symbol->file, '/'), "/a.cc");
	assert_int_equal(symbol->line, 5);
	image_symbol_source(symbol);
	assert_int_equal(symbol->line, 5);
}

TEST_WITH(no_source_lines_leave_the_symbol_as_it_is, begin, end)
{
	struct world *world = *state;
	const struct symbol *symbol;

	map(world, 0, TEXT, world->size, "stripped", world->text);
	symbol = image_symbol_at(world->image, 0, TEXT + world->main - world->text);
	image_symbol_source(symbol);
	assert_null(symbol->file);
	assert_int_equal(symbol->line, 0);
	image_symbol_source(image_symbol_at(world->image, 0, 1));
}

/* ---- threads ---- */

enum { LOOKUPS = 0x20000 };

struct race {
	struct image *image;
	uint64_t start, size;
	const struct symbol **seen[4];
};

static int look_up(void *ctx, size_t thread)
{
	struct race *race = ctx;

	for (uint64_t i = 0; i < LOOKUPS; i++) {
		/* Each thread in an order of its own. */
		uint64_t slot = (i * (2 * thread + 12345) + thread) % LOOKUPS;
		const struct symbol *symbol =
			image_symbol_at(race->image, 0, race->start + slot * 16 % race->size);

		if (!symbol || !symbol->name)
			return -EINVAL;
		race->seen[thread][slot] = symbol;
		if (slot % 4096 == 0)
			image_symbol_source(symbol);
	}
	return 0;
}

TEST_WITH(threads_get_the_same_symbols, begin, end)
{
	struct world *world = *state;
	CLEANUP(freep) char *libc = fixture_libc();
	struct race race = {.image = world->image, .start = 0x7f0000000000};
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open(libc);
	uint64_t offset = offset_of(file, "puts") & ~0xfffull;

	race.size = 0x100000;
	map(world, 0, race.start, race.size, libc, offset);
	for (size_t i = 0; i < 4; i++)
		race.seen[i] = calloc(LOOKUPS, sizeof(struct symbol *));
	assert_ok(parallel_for(4, 4, look_up, &race));
	for (size_t i = 0; i < LOOKUPS; i++)
		for (size_t thread = 1; thread < 4; thread++)
			if (race.seen[0][i] && race.seen[thread][i])
				assert_ptr_equal(race.seen[0][i], race.seen[thread][i]);
	for (size_t i = 0; i < 4; i++)
		free(race.seen[i]);
}

TEST_MAIN(setup, teardown)
