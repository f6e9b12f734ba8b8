/* SPDX-License-Identifier: BSD-2-Clause */
/* What to say when nothing has the name that was asked for. */
#pragma once

#include <stdbool.h>

/*
 * Records the sentence for: no function `symbol` in the file `path` (`libraries`: nor in the libraries it
 * needs), with names that are like it, and whether the file's symbols were stripped. Returns -ENOENT.
 */
int not_found_fail(const char *symbol, const char *path, bool libraries);
