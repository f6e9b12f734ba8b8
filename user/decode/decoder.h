/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes PT bytes to branches. A stream is cut at every PSB into pieces, which are decoded independently on
 * all processors and joined in order. The result does not depend on the number of threads. After an error,
 * decoding resumes at the next PSB, with a gap. (SDM vol. 3, chapter "Intel Processor Trace"; libipt's
 * intel-pt.h.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/branch.h"
#include "model/snapshot.h"

/* A section of code: the bytes at `addr` are those of the file from `file_offset`. */
struct code_section {
	const char *path;
	uint64_t file_offset, size, addr;
};

/* The code of an address filter: only this code is traced, or with `stops` the trace stops there. */
struct code_range {
	uint64_t begin, end;
	bool stops;
};

/* The code of an address space. Without ranges all of it is traced. */
struct code_image {
	const struct code_section *sections; /* unless they are listed: see struct decoder_config */
	size_t section_cnt;
	const struct code_range *ranges;
	size_t range_cnt;
};

/*
 * The code in force from `start_tsc` until the next version: another image of the process, or of another
 * process that runs on the processor.
 *
 * The kernel switches a thread's events on before it records the switch to the thread
 * (perf_event_task_sched_in() of kernel/events/core.c): what tracing begins with may be
 * earlier than `start_tsc`.
 */
struct code_version {
	uint64_t start_tsc;
	uint64_t enable_tsc; /* at most start_tsc: tracing that begins from then on is of this version */
	size_t image;	     /* index */
};

/*
 * Code sections shared by all decodes. Every file is mapped once; decoded instructions are cached across
 * threads and pieces.
 */
struct decoder_cache;
int decoder_cache_new(struct decoder_cache **ret_cache);
void decoder_cache_free(struct decoder_cache *cache);

/* Statistics of the decodes with this cache. A piece is what lies between two PSBs. */
struct decoder_tally {
	size_t pieces, bytes;
	size_t declined_pieces, declined_bytes; /* by the fast decoder */
	const char *why;			/* why the first was declined, or NULL */
};
void decoder_cache_tally(struct decoder_cache *cache, struct decoder_tally *ret_tally);

DEFINE_CLEANUP(struct decoder_cache *, decoder_cache_free)

/* A function. Jumps inside [start, end) do not change the call stack. start == end: every branch counts. */
struct decoder_function {
	uint64_t start, end;
};

/* at() returns the function at ip in an image. Thread-safe. NULL: every branch counts everywhere. */
struct decoder_functions {
	struct decoder_function (*at)(void *ctx, size_t image, uint64_t ip);
	void *ctx;
};

enum decoder_kind {
	DECODER_FAST,	   /* our own; libipt decodes what it declines */
	DECODER_REFERENCE, /* libipt's block decoder: all branches */
};

struct decoder_config {
	const struct trace_params *params;
	struct decoder_cache *cache;
	const struct code_image *images;
	size_t image_cnt;
	/*
	 * NULL: the images have their sections. Else what lists those of an image, when a decode comes to it:
	 * an array that the decoder frees. Thread-safe. 0 or -ENOMEM.
	 */
	int (*list)(void *ctx, size_t image, struct code_section **ret_sections, size_t *ret_cnt);
	void *list_ctx;
	/* of this stream, sorted by both times; the first also serves earlier times */
	const struct code_version *versions;
	size_t version_cnt;
	enum decoder_kind kind;
	/* the fast decoder leaves out jumps inside functions, except the first after a gap */
	struct decoder_functions functions;
	unsigned int threads; /* 0: all processors */
	void (*progress)(void *ctx, size_t done_bytes,
			 size_t total_bytes); /* may be NULL; called from one thread at a time */
	/* may be NULL; called now and then before decoding: the bytes read so far are not needed soon */
	void (*passed)(void *ctx);
	void *progress_ctx; /* of both */
	bool (*is_cancelled)(
		/*
		 * may be NULL. True: skip the pieces that have not begun, from some piece to the end.
		 * Thread-safe
		 */
		void);
};

/*
 * Decodes the stream `bytes` and appends its branches in order to *branches. A stream without a PSB gives one
 * gap. Bad packets and missing code become gaps. 0, or -ENOMEM/-EINVAL with a sentence. `bytes` needs no
 * padding.
 */
int decoder_run(const struct decoder_config *config, const uint8_t *bytes, size_t size,
		struct branch_list *branches);

/*
 * The same in pieces, without holding all branches at once. `begin` is called once with the number of pieces.
 * `piece` is called for each piece, from several threads and in any order, and may take the list (leaving it
 * empty). `in_turn`, which may be NULL, is then called for each piece, one at a time in the order of indices,
 * by any of them; few pieces wait for that. The pieces in order are what decoder_run() gives,
 * except that times may run back a little between two pieces. A non-zero return ends the decode and is
 * returned.
 *
 * `version` is in force at the piece's beginning. A branch with BRANCH_TRACE_START has the version from there
 * on as its `detail`.
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
 * Calls fn with the address of every executed instruction, in order, and its code version (libipt's
 * instruction decoder: slow, the reference). `ip` is 0 at a gap.
 */
int decoder_instructions(const struct decoder_config *config, const uint8_t *bytes, size_t size,
			 int (*fn)(void *ctx, size_t version, uint64_t ip, enum branch_gap gap), void *ctx);

/*
 * Calls fn with each packet as a line of text: offset in the stream, and mnemonic with payload, such as
 * "tip.pge 3: 00007f0012345678". Bad bytes give a line "bad packet"; decoding resumes at the next PSB.
 */
int decoder_packets(const struct trace_params *params, const uint8_t *bytes, size_t size,
		    int (*fn)(void *ctx, uint64_t offset, const char *text), void *ctx);

/*
 * Finds the PSBs in the stream, which begin the pieces: offsets, each the last alignment of its run. The
 * caller frees the array. Calls config->passed(); config may be NULL. 0 or -ENOMEM.
 */
int decoder_find_psbs(const struct decoder_config *config, const uint8_t *bytes, size_t size,
		      size_t **ret_offsets, size_t *ret_cnt);
