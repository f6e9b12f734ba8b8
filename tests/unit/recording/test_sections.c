/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "recording/recording.h"

static const struct call calls[] = {
	{.time_ns = 1000, .ip = 0x401000, .pid = 1, .tid = 2},
	{.time_ns = 2000, .ip = 0x401000, .pid = 1, .tid = 2, .edge = CALL_END},
};

static const struct probe_place places[] = {
	{.trigger = 1, .file_offset = 0x1234, .path = (char *)"/usr/bin/toy", .function = (char *)"play"},
	{.trigger = 0, .file_offset = 0x10, .path = (char *)"/lib/toys.so", .function = (char *)""},
};

static const struct gap_reason reasons[] = {
	{.tid = 7, .time_ns = 1000, .text = (char *)"it is tired"},
	{.tid = 8, .time_ns = 900, .text = (char *)""},
};

/* The name of the section, and its version. */
static const char header[] = "calls\0\0\0\0\0\0\0\0\0\0\0\1";

static char dir[] = "/tmp/trailcam-sections-XXXXXX";
static char path[64], data[80];

static int save(void **state)
{
	struct snapshot *snapshot;

	(void)state;
	assert_ok(snapshot_new(&snapshot));
	snapshot->source = strdup("toy");
	snapshot->command = strdup("toy");
	snapshot->clock.mult = 1;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_ok(ARRAY_PUSH(snapshot->calls, snapshot->call_cnt, snapshot->call_cap, calls[i]));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *name = strdup("trigger");

		assert_ok(ARRAY_PUSH(snapshot->triggers, snapshot->trigger_cnt, snapshot->trigger_cap, name));
		assert_ok(snapshot_add_place(snapshot, &places[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		assert_ok(snapshot_add_gap_reason(snapshot, &reasons[i]));
	assert_ok(recording_save(snapshot, path));
	snapshot_free(snapshot);
	return 0;
}

/* Writes over what stands `at` bytes behind the beginning of a header. */
static void patch_at(const char *section, size_t section_size, size_t at, char byte)
{
	int fd = open(data, O_RDWR | O_CLOEXEC);
	struct stat st;
	char *bytes, *found;

	assert_true(fd >= 0 && !fstat(fd, &st));
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	found = memmem(bytes, (size_t)st.st_size, section, section_size);
	assert_non_null(found);
	assert_int_equal(pwrite(fd, &byte, 1, found - bytes + (off_t)at), 1);
	free(bytes);
	close(fd);
}

static void patch(size_t at, char byte)
{
	patch_at(header, sizeof(header) - 1, at, byte);
}

TEST_WITH(test_places_come_back, save, NULL)
{
	struct snapshot *loaded;

	assert_ok(recording_load(&loaded, path));
	assert_int_equal(loaded->place_cnt, ARRAY_SIZE(places));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		assert_int_equal(loaded->places[i].trigger, places[i].trigger);
		assert_int_equal(loaded->places[i].file_offset, places[i].file_offset);
		assert_string_equal(loaded->places[i].path, places[i].path);
		assert_string_equal(loaded->places[i].function, places[i].function);
	}
	snapshot_free(loaded);
}

/* A trigger that there is not, a text beyond the end, an end in the middle of a place. */
TEST(test_damaged_places)
{
	static const struct {
		size_t at;
		char byte;
	} damages[] = {{40, 2}, {44, 127}, {24, 23}};
	struct snapshot *loaded;

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		save(state);
		patch_at("places\0\0\0\0\0\0\0\0\0\0\1", 17, damages[i].at, damages[i].byte);
		assert_err(recording_load(&loaded, path), -EBADMSG, "damaged");
	}
}

TEST_WITH(test_gap_reasons_come_back, save, NULL)
{
	struct snapshot *loaded;

	assert_ok(recording_load(&loaded, path));
	assert_int_equal(loaded->gap_reason_cnt, ARRAY_SIZE(reasons));
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		assert_int_equal(loaded->gap_reasons[i].tid, reasons[i].tid);
		assert_int_equal(loaded->gap_reasons[i].time_ns, reasons[i].time_ns);
		assert_string_equal(loaded->gap_reasons[i].text, reasons[i].text);
	}
	snapshot_free(loaded);
}

/* A text beyond the end, an end in the middle of a reason. */
TEST(test_damaged_gap_reasons)
{
	static const struct {
		size_t at;
		char byte;
	} damages[] = {{44, 127}, {24, 15}};
	struct snapshot *loaded;

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		save(state);
		patch_at("gap_reasons\0\0\0\0\0\1", 17, damages[i].at, damages[i].byte);
		assert_err(recording_load(&loaded, path), -EBADMSG, "damaged");
	}
}

TEST_WITH(test_calls_come_back, save, NULL)
{
	struct snapshot *loaded;

	assert_ok(recording_load(&loaded, path));
	assert_int_equal(loaded->call_cnt, ARRAY_SIZE(calls));
	assert_memory_equal(loaded->calls, calls, sizeof(calls));
	snapshot_free(loaded);
}

/* One that another trailcam made, of a source that is unknown here. */
TEST_WITH(test_an_unknown_section_is_passed_over, save, NULL)
{
	struct snapshot *loaded;

	patch(0, 'h');
	assert_ok(recording_load(&loaded, path));
	assert_int_equal(loaded->call_cnt, 0);
	assert_string_equal(loaded->command, "toy");
	snapshot_free(loaded);
}

TEST_WITH(test_another_version_is_named, save, NULL)
{
	struct snapshot *loaded;

	patch(16, 2);
	assert_err(recording_load(&loaded, path), -ENOTSUP,
		   "by a newer trailcam (calls version 2; this one knows 1)");
	assert_ok(recording_check_target(path));
}

/* A size beyond the end, calls that are cut. */
TEST_WITH(test_damage, save, NULL)
{
	struct snapshot *loaded;

	patch(24, 127);
	assert_err(recording_load(&loaded, path), -EBADMSG, "damaged");
	patch(24, 31);
	assert_err(recording_load(&loaded, path), -EBADMSG, "damaged");
}

int main(void)
{
	int failed;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/rec", dir);
	snprintf(data, sizeof(data), "%s/data", path);
	failed = tests_run(NULL, NULL);
	unlink(data);
	rmdir(path);
	rmdir(dir);
	return failed;
}
