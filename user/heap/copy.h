/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "heap/trace.h"
#include "output/output.h"

/*
 * Writes the trace in memtrace's own format, as version 3. Of a trace of that version, whole and unfiltered,
 * the copy is the same byte by byte. *ret_left_out: promotions and ends of what is not in the trace, which
 * cannot be written. 0 or as memtrace_writer_put().
 */
int memtrace_copy(const struct memtrace *trace, struct output *output, size_t *ret_left_out);
