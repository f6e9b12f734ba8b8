/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -o and --format: the files to write a trace to. A child of the argp of each command that writes traces.
 */
#pragma once

#include <argp.h>

#include "rebuild/decode.h"

struct sink;

enum { OUTPUTS_MAX = 16 };

struct outputs {
	const char *paths[OUTPUTS_MAX];
	const struct sink *sinks[OUTPUTS_MAX]; /* set by outputs_check() */
	size_t cnt;
	const char *format; /* NULL: suffixes only */
	bool split;	    /* each snapshot goes to a file of its own: output_part_path() */
};

/* Its input is a struct outputs, all 0. */
extern const struct argp outputs_argp;

/*
 * Finds the format of each; without -o there is one, trace.fxt.gz. 0, or with a sentence: -EINVAL; -EEXIST as
 * outputs_check_default().
 */
int outputs_check(struct outputs *outputs);

/*
 * A file that the user did not name is replaced only if it is empty or was written by trailcam. 0, or -EEXIST
 * with a sentence.
 */
int outputs_check_default(const char *path, bool is_ours);

/*
 * -EINVAL with a sentence ("is what is VERB") if `output` would replace the file `input`; else 0.
 */
int output_check_input(const char *output, const char *input, const char *verb);

/* The same for all outputs and the input, a file or a recording's directory. */
int outputs_check_input(const struct outputs *outputs, const char *input);

/*
 * The name of the file for the nth snapshot, from 0 on, of `cnt`: the output's with a number before its
 * suffix, "x-07.fxt.gz". NULL: out of memory. The caller frees it.
 */
char *output_part_path(const struct outputs *outputs, size_t output, size_t nth, size_t cnt);

/*
 * Writes the timeline to each, and prints a line for each. If one fails, the others are still written. 0, or
 * -errno with the sentence of the first failure; later ones are printed.
 */
int outputs_write(const struct outputs *outputs, struct decoded *decoded);

/* The same for any timeline; `holds` describes its content in that line. */
int outputs_write_timeline(const struct outputs *outputs, const struct timeline *timeline, const char *holds);
