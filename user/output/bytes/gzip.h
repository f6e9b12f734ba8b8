/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A gzip file (RFC 1952) that all processors compress, a buffer each, while the next one is filled. Level 1
 * of ISA-L's igzip: several times as fast as zlib at its fastest, and not much larger.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum { GZIP_BUFFER = 1 << 18 };

struct gzip;

/*
 * What is compressed goes to `write`, on any thread but one call at a time; it returns 0 or a negative errno.
 * 0 or -ENOMEM.
 */
int gzip_new(struct gzip **ret_gzip, int (*write)(void *ctx, const uint8_t *bytes, size_t size), void *ctx);

/* Gives up what is not written yet. */
void gzip_free(struct gzip *gzip);

/* GZIP_BUFFER bytes to fill; another after each gzip_push(). */
uint8_t *gzip_buffer(struct gzip *gzip);

/*
 * The first `size` bytes of the buffer are to be written. 0, or the error of `write`, of this or an earlier
 * buffer; with is_last, all is written then.
 */
int gzip_push(struct gzip *gzip, size_t size, bool is_last);

DEFINE_CLEANUP(struct gzip *, gzip_free)
