/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as a page that shows itself in any browser, without a network: the viewer (viewer/) with the
 * data in it.
 *
 * The data is a gzip file in base64 within a script element that no browser runs: JSON (names, threads, hits;
 * html_data.c says what), a byte of 0, then for each thread five columns of LEB128 numbers, one number a
 * slice: start after the start of the slice before; duration; one more than the depth of the slice before,
 * less its own (the first: less 0); index of its symbol; flags.
 */
#pragma once

#include "model/timeline.h"
#include "output/bytes/gzip.h"
#include "output/bytes/output.h"

/* Each slice takes 41 bytes of the browser's memory (trace.js), beside the bytes of the page itself. */
enum { HTML_SLICES_MAX = 5000000 };

/*
 * Writes the page with at most `max` slices and those open around them: of threads with more than their
 * share, those around the first hit, or the last ones where nothing was hit. What is left out is an instant
 * on the thread. With `other`, which may be NULL, the page compares the two, and each gets half of them. 0 or
 * -ENOMEM.
 */
int html_write(const struct timeline *timeline, const struct timeline *other, struct output *output,
	       size_t max);

/*
 * The data alone, before compression, into `gzip` up to its end. *ret_left_out: how many slices are not
 * there.
 */
int html_write_data(const struct timeline *timeline, struct gzip *gzip, size_t max, size_t *ret_left_out);
