/* SPDX-License-Identifier: BSD-2-Clause */
/* libtrailcam-alloc.so (preload/), which samples the allocations of a program that loads it. */
#pragma once

#include <stdint.h>

/*
 * From here on, what this process executes loads the library, which stands before its allocator and samples
 * with this interval ($LD_PRELOAD, $TRAILCAM_ALLOC_INTERVAL). It is sought beside trailcam: in its directory,
 * or in ../lib/trailcam. *ret_library is its path, the caller's to free. -ENOTSUP with a sentence: `exe` is
 * linked statically, or is run with other privileges than its user's, and so loads nothing; -ENOENT with a
 * sentence: the library is not there.
 */
int alloc_preload(const char *exe, uint64_t interval_bytes, char **ret_library);
