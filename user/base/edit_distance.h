/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>

/* How many letters to insert, delete or replace to make one of the other; of the first 64 letters. */
size_t edit_distance(const char *a, const char *b);
