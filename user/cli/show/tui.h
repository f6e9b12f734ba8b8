/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline in a terminal: the calls of a thread as a tree to fold and to search, from the hit on, and what
 * took the time. For servers without a browser.
 */
#pragma once

#include "model/timeline.h"

/*
 * Until the user leaves it. The timeline's slices are in arrays. 0, or -errno with a sentence; -ECANCELED:
 * SIGINT, SIGTERM, or the terminal is gone.
 */
int tui_run(const struct timeline *timeline);
