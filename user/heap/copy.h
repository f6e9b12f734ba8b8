/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "heap/trace.h"
#include "output/bytes/output.h"

/*
 * Writes the trace in memtrace's format, version 3. An unfiltered copy of a version 3 trace is the same byte
 * by byte. *ret_left_out counts promotions and ends of allocations that are not in the trace, which cannot be
 * written. 0 or as memtrace_writer_put().
 */
int memtrace_copy(const struct memtrace *trace, struct output *output, size_t *ret_left_out);
