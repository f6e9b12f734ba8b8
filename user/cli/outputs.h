/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -o and --format: the files that a trace is written to, as a child of the argp of each command that writes
 * some.
 */
#pragma once

#include <argp.h>

#include "rebuild/decode.h"

struct sink;

enum { OUTPUTS_MAX = 16 };

struct outputs {
	const char *paths[OUTPUTS_MAX];
	const struct sink *sinks[OUTPUTS_MAX]; /* outputs_check() finds them */
	size_t cnt;
	const char *format; /* NULL: suffixes only */
};

/* Its input is a struct outputs, all 0. */
extern const struct argp outputs_argp;

/*
 * Finds the format of each; without any -o it is trace.fxt.gz. 0, or with a sentence: -EINVAL; -EEXIST as
 * outputs_check_default().
 */
int outputs_check(struct outputs *outputs);

/*
 * A file that the user did not name is replaced only if it is empty or one of ours: -EEXIST with a sentence
 * if it is not, else 0.
 */
int outputs_check_default(const char *path, bool is_ours);

/*
 * Whether the file `input` would be replaced by `output`: -EINVAL with a sentence ("is what is VERB"), else
 * 0.
 */
int output_check_input(const char *output, const char *input, const char *verb);

/* The same of all outputs and what is read, a file or a recording's directory. */
int outputs_check_input(const struct outputs *outputs, const char *input);

/*
 * Writes the timeline to each, and says so in a line for each. One that fails does not keep the others from
 * being written. 0, or -errno with the sentence of the first that failed; those of others are said.
 */
int outputs_write(const struct outputs *outputs, struct decoded *decoded);

/* The same of a timeline of whatever origin; `holds` says in that line what is in it. */
int outputs_write_timeline(const struct outputs *outputs, const struct timeline *timeline, const char *holds);
