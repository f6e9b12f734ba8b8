/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "source/pt/pt_caps.h"

static char dir[] = "/tmp/trailcam-caps-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* As on a Skylake client (values of the sysfs files there). */
static int make_sysfs(void **state)
{
	char caps[128];

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(caps, sizeof(caps), "%s/caps", dir);
	mkdir(caps, 0700);
	put("type", "8\n");
	put("max_nonturbo_ratio", "24\n");
	put("tsc_art_ratio", "216:2\n");
	put("caps/psb_cyc", "1\n");
	put("caps/mtc", "1\n");
	put("caps/mtc_periods", "249\n");
	put("caps/cycle_thresholds", "3f\n");
	put("caps/psb_periods", "3f\n");
	put("caps/num_address_ranges", "2\n");
	return 0;
}

static int remove_sysfs(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct pt_caps skylake(void)
{
	struct pt_caps caps;

	assert_ok(pt_caps_read(&caps, dir));
	return caps;
}

static uint64_t config(const struct pt_caps *caps, const char *text)
{
	struct pt_timing timing;
	uint64_t value;

	assert_ok(pt_timing_parse(&timing, text));
	assert_ok(pt_caps_config(caps, &timing, 4 << 20, &value));
	return value;
}

TEST(test_read)
{
	struct pt_caps caps = skylake();

	assert_int_equal(caps.type, 8);
	assert_true(caps.psb_cyc && caps.mtc);
	assert_int_equal(caps.mtc_periods, 0x249);
	assert_int_equal(caps.address_ranges, 2);
	assert_int_equal(caps.max_nonturbo_ratio, 24);
	assert_int_equal(caps.tsc_ctc_ratio_n, 216);
	assert_int_equal(caps.tsc_ctc_ratio_d, 2);
	assert_err(pt_caps_read(&caps, "/nowhere"), -ENOTSUP, "no Intel PT");
}

/*
 * The bits are those of the kernel's format files: cyc 1, mtc 9, tsc 10, noretcomp 11, branch 13, mtc_period
 * 14-17, cyc_thresh 19-22, psb_period 24-27.
 */
TEST(test_config)
{
	struct pt_caps caps = skylake();

	/* perf's own default is 0x300e601 */
	assert_int_equal(config(&caps, "low"), 0x300e601);
	assert_int_equal(config(&caps, "normal"), 0x3002601 | 1 << 1 | 1 << 19);
	assert_int_equal(config(&caps, "high"), 0x3002e01 | 1 << 1 | 1 << 19);
	assert_int_equal(config(&caps, "custom:cyc=0,mtc_period=6,psb_period=0"), 0x2601 | 6 << 14);
	assert_int_equal(config(&caps, "custom:mtc=0,cyc_thresh=4"), 0x3002401 | 1 << 1 | 4 << 19);
	caps.ptwrite = true;
	assert_int_equal(config(&caps, "low"), 0x300e601 | 1 << 12 | 1 << 5);
}

/* A processor of the first generation has neither cycles nor a choice of periods. */
TEST(test_first_generation)
{
	struct pt_caps caps = {.type = 8};
	struct pt_timing timing;
	uint64_t value;

	assert_int_equal(config(&caps, "normal"), 0x2401);
	assert_ok(pt_timing_parse(&timing, "custom:cyc=1"));
	assert_err(pt_caps_config(&caps, &timing, 4096, &value), -ENOTSUP, "no cyc");
	assert_ok(pt_timing_parse(&timing, "custom:psb_period=2"));
	assert_err(pt_caps_config(&caps, &timing, 4096, &value), -ENOTSUP, "psb_period=2");
}

/* Wherever the ring is cut, a PSB must be in it. */
TEST(test_small_rings)
{
	struct pt_caps caps = skylake();
	struct pt_timing timing;

	assert_ok(pt_timing_parse(&timing, "low"));
	for (size_t size = 4096; size <= 4 << 20; size *= 2) {
		uint64_t value, psb;

		assert_ok(pt_caps_config(&caps, &timing, size, &value));
		psb = 2048ull << (value >> 24 & 15);
		assert_true(psb == 2048 || size / psb >= 8);
		assert_true(psb <= 16384);
	}
}

TEST(test_refusals)
{
	static const char *const bad[] = {"",
					  "fast",
					  "custom:cyc",
					  "custom:cyc=",
					  "custom:cyc=16",
					  "custom:cyc=1;mtc=1",
					  "custom:psb=1",
					  "custom:cyc=-1",
					  "custom:cyc=1,,",
					  "custom: cyc=1"};
	struct pt_caps caps = skylake();
	struct pt_timing timing;
	uint64_t value;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_err(pt_timing_parse(&timing, bad[i]), -EINVAL, "timer resolution");
	assert_ok(pt_timing_parse(&timing, "custom:mtc_period=1"));
	assert_err(pt_caps_config(&caps, &timing, 4096, &value), -ENOTSUP, "it has: 0 3 6 9");
}

TEST_MAIN(make_sysfs, remove_sysfs)
