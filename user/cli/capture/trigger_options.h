/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options that say when the recording ends: for the commands that capture, as a child of their argp. A
 * rule (--when, --skip, ...) belongs to the trigger named before it, or to all triggers if none was named
 * yet.
 */
#pragma once

#include <argp.h>

#include "capture/capture.h"

struct trigger_options {
	struct trigger_request requests[TRIGGER_MAX];
	size_t cnt;
	struct trigger_request start;	/* that of --step-from, with its rules ... */
	bool at_start;			/* ... which the rules being parsed belong to */
	struct trigger_request for_all; /* rules before the first trigger */
	const char *from, *to;		/* one of two places, while the other is missing */
	struct capture_until until;
};

/*
 * Its input is a struct trigger_options; to be zero before. Applies the rules for all when the options end.
 */
extern const struct argp trigger_argp;
