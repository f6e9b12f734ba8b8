/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes memtrace's CTF, version 3. It makes the same choices as memtrace's own writer (src/trace.ml), so a
 * trace that memtrace wrote is reproduced byte by byte. What memtrace would write but refuse to read (time
 * that runs back, code 0) is rejected or corrected, as said below.
 */
#pragma once

#include "base/cleanup.h"
#include "ctf/event.h"
#include "output/bytes/output.h"

struct memtrace_writer;

struct memtrace_writer_config {
	const struct memtrace_info *info; /* copied; its version is ignored */
	/* receives each packet in one call; stays the caller's, who finds write errors there */
	struct output *output;
	/*
	 * Returns the number of locations of a code (0: unknown) when it must be written; a negative errno
	 * ends the writing. *ret_locations is the callee's, valid until the next call.
	 */
	int (*locate)(void *ctx, uint64_t code, const struct memtrace_location **ret_locations);
	void *ctx;
};

/*
 * -EINVAL with a sentence: a sample rate not in (0, 1], a word size other than 32 or 64 bits, or texts too
 * long for a packet (32 KB together). -ENOMEM.
 */
int memtrace_writer_new(struct memtrace_writer **ret_writer, const struct memtrace_writer_config *config);

/*
 * Appends the event. The writer assigns the id of an allocation, and returns it in *ret_id unless that is
 * NULL; promotions and collections refer to such an id. The event's common_prefix is ignored and computed. A
 * time before the domain's last one is raised to that. -EINVAL with a sentence: a code of 0, or a promotion
 * of a future allocation. -ENOMEM; errors of locate(). After a failure every later call returns the same.
 */
int memtrace_writer_put(struct memtrace_writer *writer, const struct memtrace_event *event, uint64_t *ret_id);

/*
 * Writes the pending events as a packet, even if there are none. A trace that is cut here has all events so
 * far; a complete trace ends with a flush. 0 or as above.
 */
int memtrace_writer_flush(struct memtrace_writer *writer);

/* Does not flush. */
void memtrace_writer_free(struct memtrace_writer *writer);

DEFINE_CLEANUP(struct memtrace_writer *, memtrace_writer_free)
