/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trailcam that was killed, or translated the parent of a process, has left in its memory. */
#pragma once

#include "source/translate/inject.h"

/*
 * Before injection_begin(), as that keeps where the thread is. If it sleeps in a system call there, it makes
 * the call from the program's own code.
 */
void former_leave_call(pid_t tid);

/*
 * Between injection_begin() and end(): whether there is such memory that can be removed, because no
 * thread is in it any more; *ret_shared says what it is. Other threads may be stopped for that. False:
 * there is none, or it has to stay.
 */
bool former_is_left(const struct injection *injection, struct shared *ret_shared);
