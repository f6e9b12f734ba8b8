/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "input/perf_script.h"
#include "output/fxt_names.h"
#include "rebuild/decode.h"
#include "rebuild/history.h"

/* The timeline, and what its symbols belong to: one of the three. */
struct decoded {
	struct history *history;
	struct perf_script *script;
	struct fxt_names *names;
	struct timeline *timeline;
};

/* The text of perf script. Errors as perf_script_load(). */
int decode_script(struct decoded **ret_decoded, const char *path);
