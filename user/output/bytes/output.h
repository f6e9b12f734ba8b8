/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a sink's bytes go: a file, compressed when its name ends in ".gz" or ".zst", or standard output for
 * "-". A file appears under its name only when output_close() succeeds (written beside it, then renamed), so
 * a good file is never replaced by half a one. Only its owner may read it, whatever the umask and the old
 * file's mode: a trace holds what a process keeps from others.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct output;

/* How much of the path is left without the ".gz" or ".zst" that says how the file is compressed. */
size_t output_plain_len(const char *path);

/*
 * Whether there can be a file of that name: to be asked before anything is recorded. A plain file will be
 * replaced, a link is followed to one, and pipes and character devices are written as they are. 0, or with a
 * sentence: -EISDIR; -ENOTBLK for a block device, whose content would be lost;
 * -ENOENT and -EACCES as open(2) has them.
 */
int output_check(const char *path);

/* Errors as output_check(). */
int output_open(struct output **ret_output, const char *path);

/* Buffered. A failure (disk full) sticks: later writes are ignored and output_close() reports it. */
void output_write(struct output *output, const void *bytes, size_t size);

/* What every output begins with: what is left of its buffer, which is never nothing. */
struct output_room {
	uint8_t *at, *end;
};

/* Room for so many bytes, of which output_took() says how many were filled. NULL: output_write() them. */
static inline uint8_t *output_take(const struct output *output, size_t size)
{
	const struct output_room *room = (const struct output_room *)output;

	/* A full buffer is written at once. */
	return size < (size_t)(room->end - room->at) ? room->at : NULL;
}

static inline void output_took(struct output *output, size_t size)
{
	((struct output_room *)output)->at += size;
}

/* printf into the output. */
void output_printf(struct output *output, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Finishes and publishes the file. 0, or -errno with a sentence; either way `output` is gone. */
int output_close(struct output *output);

/* Gives up: removes what was written; an older file of that name stays as it was. */
void output_abort(struct output *output);

/* Bytes written so far, before compression. */
uint64_t output_size(const struct output *output);

DEFINE_CLEANUP(struct output *, output_abort)
