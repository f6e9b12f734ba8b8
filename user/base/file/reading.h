/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads small files of /proc and /sys, and the beginnings of other files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Reads the first line without its newline. False: it cannot be read. */
bool reading_text(const char *path, char *text, size_t size);

/* The number at the beginning of the file; `otherwise` if it cannot be read. */
int reading_number(const char *path, int otherwise);

/*
 * Whether the `size` bytes of `mark` are within the first `within` bytes (at most 4096) of the regular file.
 */
bool reading_has(const char *path, const void *mark, size_t size, size_t within);
