/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes memtrace's CTF, version 3, with the choices of memtrace's own writer (src/trace.ml): what that wrote
 * and this writes again is the same, byte by byte. What it would write and then refuse to read (time that
 * runs back, code 0) is refused or mended here, as said below.
 */
#pragma once

#include "base/cleanup.h"
#include "ctf/event.h"
#include "output/output.h"

struct memtrace_writer;

struct memtrace_writer_config {
	const struct memtrace_info *info; /* copied; version does not matter */
	/*
	 * Where packets go, each by one call; `output` stays the caller's, who sees there what became of the
	 * bytes.
	 */
	struct output *output;
	/*
	 * What a code stands for: asked when it is to be written. Returns how many locations there are (0:
	 * unknown), a negative errno ends the writing. *ret_locations is the callee's, good until the next
	 * call.
	 */
	int (*locate)(void *ctx, uint64_t code, const struct memtrace_location **ret_locations);
	void *ctx;
};

/*
 * -EINVAL with a sentence: a sample rate that is none (0 < rate <= 1), a word size other than 32 or 64 bits,
 * texts that are too long for a packet (together 32 KB). -ENOMEM.
 */
int memtrace_writer_new(struct memtrace_writer **ret_writer, const struct memtrace_writer_config *config);

/*
 * Appends the event. Of an allocation, the id is given by the writer, *ret_id if that is not NULL; promotions
 * and collections name one that was given. Its common_prefix is found out here, and that of the event is not
 * looked at. A time before the domain's last one becomes that one. -EINVAL with a sentence: a code that is 0;
 * a promotion of what comes later. -ENOMEM; what locate() returned. After a failure, every later call returns
 * the same.
 */
int memtrace_writer_put(struct memtrace_writer *writer, const struct memtrace_event *event, uint64_t *ret_id);

/*
 * Writes out what waits: after it, a trace that is cut off here has all events so far. A trace ends with it.
 * Each time, there is a packet, if only an empty one. 0 or as above.
 */
int memtrace_writer_flush(struct memtrace_writer *writer);

/* Does not flush. */
void memtrace_writer_free(struct memtrace_writer *writer);

DEFINE_CLEANUP(struct memtrace_writer *, memtrace_writer_free)
