/* SPDX-License-Identifier: BSD-2-Clause */
/* Code that is in no file, as it was when it was translated: what a compiler in the program has made. */
#pragma once

#include "process/maps.h"
#include "source/translate/arena.h"
#include "source/tsc.h"

/*
 * Appends copies of its pages, each since when it was so, oldest first. `maps`: those of the process. 0 or
 * -ENOMEM.
 */
int made_code_add(const struct arena *arena, pid_t pid, const struct maps *maps,
		  const struct tsc_clock *clock, struct snapshot *snapshot);
