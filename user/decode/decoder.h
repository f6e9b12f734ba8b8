/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From PT bytes to branches. A stream is cut at every PSB into pieces; pieces decode independently, on all
 * processors, and are put together in order: the result does not depend on the number of threads. Errors
 * resynchronise at the next PSB and become gaps. (SDM vol. 3 chapter "Intel Processor Trace"; libipt's
 * intel-pt.h.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/branch.h"
#include "model/snapshot.h"

/* Code that may be executed: the bytes at `addr` are those of the file from `file_offset` on. */
struct code_section {
	const char *path;
	uint64_t file_offset, size, addr;
};

/* Code that an address filter is about: the trace is of such code only, or `stops` where it comes there. */
struct code_range {
	uint64_t begin, end;
	bool stops;
};

/* What stands in an address space. Without ranges all of it is traced. */
struct code_image {
	const struct code_section *sections;
	size_t section_cnt;
	const struct code_range *ranges;
	size_t range_cnt;
};

/*
 * Code in force from `start_tsc` on, until the next version's start: another image of the process, or another
 * process's turn on the processor.
 */
struct code_version {
	uint64_t start_tsc;
	size_t image; /* index */
};

/*
 * Code sections shared by all decodes: every file is mapped once, decoded instructions are cached across
 * threads and pieces.
 */
struct decoder_cache;
int decoder_cache_new(struct decoder_cache **ret_cache);
void decoder_cache_free(struct decoder_cache *cache);

/* What was decoded with this cache so far: pieces are what stands between two PSBs. */
struct decoder_tally {
	size_t pieces, bytes;
	size_t declined_pieces, declined_bytes; /* by the fast decoder */
	const char *why;			/* the first was declined, or NULL */
};
void decoder_cache_tally(struct decoder_cache *cache, struct decoder_tally *ret_tally);

DEFINE_CLEANUP(struct decoder_cache *, decoder_cache_free)

/* A function: jumps inside [start, end) change no call stack. start == end: every branch counts. */
struct decoder_function {
	uint64_t start, end;
};

/* The function at ip, in that image. Thread-safe. A callback of NULL: every branch counts everywhere. */
struct decoder_functions {
	struct decoder_function (*at)(void *ctx, size_t image, uint64_t ip);
	void *ctx;
};

enum decoder_kind {
	DECODER_FAST,	   /* our own; what it declines is left to the other */
	DECODER_REFERENCE, /* libipt's block decoder: all branches */
};

struct decoder_config {
	const struct trace_params *params;
	struct decoder_cache *cache;
	const struct code_image *images;
	size_t image_cnt;
	const struct code_version
		*versions; /* of this stream, by start_tsc; the first also serves earlier times */
	size_t version_cnt;
	enum decoder_kind kind;
	struct decoder_functions
		functions; /* the fast decoder leaves out jumps inside them, but for the first behind a gap */
	unsigned int threads; /* 0: all processors */
	void (*progress)(void *ctx, size_t done_bytes,
			 size_t total_bytes); /* may be NULL; called from one thread at a time */
	void *progress_ctx;
	bool (*is_cancelled)(
		/*
		 * may be NULL. True: what was not begun is left out, from some piece on to the end.
		 * Thread-safe
		 */
		void);
};

/*
 * Decodes the stream `bytes` to branches, in order, appended to *branches. A stream without PSB gives a
 * single gap. 0, or -ENOMEM/-EINVAL with a sentence: bad packets and missing code are not errors but gaps.
 * `bytes` need not be padded.
 */
int decoder_run(const struct decoder_config *config, const uint8_t *bytes, size_t size,
		struct branch_list *branches);

/*
 * The same without keeping all branches at once: `piece` gets those of each of the stream's `cnt` pieces,
 * from several threads and in any order, and may take the list (leave it empty); `begin` is called once
 * before. `in_turn`, which may be NULL, is called for each piece after that, one at a time and in the order
 * of their indices; no more than one piece a thread waits for its turn. Put together in that order, the
 * pieces are what decoder_run() gives, but for times that run back a little from one to the next. Non-zero
 * returns end it and are returned.
 *
 * `version` is in force at the piece's beginning; a branch with BRANCH_TRACE_START has the one from there on
 * as its `detail`.
 */
struct decoder_pieces {
	int (*begin)(void *ctx, size_t cnt);
	int (*piece)(void *ctx, size_t index, size_t version, struct branch_list *branches);
	int (*in_turn)(void *ctx, size_t index);
	void *ctx;
};
int decoder_run_pieces(const struct decoder_config *config, const uint8_t *bytes, size_t size,
		       const struct decoder_pieces *pieces);

/*
 * Calls fn with the address of every instruction executed, in order (libipt's instruction decoder: slow, the
 * reference), and the code version it is of. `ip` is 0 at a gap.
 */
int decoder_instructions(const struct decoder_config *config, const uint8_t *bytes, size_t size,
			 int (*fn)(void *ctx, size_t version, uint64_t ip, enum branch_gap gap), void *ctx);

/*
 * Calls fn with each packet as a line of text: offset in the stream and mnemonic with payload, e.g. "tip.pge
 * 3: 00007f0012345678". Bad bytes give a line "bad packet" and decoding goes on at the next PSB.
 */
int decoder_packets(const struct trace_params *params, const uint8_t *bytes, size_t size,
		    int (*fn)(void *ctx, uint64_t offset, const char *text), void *ctx);

/*
 * Offsets of the PSBs in the stream (each the last alignment of its run): the piece boundaries. The array is
 * the caller's to free.
 */
int decoder_find_psbs(const uint8_t *bytes, size_t size, size_t **ret_offsets, size_t *ret_cnt);
