/* SPDX-License-Identifier: BSD-2-Clause */
/* Small files of /proc and /sys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The first line, without newline. False where it cannot be read. */
bool reading_text(const char *path, char *text, size_t size);

/* The number it begins with; `otherwise` where it cannot be read. */
int reading_number(const char *path, int otherwise);
