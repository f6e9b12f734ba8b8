/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>

/*
 * The number of letters to insert, delete or replace to turn `a` into `b` (Levenshtein), over their first 64
 * letters.
 */
size_t edit_distance(const char *a, const char *b);
