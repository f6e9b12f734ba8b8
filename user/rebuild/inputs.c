/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/input.h"

#include "base/array.h"
#include "base/error.h"
#include "input/fxt_read.h"
#include "rebuild/decoded.h"

/* The last serves for what no other knows, and says what is wrong with it. */
static const struct input *const inputs[] = {&input_fxt, &input_script, &input_recording};

const struct input *input_find(const char *path)
{
	size_t i = 0;

	while (inputs[i]->is && !inputs[i]->is(path))
		i++;
	return inputs[i];
}

/* ---- FXT ---- */

static void free_names(void *names)
{
	fxt_names_free(names);
}

/* Nothing is left to rebuild. */
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
