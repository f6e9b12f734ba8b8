/* SPDX-License-Identifier: BSD-2-Clause */
/* Codes of this program's own places. */
#include "ctf/frame_codes.h"

#include <unistd.h>

#include "assertions.h"
#include "base/array.h"
#include "image/image.h"
#include "process/maps.h"

TEST(test_wrappers)
{
	static const char *const wrappers[] = {
		"malloc",
		"operator new(unsigned long)",
		"operator new[](unsigned long, std::nothrow_t const&)",
		"g_malloc0_n",
		"std::__new_allocator<int>::allocate(unsigned long, void const*)",
		"std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)",
	};
	static const char *const others[] = {"main",
					     "mallocate",
					     "operator delete(void*)",
					     "allocator::new_one",
					     "std::vector<int>::push_back(int)",
					     "strdup"};

	for (size_t i = 0; i < ARRAY_SIZE(wrappers); i++)
		assert_true(frame_is_wrapper_name(wrappers[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(frame_is_wrapper_name(others[i]));
}

/* One function of ours; the place that follows a call in it. */
static uint64_t __attribute__((noinline)) here(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

TEST(test_places)
{
	const struct memtrace_location *locations;
	struct image_objects *objects;
	struct frame_codes *codes;
	struct image *image;
	struct maps maps;
	uint64_t place = here(), code;
	size_t version;

	assert_ok(maps_read(&maps, getpid()));
	assert_ok(image_objects_new(&objects));
	assert_ok(image_new(&image, objects));
	for (uint64_t shift = 0, i = 0; shift < 2; shift++) {
		/* The second time, everything has been mapped elsewhere. */
		assert_ok(image_exec(image, shift));
		for (i = 0; i < maps.cnt; i++) {
			const struct sideband_mapping *mapping = &maps.items[i].mapping;
			struct image_section section = {
				mapping->addr + (shift << 32), mapping->size, mapping->file_offset,
				mapping->name[0] == '/' ? mapping->name : NULL, mapping->name};

			assert_ok(image_map(image, shift, &section));
		}
	}
	version = image_version_at(image, 1);
	assert_ok(frame_codes_new(&codes, image, objects));
	code = frame_codes_get(codes, image_version_at(image, 0), place);
	assert_int_equal(code, 1);
	assert_int_equal(frame_codes_get(codes, image_version_at(image, 0), place), code);
	assert_int_equal(frame_codes_get(codes, version, place + (1ull << 32)), code);
	assert_int_equal(frame_codes_get(codes, version, place + (1ull << 32) + 1), code + 1);
	assert_false(frame_codes_is_wrapper(codes, code));
	assert_true(frame_codes_locate(codes, code, &locations) > 0);
	assert_string_equal(locations[0].function, "test_places");
	assert_non_null(strstr(locations[0].file, "test_frame_codes.c"));
	assert_true(locations[0].line > 0);

	/* Nothing is there: a place of its own, with a name. */
	code = frame_codes_get(codes, version, 0x1234);
	assert_int_equal(frame_codes_locate(codes, code, &locations), 1);
	assert_string_equal(locations[0].function, "[unknown]");
	frame_codes_free(codes);
	image_free(image);
	image_objects_free(objects);
	maps_release(&maps);
}

TEST_MAIN(NULL, NULL)
