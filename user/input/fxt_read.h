/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline out of an FXT file that our sink wrote, with all that it wrote there; or out of another's, with
 * the calls, instants and counters, and of magic-trace's the hits. What the file does not tell is 0 or "":
 * where functions begin and end.
 */
#pragma once

#include "model/timeline.h"
#include "output/fxt_names.h"

/* Whether the file looks like FXT, compressed or not. */
bool fxt_is(const char *path);

/*
 * 0; -errno of open(2); -EBADMSG: there is no event in it; -ENOMEM; with a sentence that names the file. A
 * damaged file gives what comes before the damage, and a warning. The timeline refers to the names: free it
 * first.
 */
int fxt_read(struct timeline **ret_timeline, struct fxt_names **ret_names, const char *path);
