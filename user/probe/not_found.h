/* SPDX-License-Identifier: BSD-2-Clause */
/* The sentence for a function that was not found. */
#pragma once

#include <stdbool.h>

/*
 * Returns -ENOENT with a sentence: no function `symbol` in the file `path` (`libraries`: nor in the libraries
 * it needs). It names similar functions, and says if the file is stripped.
 */
int not_found_fail(const char *symbol, const char *path, bool libraries);
