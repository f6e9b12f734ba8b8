/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <sys/types.h>

#include "source/translate/arena.h"

/*
 * The process `pid`, of one thread, is stopped by ptrace where it has just executed a program. Maps the arena
 * into it, and makes it go on in the runtime, with the context of `slot`, when it goes on. 0; or -errno with
 * a sentence: the process is as it was, and can go on natively.
 */
int inject(pid_t pid, const struct arena *arena, int slot);
