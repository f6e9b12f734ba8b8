/* SPDX-License-Identifier: BSD-2-Clause */
#include "history/late_code.h"

#include <string.h>
#include <sys/mman.h>

#include "assertions.h"

enum { PAGE = 0x1000, JIT = 0x7000 };

struct world {
	struct snapshot *snapshot;
	struct image_objects *objects;
	struct image *image;
	struct late_code late;
};

/* A file in memory, as a copy of that name. */
static struct code_copy *add_copy(struct snapshot *snapshot, const char *name, uint64_t from_ns,
				  const void *bytes, size_t size)
{
	struct code_copy *copy = snapshot_add_copy(snapshot);
	int fd = memfd_create("copy", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	*copy = (struct code_copy){
		.pid = 1, .addr = JIT, .size = size, .from_ns = from_ns, .name = strdup(name)};
	assert_true(asprintf(&copy->path, "/proc/self/fd/%d", fd) > 0);
	return copy;
}

static void add_page(struct snapshot *snapshot, uint64_t from_ns, int fill)
{
	uint8_t page[PAGE];

	memset(page, fill, sizeof(page));
	add_copy(snapshot, "//anon", from_ns, page, sizeof(page));
}

/* A trace that begins at 100 ns. */
static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_ok(snapshot_new(&world->snapshot));
	world->snapshot->clock.mult = 1;
	snapshot_add_aux(world->snapshot)->ref_tsc = 100;
	assert_ok(image_objects_new(&world->objects));
	assert_ok(image_new(&world->image, world->objects));
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	late_code_release(&world->late);
	image_free(world->image);
	image_objects_free(world->objects);
	snapshot_free(world->snapshot);
	free(world);
	return 0;
}

static void map(struct world *world, uint64_t time_ns)
{
	struct sideband_mapping mapping = {.addr = JIT, .size = PAGE, .name = "//anon"};
	struct image_section section = {.addr = JIT, .size = PAGE, .object = "//anon"};

	assert_ok(image_map(world->image, time_ns, &section));
	assert_ok(late_code_lay_again(&world->late, 1, &mapping, world->image));
}

static void lay_until(struct world *world, uint64_t until_ns)
{
	const struct late_section *next;

	while ((next = late_code_next(&world->late, until_ns)))
		assert_ok(late_code_lay(&world->late, next, world->image));
}

/* -1: nothing is known. */
static int byte_at(struct world *world, uint64_t time_ns, uint64_t addr)
{
	const struct image_section *section =
		image_section_at(world->image, image_version_at(world->image, time_ns), addr);
	CLEANUP(fclosep) FILE *file = section && section->path ? fopen(section->path, "re") : NULL;

	if (!file)
		return -1;
	assert_int_equal(fseek(file, (long)(section->file_offset + addr - section->addr), SEEK_SET), 0);
	return fgetc(file);
}

TEST_WITH(a_changed_page_counts_from_its_change_on, setup, teardown)
{
	struct world *world = *state;

	add_page(world->snapshot, 300, 3);
	add_page(world->snapshot, 200, 2);
	add_page(world->snapshot, 0, 1); /* for whoever lays what a mapping begins with */
	assert_ok(late_code_read(&world->late, world->snapshot));
	map(world, 10);
	lay_until(world, 250);
	lay_until(world, UINT64_MAX);
	assert_int_equal(byte_at(world, 199, JIT), -1);
	assert_int_equal(byte_at(world, 200, JIT), 2);
	assert_int_equal(byte_at(world, 299, JIT), 2);
	assert_int_equal(byte_at(world, 300, JIT), 3);
}

TEST_WITH(a_page_whose_mapping_is_gone_is_left_out, setup, teardown)
{
	struct world *world = *state;

	add_page(world->snapshot, 200, 2);
	assert_ok(late_code_read(&world->late, world->snapshot));
	map(world, 10);
	assert_ok(image_exec(world->image, 150));
	lay_until(world, UINT64_MAX);
	assert_int_equal(byte_at(world, 200, JIT), -1);
}

/* Three functions, the third in place of the first. */
static void add_dump(struct snapshot *snapshot)
{
	struct load {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, code_size, index;
		char name[8];
		uint8_t code[16];
	};
	const struct {
		uint32_t magic, version, size, mach, pad, pid;
		uint64_t time, flags;
		struct load loads[3];
	} dump = {0x4a695444,
		  1,
		  40,
		  62,
		  0,
		  1,
		  0,
		  0,
		  {{0, 80, 50, 1, 1, 0, JIT, 16, 1, "first", {11}},
		   {0, 80, 200, 1, 1, 0, JIT + 64, 16, 2, "second", {12}},
		   {0, 80, 300, 1, 1, 0, JIT, 16, 3, "third", {13}}}};

	add_copy(snapshot, JIT_DUMP, 0, &dump, sizeof(dump));
}

TEST_WITH(a_jitdump_has_code_and_names, setup, teardown)
{
	struct world *world = *state;

	add_dump(world->snapshot);
	assert_ok(late_code_read(&world->late, world->snapshot));
	lay_until(world, 60);
	map(world, 60); /* written of before it was executable */
	lay_until(world, UINT64_MAX);
	assert_int_equal(world->late.jit_cnt, 1);
	assert_ok(image_set_jit(world->image, &world->late.jits[0].symbols));
	assert_int_equal(byte_at(world, 250, JIT), 11);
	assert_int_equal(byte_at(world, 250, JIT + 64), 12);
	assert_int_equal(byte_at(world, 250, JIT + 32), -1);
	assert_int_equal(byte_at(world, 300, JIT), 13);
	assert_int_equal(byte_at(world, 300, JIT + 64), 12);
	assert_string_equal(image_symbol_at(world->image, image_version_at(world->image, 250), JIT)->name,
			    "first");
	assert_string_equal(image_symbol_at(world->image, image_version_at(world->image, 300), JIT)->name,
			    "third");
}

TEST_WITH(what_ran_in_a_translated_program_is_not_replaced, setup, teardown)
{
	struct world *world = *state;

	add_dump(world->snapshot);
	add_page(world->snapshot, 120, 9);
	world->snapshot->copies[1].has_run = true;
	assert_ok(late_code_read(&world->late, world->snapshot));
	map(world, 60);
	lay_until(world, UINT64_MAX);
	assert_int_equal(byte_at(world, 250, JIT), 9);
	assert_int_equal(byte_at(world, 300, JIT), 9);
	assert_int_equal(world->late.jits[0].symbols.cnt, 3);
}

TEST_MAIN(NULL, NULL)
