/* SPDX-License-Identifier: BSD-2-Clause */
/* -o and --format: the files that a trace is written to, as a child of the argp of each command that writes some. */
#pragma once

#include <argp.h>

#include "pipeline/decode.h"

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

/* Finds the format of each; without any -o it is trace.fxt.gz. 0, or -EINVAL with a sentence. */
int outputs_check(struct outputs *outputs);

/* Whether what is read would be replaced by what is written: -EINVAL with a sentence, else 0. */
int outputs_check_input(const struct outputs *outputs, const char *input);

/*
 * Writes the timeline to each, and says so in a line for each. One that fails does not keep the others from being written. 0, or -errno with the
 * sentence of the first that failed; those of others are said.
 */
int outputs_write(const struct outputs *outputs, const struct decoded *decoded);

/* The same of a timeline of whatever origin; `holds` says in that line what is in it. */
int outputs_write_timeline(const struct outputs *outputs, const struct timeline *timeline, const char *holds);
