/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trailcam that was killed, or translated the parent of a process, has left in its memory. */
#pragma once

#include "source/translate/inject.h"

/*
 * Between injection_begin() and end(): whether there is such memory that can be removed, because no
 * thread is in it any more; *ret_shared says what it is. Other threads may be stopped for that. False:
 * there is none, or it has to stay.
 */
bool former_is_left(const struct injection *injection, struct shared *ret_shared);
