/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/code.h"

#include <stdio.h>
#include <stdlib.h>

#include "assertions.h"

enum { VERSIONS = 200, SIZE = 16, KEPT_AT_MOST = 32 };

static size_t listings;

/* Each image has one section, a part of this program's file; the address says which image it is. */
static int list(void *ctx, size_t image, struct code_section **ret_sections, size_t *ret_cnt)
{
	struct code_section *section = calloc(1, sizeof(*section));

	*section = (struct code_section){
		.path = ctx, .size = SIZE, .addr = (image + 1) * SIZE, .file_offset = image * SIZE};
	*ret_sections = section;
	*ret_cnt = 1;
	listings++;
	return 0;
}

struct world {
	struct code code;
	struct code_image images[VERSIONS];
	struct code_version versions[VERSIONS];
	struct decoder_config config;
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->config = (struct decoder_config){.images = world->images,
						.image_cnt = VERSIONS,
						.list = list,
						.list_ctx = (void *)"/proc/self/exe",
						.versions = world->versions,
						.version_cnt = VERSIONS};
	for (size_t i = 0; i < VERSIONS; i++)
		world->versions[i] = (struct code_version){.start_tsc = i, .enable_tsc = i, .image = i};
	assert_ok(decoder_cache_new(&world->config.cache));
	assert_ok(code_init(&world->code, &world->config));
	listings = 0;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	code_release(&world->code);
	decoder_cache_free(world->config.cache);
	free(world);
	return 0;
}

static void assert_is(const struct code_image_set *set, size_t image)
{
	const struct cached_section *section = code_section_at(set, (image + 1) * SIZE);

	assert_non_null(section);
	assert_int_equal(section->wanted.file_offset, image * SIZE);
	assert_null(code_section_at(set, (image + 2) * SIZE));
}

TEST_WITH(of_many_images_some_are_kept, setup, teardown)
{
	struct world *world = *state;
	const struct code_image_set *set = NULL, *held = NULL;

	assert_ok(code_take(&world->code, 3, &held));
	for (int round = 1; round <= 2; round++) {
		for (size_t i = 0; i < VERSIONS; i++) {
			assert_ok(code_take(&world->code, i, &set));
			assert_is(set, i);
			assert_in_range(world->code.made_cnt, 1, KEPT_AT_MOST);
		}
	}
	assert_is(held, 3);
	assert_in_range(listings, VERSIONS + 1, 2 * VERSIONS - 1);
	code_give(&world->code, set);
	code_give(&world->code, held);
}

TEST_WITH(what_was_given_back_just_now_is_still_there, setup, teardown)
{
	struct world *world = *state;
	const struct code_image_set *set = NULL;

	for (size_t i = 0; i < 100; i++)
		assert_ok(code_take(&world->code, i % 3, &set));
	assert_int_equal(listings, 3);
	assert_is(set, 0);
	code_give(&world->code, set);
}

TEST_WITH(a_hold_has_the_image_of_its_version, setup, teardown)
{
	struct world *world = *state;
	struct code_hold hold = {.code = &world->code};

	assert_int_equal(code_hold(&hold, 1), 1);
	assert_int_equal(code_hold(&hold, 1), 0);
	assert_is(hold.set, 1);
	for (size_t i = 0; i < VERSIONS; i++) {
		assert_int_equal(code_hold(&hold, i), 1);
		assert_non_null(hold.image);
		assert_is(hold.set, i);
	}
	code_let_go(&hold);
	for (size_t i = 0; i < world->code.made_cnt; i++)
		assert_int_equal(world->code.sets[world->code.made[i]].users, 0);
}

static size_t mapping_cnt(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	size_t cnt = 0;

	assert_non_null(file);
	for (int c; (c = fgetc(file)) != EOF;)
		cnt += c == '\n';
	fclose(file);
	return cnt;
}

/* The kernel allows a process some 65,000 mappings (vm.max_map_count). */
TEST_WITH(a_file_is_mapped_once, setup, teardown)
{
	struct world *world = *state;
	const struct code_image_set *set = NULL;
	size_t before = mapping_cnt();

	for (size_t i = 0; i < VERSIONS; i++)
		assert_ok(code_take(&world->code, i, &set));
	assert_in_range(mapping_cnt(), before, before + VERSIONS / 10);
	code_give(&world->code, set);
}

TEST_MAIN(NULL, NULL)
