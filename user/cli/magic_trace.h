/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * Our replacement for a flag of magic-trace, spelled with one dash ("-trigger"): part of a sentence. NULL: it
 * is not such a flag.
 */
const char *magic_trace_ours(const char *flag);
