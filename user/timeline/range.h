/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "model/timeline.h"

/*
 * Cuts the timeline to the times from a call of `from` to the next call of `to` on the same thread. If `from`
 * is called several times before `to`, the time begins at the last. Other threads are cut to the same times.
 * Names are demangled, with or without parameters. A slice that was cut has an inferred start or an open end.
 * Returns the number of such times or -ENOMEM; where there is none, the timeline is unchanged.
 */
int timeline_keep_between(struct timeline *timeline, const char *from, const char *to);
