/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of the commands that capture, as a child of their argp, and what these commands do with a
 * snapshot.
 */
#pragma once

#include <argp.h>

#include "capture/capture.h"
#include "cli/capture/trigger_options.h"
#include "cli/outputs.h"

struct capture_options {
	struct capture_config capture;
	struct trigger_options trigger;
	struct outputs outputs;
	const char *recording;	/* NULL: not kept */
	const char *result;	/* --json: a file for the result, or NULL */
	const char *filters[4]; /* storage of capture.filters */
};

#define CAPTURE_OPTIONS_DEFAULT                    \
	{                                          \
		.capture = {.max_bytes = 1 << 30}, \
	}

/*
 * Its input is a struct capture_options, set to the defaults. The end of the options also fills
 * capture.triggers and capture.until.
 */
extern const struct argp capture_argp;

/*
 * Lets the user pick triggers spelled "?", from the program or the first process. 0, or as pick_trigger().
 */
int capture_options_pick(struct capture_options *options);

/* Checks everything that can be refused before the capture. 0, or -errno with a sentence. */
int capture_options_check(struct capture_options *options);

/*
 * Records, says how the recording ended, keeps it (--keep-recording), and writes the trace and the result
 * (--json). `targets`: what is traced, "the program". 1: written; 0: nothing was written, because what was
 * waited for did not come, or because the front process died (cli/front.h); -errno with a sentence, and
 * *ret_exec_failed: the program could not be executed. *ret_capture, which the caller frees, is NULL if
 * nothing was begun or the front process died.
 */
int capture_and_write(const struct capture_options *options, const char *targets,
		      struct capture **ret_capture, bool *ret_exec_failed);
