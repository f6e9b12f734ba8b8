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
 * Prints how the recording ended. `targets`: what was traced, "the program"; wait_status: that of its end, if
 * that ended the recording.
 */
void say_capture_end(const struct capture_options *options, const struct capture *capture,
		     const struct snapshot *snapshot, enum capture_end end, const char *targets,
		     int wait_status);

/*
 * Whether the user asked for what leads up to a crash, and there was none: then no trace is written, so that
 * an earlier crash's trace is kept.
 */
bool capture_is_unwanted(const struct capture_options *options, enum capture_end end);

/*
 * Keeps the recording (--keep-recording), and writes the trace and the result (--json). 0, or -errno with a
 * sentence.
 */
int save_and_decode(const struct capture_options *options, struct snapshot *snapshot,
		    const struct capture *capture, enum capture_end end);
