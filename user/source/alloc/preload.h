/* SPDX-License-Identifier: BSD-2-Clause */
/* libtrailcam-alloc.so (preload/), which samples the allocations of a program that loads it. */
#pragma once

#include <stdint.h>

/*
 * From now on programs that this process executes load the library, which wraps their allocator and samples
 * at this interval ($LD_PRELOAD, $TRAILCAM_ALLOC_INTERVAL). It is looked up in trailcam's directory, and in
 * ../lib/trailcam. *ret_library is its path; the caller frees it. -ENOTSUP with a sentence: `exe` loads no
 * library, because it is linked statically or runs with other privileges than its user's; -ENOENT with a
 * sentence: the library is missing.
 */
int alloc_preload(const char *exe, uint64_t interval_bytes, char **ret_library);
