/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of functions, for a page. */
#pragma once

#include "model/symbol.h"
#include "output/html_bytes.h"

enum { HTML_SOURCE_MAX = 4 << 20 };

/*
 * Puts ,"sources":{FILE:[[first line, [LINE, ...]], ...], ...} with the lines around the beginnings of these
 * functions, as far as their files are here, and up to HTML_SOURCE_MAX bytes. 0 or -ENOMEM.
 */
int html_put_sources(struct html_bytes *bytes, const struct symbol *const *symbols, size_t cnt);
