/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "model/timeline.h"

/*
 * Keeps of the timeline only the time from each call of `from` to the next call of `to` on the same thread
 * (of several calls of `from` before it, from the last); other threads are cut to the same times. Names are
 * demangled, with or without parameters. What is cut is marked: inferred start, open end. Returns the number
 * of such times, 0: there is none and nothing was changed; -ENOMEM.
 */
int timeline_keep_between(struct timeline *timeline, const char *from, const char *to);
