/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of JIT compilers that tell its names only if they are asked to. */
#pragma once

#include "history/history.h"

/*
 * Warns of a compiler whose code has no names in the trace, and says how to ask for them. Call this when all
 * symbols have been looked up.
 */
void unnamed_warn(const struct history *history);
