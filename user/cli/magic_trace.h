/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * What stands here for a flag of magic-trace's, spelled with one dash ("-trigger"): part of a sentence. NULL:
 * it is none.
 */
const char *magic_trace_ours(const char *flag);
