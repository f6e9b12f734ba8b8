/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of JIT compilers that tell its names only if they are asked to. */
#pragma once

#include "history/history.h"

/*
 * Warns of one whose code was met without names, and says how to ask it. Call it when all symbols were looked
 * up.
 */
void unnamed_warn(const struct history *history);
