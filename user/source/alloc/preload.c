/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/alloc/preload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/rights.h"
#include "elf/elf_file.h"
#include "process/launch.h"

#define LIBRARY "libtrailcam-alloc.so"

static int find_library(char **ret_path)
{
	static const char *const places[] = {"", "../lib/trailcam/"};
	CLEANUP(freep) char *program = realpath("/proc/self/exe", NULL);
	char *slash = program ? strrchr(program, '/') : NULL;

	if (!slash)
		return fail_errno(-errno, "cannot read /proc/self/exe");
	slash[1] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		CLEANUP(freep) char *path = NULL;

		if (asprintf(&path, "%s%s" LIBRARY, program, places[i]) < 0)
			return -ENOMEM;
		*ret_path = realpath(path, NULL);
		if (*ret_path)
			return 0;
	}
	return fail(-ENOENT, LIBRARY " is neither in %s nor in %s%s", program, program, places[1]);
}

static int check_program(const char *exe)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	int err = elf_file_open(&file, exe);

	if (err)
		return err;
	if (elf_file_is_static(file))
		return fail(-ENOTSUP, "%s is linked statically, so it loads no library", exe);
	/* The dynamic loader ignores the environment then. */
	if (launch_gains_rights(exe))
		return fail(-ENOTSUP,
			    "%s runs with privileges that its user does not have, so it preloads no library",
			    exe);
	return 0;
}

/* Before those that are preloaded already: an allocator may be among them. */
static int set_environment(const char *library, uint64_t interval_bytes)
{
	const char *others = rights_getenv("LD_PRELOAD");
	CLEANUP(freep) char *list = NULL;
	char interval[24];

	snprintf(interval, sizeof(interval), "%" PRIu64, interval_bytes);
	if (asprintf(&list, "%s%s%s", library, others && *others ? ":" : "", others ? others : "") < 0)
		return -ENOMEM;
	if (setenv("LD_PRELOAD", list, 1) || setenv("TRAILCAM_ALLOC_INTERVAL", interval, 1))
		return -ENOMEM;
	return 0;
}

int alloc_preload(const char *exe, uint64_t interval_bytes, char **ret_library)
{
	CLEANUP(freep) char *library = NULL;
	int err = check_program(exe);

	if (!err)
		err = find_library(&library);
	if (!err)
		err = set_environment(library, interval_bytes);
	if (!err)
		*ret_library = TAKE_PTR(library);
	return err;
}
