/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a timeline from an FXT file. A file of trailcam gives everything that it wrote. Another tool's gives
 * calls, instants and counters, and magic-trace's also the hits. What FXT does not record (the addresses of
 * functions) is 0 or "".
 */
#pragma once

#include "model/timeline.h"
#include "output/bytes/fxt_names.h"

/* Whether the file looks like FXT, compressed or not. */
bool fxt_is(const char *path);

/*
 * 0, or with a sentence that names the file: -errno of open(2); -EBADMSG: it has no events; -ENOMEM. A
 * damaged file gives the events before the damage, and a warning. The timeline refers to the names: free it
 * first.
 */
int fxt_read(struct timeline **ret_timeline, struct fxt_names **ret_names, const char *path);
