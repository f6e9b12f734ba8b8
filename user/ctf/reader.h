/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads memtrace's CTF, versions 1 to 3. The format is that of memtrace's src/trace.ml and its codecs. The
 * reader makes all of memtrace's checks, and a few more where memtrace would hang or overrun. Packets may
 * have any size (memtrace: up to 32 KiB); numbers have 64 bits (memtrace: 63).
 *
 * Memory grows with the locations of codes that the trace has. All else is bounded: 160 KiB for each of at
 * most 4096 domains, and 64 Mi frames of their last call stacks. A file is mapped; standard input is read
 * whole on opening.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "ctf/event.h"

struct memtrace_reader;

struct memtrace_reader_config {
	/* do not decode call stacks: events have none, and checks that depend on them are skipped */
	bool skip_frames;
};

/* Whether the file begins like a trace. */
bool memtrace_reader_is(const char *path);

/*
 * Opens a trace ("-": standard input) and reads its info. Errors, with a sentence that names the path: -errno
 * of open(2) and read(2); -EBADMSG: not a trace, an unknown version, or a damaged first packet.
 */
int memtrace_reader_open(struct memtrace_reader **ret_reader, const char *path,
			 const struct memtrace_reader_config *config);
/* The same for borrowed bytes in memory; `name` is for messages. */
int memtrace_reader_open_bytes(struct memtrace_reader **ret_reader, const char *name, const void *bytes,
			       size_t size, const struct memtrace_reader_config *config);
void memtrace_reader_close(struct memtrace_reader *reader);

const struct memtrace_info *memtrace_reader_info(const struct memtrace_reader *reader);

/*
 * The next event in file order. 1: *ret_event is set, and its frames are valid until the next call; 0: the
 * end. -EBADMSG with a sentence that says what is wrong at which byte: earlier events are valid, and later
 * calls return the same.
 */
int memtrace_reader_next(struct memtrace_reader *reader, struct memtrace_event *ret_event);

/*
 * The locations of a code, as far as the trace has told so far; they and their strings live as long as the
 * reader. Returns how many: 0: the trace says that they are unknown. -ENOENT with a sentence: the trace does
 * not mention the code.
 */
int memtrace_reader_locations(struct memtrace_reader *reader, uint64_t code,
			      const struct memtrace_location **ret_locations);

/* What was skipped without an error so far, and the position: for messages and progress. */
struct memtrace_reader_counts {
	uint64_t foreign_packets; /* of another process */
	uint64_t truncated;	  /* 1: the last packet is cut off, and left out */
	uint64_t bytes, size;	  /* bytes read, and the total (0: unknown) */
};

struct memtrace_reader_counts memtrace_reader_counts(const struct memtrace_reader *reader);

DEFINE_CLEANUP(struct memtrace_reader *, memtrace_reader_close)
