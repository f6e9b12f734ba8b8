/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is to be decoded, by a name that can be opened more than once: a file or directory as it is; standard
 * input and pipes by a copy.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"

struct input_file {
	char *path; /* to be opened */
	int fd;	    /* of the copy, which has no name; -1: `path` is what was named */
};

/*
 * "-" is standard input. While a pipe has nothing to read, is_cancelled (may be NULL) is asked now and then.
 * 0, or with a sentence: -errno of reading or of writing the copy (in $TMPDIR or /var/tmp); -ECANCELED.
 */
int input_file_open(struct input_file *ret_input, const char *name, bool (*is_cancelled)(void));

/* The failure `err` with the name that the user gave in place of the copy's. Returns err. */
int input_file_fail(const struct input_file *input, const char *name, int err);

static inline void input_file_release(struct input_file *input)
{
	free(input->path);
	closep(&input->fd);
}
