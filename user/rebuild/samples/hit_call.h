/* SPDX-License-Identifier: BSD-2-Clause */
/* Which call a return ended that was hit. */
#pragma once

#include "history/history.h"

/* Whether the hit is a return of a call that began in the same thread. */
bool hit_call_is_known(const struct hit *hit);

/*
 * Where the function begins that returned, in the hit's process; 0: it is not known, since the trigger has
 * several functions.
 */
uint64_t hit_call_ip(struct history *history, const struct snapshot *snapshot, const struct hit *hit);
