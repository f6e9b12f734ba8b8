/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads memtrace's CTF, versions 1 to 3. The format is that of memtrace's src/trace.ml and its codecs; every
 * check that it makes is made here, and a few more where it would hang or overrun. Packets may be of any size
 * (memtrace reads up to 32 KiB); numbers have all of their 64 bits (memtrace: 63).
 *
 * Memory is in proportion to what the trace tells of codes, and beside that bounded whatever it says: 160 KiB
 * for each of at most 4096 domains, and 64 Mi frames of their last call stacks. A file is mapped; of standard
 * input, everything is read when it is opened.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "ctf/event.h"

struct memtrace_reader;

struct memtrace_reader_config {
	/* call stacks are not decoded: events have none, and what depends on them is not checked */
	bool skip_frames;
};

/* Whether the file begins as a trace does. */
bool memtrace_reader_is(const char *path);

/*
 * Opens a trace ("-": standard input) and reads how it was made. -errno of open(2) and read(2); -EBADMSG: not
 * a trace, or one of a version that is not known, or damaged right at its beginning. Each with a sentence
 * that names the path.
 */
int memtrace_reader_open(struct memtrace_reader **ret_reader, const char *path,
			 const struct memtrace_reader_config *config);
/* The same of bytes in memory, which are borrowed; `name` is for messages. */
int memtrace_reader_open_bytes(struct memtrace_reader **ret_reader, const char *name, const void *bytes,
			       size_t size, const struct memtrace_reader_config *config);
void memtrace_reader_close(struct memtrace_reader *reader);

const struct memtrace_info *memtrace_reader_info(const struct memtrace_reader *reader);

/*
 * The next event in the order of the file: 1, and *ret_event, whose frames are good until the next call; 0 at
 * the end; -EBADMSG with a sentence that tells what is wrong and at which byte: what came before was sound,
 * and every later call says the same.
 */
int memtrace_reader_next(struct memtrace_reader *reader, struct memtrace_event *ret_event);

/*
 * What the code stands for, as far as the trace has told up to now; the locations and their strings live as
 * long as the reader. How many there are: 0 where it is known to be unknown. -ENOENT with a sentence: the
 * trace says nothing about it.
 */
int memtrace_reader_locations(struct memtrace_reader *reader, uint64_t code,
			      const struct memtrace_location **ret_locations);

/* What was passed over so far without an error, and how far the reader is: for a note and for progress. */
struct memtrace_reader_counts {
	uint64_t foreign_packets; /* another process's */
	uint64_t truncated;	  /* 1: the last packet is cut off, and was left out */
	uint64_t bytes, size;	  /* read so far, of so many (0: not known) */
};

struct memtrace_reader_counts memtrace_reader_counts(const struct memtrace_reader *reader);

DEFINE_CLEANUP(struct memtrace_reader *, memtrace_reader_close)
