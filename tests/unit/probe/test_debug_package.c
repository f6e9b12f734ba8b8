/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "probe/debug_package.h"

static char dir[] = "/tmp/trailcam-package-XXXXXX";

static void list(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void assert_package(const char *path, const char *expected)
{
	CLEANUP(freep) char *package = debug_package_find(path, dir);

	if (expected)
		assert_string_equal(package ? package : "", expected);
	else
		assert_null(package);
}

TEST(is_the_one_that_lists_the_file)
{
	char own[256];

	snprintf(own, sizeof(own), "/.\n/x%s/tool\n%s/tool2\n%s/tool/more", dir, dir, dir);
	list("near.list", own);
	assert_package("tool", NULL);
	list("tool.md5sums", own);
	snprintf(own, sizeof(own), "/.\n%s/tool", dir);
	list("tools:amd64.list", own);
	assert_package("tool", "tools-dbgsym");
	assert_package("no-such-file", NULL);
	assert_int_equal(symlink("tool", "link"), 0);
	assert_package("link", "tools-dbgsym");
}

TEST(of_merged_directories)
{
	list("coreutils.list", "/bin/true\n");
	assert_package("/usr/bin/true", "coreutils-dbgsym");
}

static int enter(void **state)
{
	(void)state;
	return !mkdtemp(dir) || chdir(dir) || (fclose(fopen("tool", "we")), 0);
}

static int leave(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") || system(command);
}

TEST_MAIN(enter, leave)
