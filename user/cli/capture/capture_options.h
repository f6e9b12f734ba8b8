/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of the commands that capture, as a child of their argp; and what these commands do alike with
 * what was captured.
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
	const char *result;	/* --json: a file for how it ended, or NULL */
	const char *filters[4]; /* what capture.filters points to */
};

#define CAPTURE_OPTIONS_DEFAULT                    \
	{                                          \
		.capture = {.max_bytes = 1 << 30}, \
	}

/*
 * Its input is a struct capture_options, set to the defaults. When the options end, capture.triggers and
 * capture.until are filled, too.
 */
extern const struct argp capture_argp;

/*
 * Triggers spelled "?" are picked on the terminal, in the program or the first process. 0, or as
 * pick_trigger().
 */
int capture_options_pick(struct capture_options *options);

/* What can be refused is refused before anything is captured. 0, or -errno with a sentence. */
int capture_options_check(struct capture_options *options);

/*
 * Says how the recording ended. `targets`: what is traced, "the program"; wait_status: of its end, where that
 * ended the recording.
 */
void say_capture_end(const struct capture_options *options, const struct capture *capture,
		     const struct snapshot *snapshot, enum capture_end end, const char *targets,
		     int wait_status);

/*
 * The user asked for what leads up to a crash, and there was none: the trace of the last one is not
 * overwritten.
 */
bool capture_is_unwanted(const struct capture_options *options, enum capture_end end);

/*
 * Keeps the recording, if that is wanted, and writes the trace, and the result, if --json asks for it. 0, or
 * -errno with a sentence.
 */
int save_and_decode(const struct capture_options *options, struct snapshot *snapshot,
		    const struct capture *capture, enum capture_end end);
