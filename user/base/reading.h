/* SPDX-License-Identifier: BSD-2-Clause */
/* Small files of /proc and /sys, and the beginnings of others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The first line, without newline. False where it cannot be read. */
bool reading_text(const char *path, char *text, size_t size);

/* The number it begins with; `otherwise` where it cannot be read. */
int reading_number(const char *path, int otherwise);

/* Whether the bytes of `mark` are among the first `within` (4096 at most) of the plain file. */
bool reading_has(const char *path, const void *mark, size_t size, size_t within);
