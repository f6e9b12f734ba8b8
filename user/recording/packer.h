/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of a perf.data, packed as perf record -z does: all are one stream of zstd, which stands in records
 * of type PERF_RECORD_COMPRESSED. One sample's stack is nearly that of the sample before, so samples take a
 * hundredth of what they would.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"

struct packer;

/* What a record holds before it is packed: then it holds that, too, where nothing can be packed. */
enum { PACKER_PIECE = 60 << 10 };

/* Packed records go to `file`. 0 or -ENOMEM. */
int packer_new(struct packer **ret_packer, FILE *file);

/* Bytes of records. Errors show at the end. */
void packer_put(struct packer *packer, const void *bytes, size_t size);

/* Call it once, after at least one byte was put. 0; -ENOMEM; -EIO. Errors of the file stay with that. */
int packer_finish(struct packer *packer);

void packer_free(struct packer *packer);

DEFINE_CLEANUP(struct packer *, packer_free)
