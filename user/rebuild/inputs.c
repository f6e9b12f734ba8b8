/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/input.h"

/* The last serves for what no other knows, and says what is wrong with it. */
static const struct input *const inputs[] = {&input_fxt, &input_memtrace, &input_script, &input_recording};

const struct input *input_find(const char *path)
{
	size_t i = 0;

	while (inputs[i]->is && !inputs[i]->is(path))
		i++;
	return inputs[i];
}
