/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <sys/types.h>

#include "process/inject.h"
#include "source/translate/arena.h"

/* What to map for probes. */
struct probe_mirror;

/*
 * The process `pid`, of one thread, is stopped by ptrace where it has just executed a program. Makes an arena
 * that it has mapped, too, and makes it go on in the runtime there, with the context of slot 0, when it goes
 * on. `mirror`, if not NULL: `probe_cnt` nops of it are mapped, too. 0; or -errno with a sentence: the process is as it was, and can go on natively. *ret_injection tells
 * whether it has ended meanwhile.
 */
int inject(pid_t pid, const struct probe_mirror *mirror, size_t probe_cnt, struct arena **ret_arena,
	   struct injection *ret_injection);
