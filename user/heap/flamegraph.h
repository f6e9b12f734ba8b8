/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where memory was allocated, as flame graphs: folded stacks for other tools, and a page that draws itself.
 */
#pragma once

#include "heap/tree.h"
#include "output/output.h"

/*
 * "main;f;g BYTES" for each path with allocations of its own, in order; with `samples`, how many words were
 * sampled in place of bytes. 0 or -ENOMEM.
 */
int memtrace_write_folded(const struct memtrace *trace, const struct memtrace_tree *tree, bool samples,
			  struct output *output);

/* Paths of less than this part of the whole are not in the page; what is left counts as their callers'. */
enum { MEMTRACE_PAGE_LEAST = 20000 };

/* The page, flamegraph.html, with the tree in it; names are made safe for it. */
void memtrace_write_page(const struct memtrace *trace, const struct memtrace_tree *tree,
			 struct output *output);
