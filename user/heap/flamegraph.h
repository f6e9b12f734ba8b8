/* SPDX-License-Identifier: BSD-2-Clause */
/* Flame graphs of allocations: folded stacks for other tools, and an HTML page. */
#pragma once

#include "heap/tree.h"
#include "output/bytes/output.h"

/*
 * Writes "main;f;g BYTES" for each path with allocations of its own, in order; with `samples`, sampled words
 * instead of bytes. 0 or -ENOMEM.
 */
int memtrace_write_folded(const struct memtrace *trace, const struct memtrace_tree *tree, bool samples,
			  struct output *output);

/*
 * The page leaves out paths with less than 1/MEMTRACE_PAGE_LEAST of the whole; these count as their callers'.
 */
enum { MEMTRACE_PAGE_LEAST = 20000 };

/* Writes the page, flamegraph.html with the tree in it; names are escaped. */
void memtrace_write_page(const struct memtrace *trace, const struct memtrace_tree *tree,
			 struct output *output);
