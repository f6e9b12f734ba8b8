/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the header's features: what perf notes about the machine and the files (tools/perf/util/header.h,
 * "enum"; header.c, write_*()).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/snapshot.h"

/*
 * Reads one feature's section; ignores features that trailcam does not need. 0; -EBADMSG with a sentence;
 * -ENOTSUP with a sentence: another architecture; -ENOMEM.
 */
int perf_feature_read(struct snapshot *snapshot, uint64_t feature, const uint8_t *bytes, size_t size);
