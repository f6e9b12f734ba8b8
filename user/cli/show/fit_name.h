/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of functions in few columns. */
#pragma once

#include <stddef.h>

/*
 * The name in at most so many columns (at least 8). One that does not fit loses first what stands between its
 * outermost < and >, then between ( and ), then its beginning: "...::insert<...>(...)". The caller frees it;
 * NULL: no memory.
 */
char *fit_name(const char *name, size_t columns);
