/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that was written before: its calls have their times, so nothing is left to rebuild. */
#include "input/fxt_read.h"
#include "rebuild/decoded.h"
#include "rebuild/input.h"

static void free_names(void *names)
{
	fxt_names_free(names);
}

static int read_fxt(struct decoded *decoded, const char *path, const struct decode_config *config)
{
	struct fxt_names *names = NULL;
	struct timeline *timeline = NULL;
	int err = fxt_read(&timeline, &names, path);

	(void)config;
	if (err)
		return err;
	timeline_free(decoded->timeline);
	decoded->timeline = timeline;
	decoded->symbols = names;
	decoded->free_symbols = free_names;
	return 0;
}

const struct input input_fxt = {.name = "FXT", .is = fxt_is, .read = read_fxt};
