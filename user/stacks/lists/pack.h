/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices and time stamps, of which there may be a billion, in as few bytes as it takes: a call takes one or
 * two. A block of them is written as differences, then compressed (zstd). Times are whatever the owner counts
 * in.
 */
#pragma once

#include "base/cleanup.h"
#include "base/containers/hash_index.h"
#include "model/timeline.h"

/* A time stamp at which something happened (moments.h). */
struct stamp {
	uint64_t tsc;
	uint64_t first; /* its first moment; its last is the one before the next stamp's first */
	uint32_t takes; /* slices that take a share of its time, where they are counted */
	bool barrier;	/* what came before ends here, even if at the same time */
};

/* So that arrays of one and a half blocks are none that base/spill.h calls large. */
enum { PACK_SLICES_MAX = 1 << 13, PACK_STAMPS_MAX = 1 << 13 };

/*
 * Where packed blocks lie, outside memory if they are many (base/spill.h), and the functions they speak of.
 */
struct pack_store {
	size_t slices, stamps; /* in a block, at most: fewer where there is little memory */
	uint8_t *bytes;
	size_t size, cap;
	struct pack_name {
		const struct symbol *symbol;
		uint64_t ip;
	} * names;
	size_t name_cnt, name_cap;
	struct hash_index by_name;
	struct pack_coder *coder;
};

/* NULL: no memory. */
struct pack_store *pack_store_new(void);
void pack_store_free(struct pack_store *store);

/* A block in the store. */
struct packed {
	size_t at, size;
};

/*
 * Packs up to store->slices slices, each with its end, known or not: what is not known is the owner's to put
 * in its place. 0 or -ENOMEM.
 */
int pack_slices(struct pack_store *store, struct slice *slices, size_t cnt, struct packed *ret_packed);

/* `slices` has room for the cnt of the block. 0 or -ENOMEM. */
int unpack_slices(const struct pack_store *store, struct packed packed, size_t cnt, struct slice *slices);

/* Up to store->stamps. */
int pack_stamps(struct pack_store *store, const struct stamp *stamps, size_t cnt, struct packed *ret_packed);
int unpack_stamps(const struct pack_store *store, struct packed packed, size_t cnt, struct stamp *stamps);

/* The same of whatever bytes. */
int pack_bytes(struct pack_store *store, const void *bytes, size_t size, struct packed *ret_packed);
int unpack_bytes(const struct pack_store *store, struct packed packed, void *bytes, size_t size);

DEFINE_CLEANUP(struct pack_store *, pack_store_free)
