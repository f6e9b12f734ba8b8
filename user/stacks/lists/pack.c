/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of a slice is written what a reader cannot expect. Most slices begin one moment after the one before them,
 * and end where the last call that they made ended, or one moment after their begin where they made none:
 *
 *	a byte	bit 0	it is no plain call: kind and flags follow
 *		bit 1	it does not begin at the next moment: the difference follows
 *		bit 2	it does not end as expected: the difference follows
 *		3 to 7	how much less deep it is than one more than the slice before; UP_MORE: that follows
 *	then, always, the number of its function and address, and what follows, all in LEB128
 *
 * Ends are expected once all calls within are known; so the reader, too, keeps the slices open at hand.
 */
#include "stacks/lists/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/array.h"
#include "base/spill.h"

enum { LET_GO_BYTES = 1 << 20, BLOCK_MIN = 4, MEMORY_A_SLICE = 1 << 12 };
enum { LEVEL = 1, RECENT = 1 << 12, UP_MORE = 31, NUMBER_MAX = 10, RECORD_MAX = 2 + 4 * NUMBER_MAX };
enum { NOT_PLAIN = 1u << 0, NOT_NEXT = 1u << 1, NOT_EXPECTED = 1u << 2, UP_SHIFT = 3, FLAGS_SHIFT = 3 };

_Static_assert((int)PACK_STAMPS_MAX <= (int)PACK_SLICES_MAX, "a block of stamps fits, too: three numbers");
_Static_assert(SLICE_KIND_CNT <= 1 << FLAGS_SHIFT, "kind and flags are two parts of a number");

struct pack_coder {
	ZSTD_CCtx *packer;
	ZSTD_DCtx *unpacker;
	struct recent {
		const struct symbol *symbol;
		uint64_t ip, number;
	} recent[RECENT];
	/* Of the block at hand. */
	struct nested {
		size_t slice;
		uint64_t end; /* expected */
	} open[PACK_SLICES_MAX];
	size_t open_cnt;
	uint64_t misses[PACK_SLICES_MAX]; /* by how much each end is not as expected */
	uint8_t bytes[PACK_SLICES_MAX * RECORD_MAX];
};

static size_t block_of(size_t most)
{
	size_t cnt = spill_memory() / MEMORY_A_SLICE; /* of all that there is for large arrays */

	if (cnt < BLOCK_MIN)
		return BLOCK_MIN;
	return cnt < most ? cnt : most;
}

struct pack_store *pack_store_new(void)
{
	struct pack_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->slices = block_of(PACK_SLICES_MAX);
	store->stamps = block_of(PACK_STAMPS_MAX);
	return store;
}

static void coder_free(struct pack_coder *coder)
{
	if (!coder)
		return;
	ZSTD_freeCCtx(coder->packer);
	ZSTD_freeDCtx(coder->unpacker);
	free(coder);
}

void pack_store_free(struct pack_store *store)
{
	if (!store)
		return;
	coder_free(store->coder);
	hash_index_release(&store->by_name);
	free(store->names);
	spill_free(store->bytes);
	free(store);
}

/* Most threads need none. */
static int make_coder(struct pack_store *store)
{
	struct pack_coder *coder = store->coder ? NULL : calloc(1, sizeof(*coder));

	if (store->coder)
		return 0;
	if (!coder)
		return -ENOMEM;
	coder->packer = ZSTD_createCCtx();
	coder->unpacker = ZSTD_createDCtx();
	if (coder->packer && coder->unpacker) {
		store->coder = coder;
		return 0;
	}
	coder_free(coder);
	return -ENOMEM;
}

/* ---- numbers ---- */

static uint8_t *put(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static const uint8_t *take(const uint8_t *at, uint64_t *ret_number)
{
	uint64_t number = *at & 0x7f;

	for (unsigned int shift = 7; *at++ & 0x80; shift += 7)
		number |= (uint64_t)(*at & 0x7f) << shift;
	*ret_number = number;
	return at;
}

/* Small ones of either sign stay small. */
static uint64_t folded(uint64_t number)
{
	return number << 1 ^ (uint64_t)((int64_t)number >> 63);
}

static uint64_t unfolded(uint64_t number)
{
	return number >> 1 ^ -(number & 1);
}

/* ---- functions ---- */

static int number_of(struct pack_store *store, const struct slice *slice, uint64_t *ret_number)
{
	uint64_t hash = hash_number(hash_number(0, (uintptr_t)slice->symbol), slice->ip);
	struct recent *recent = &store->coder->recent[hash % RECENT];
	struct pack_name name = {slice->symbol, slice->ip};
	int err;

	*ret_number = recent->number;
	if (recent->number && recent->symbol == name.symbol && recent->ip == name.ip)
		return 0;
	*recent = (struct recent){.symbol = name.symbol, .ip = name.ip};
	for (size_t at = 0, i; (i = hash_index_next(&store->by_name, hash, &at)) != HASH_INDEX_END;) {
		if (store->names[i].symbol != name.symbol || store->names[i].ip != name.ip)
			continue;
		*ret_number = recent->number = i + 1;
		return 0;
	}
	err = hash_index_add(&store->by_name, hash, store->name_cnt);
	if (!err)
		err = ARRAY_PUSH(store->names, store->name_cnt, store->name_cap, name);
	if (!err)
		*ret_number = recent->number = store->name_cnt;
	return err;
}

/* ---- blocks ---- */

int pack_bytes(struct pack_store *store, const void *bytes, size_t size, struct packed *ret_packed)
{
	size_t most = ZSTD_compressBound(size), done;
	int err = make_coder(store);

	if (!err)
		err = spill_reserve(&store->bytes, &store->cap, store->size + most, 1);
	if (err)
		return err;
	done = ZSTD_compressCCtx(store->coder->packer, store->bytes + store->size, most, bytes, size, LEVEL);
	if (ZSTD_isError(done))
		return -ENOMEM;
	*ret_packed = (struct packed){store->size, done};
	store->size += done;
	return 0;
}

/* What was read is not needed soon. */
static void let_go(const struct pack_store *store, struct packed packed)
{
	if (packed.at / LET_GO_BYTES != (packed.at + packed.size) / LET_GO_BYTES)
		spill_let_go(store->bytes, 0, packed.at);
}

int unpack_bytes(const struct pack_store *store, struct packed packed, void *bytes, size_t size)
{
	size_t done = ZSTD_decompressDCtx(store->coder->unpacker, bytes, size, store->bytes + packed.at,
					  packed.size);

	let_go(store, packed);
	return ZSTD_isError(done) ? -ENOMEM : 0;
}

/* ---- slices ---- */

/* Where it ends if nothing is said: with the last call that it made. */
static uint64_t expected(const struct nested *nested, const struct slice *slices)
{
	return nested->end + (nested->end == slices[nested->slice].start_ns);
}

/* Slices that a slice of that depth does not lie in have ended. */
static void end_to(struct pack_coder *coder, struct slice *slices, int64_t depth, bool is_packing)
{
	while (coder->open_cnt) {
		const struct nested *top = &coder->open[coder->open_cnt - 1];
		struct slice *slice = &slices[top->slice];
		uint64_t end = expected(top, slices), *miss = &coder->misses[top->slice];

		if ((int32_t)slice->depth < depth)
			return;
		if (is_packing)
			*miss = folded(slice->end_ns - end);
		else
			slice->end_ns = end + unfolded(*miss);
		if (--coder->open_cnt)
			coder->open[coder->open_cnt - 1].end = slice->end_ns;
	}
}

static void begin(struct pack_coder *coder, struct slice *slices, size_t i, bool is_packing)
{
	end_to(coder, slices, (int32_t)slices[i].depth, is_packing);
	coder->open[coder->open_cnt++] = (struct nested){i, slices[i].start_ns};
}

static uint8_t *put_slice(uint8_t *at, const struct slice *slice, const struct slice *before, uint64_t number,
			  uint64_t miss)
{
	uint64_t up = folded((uint64_t)(int64_t)(int32_t)(before->depth + 1 - slice->depth));
	uint64_t later = slice->start_ns - before->start_ns;
	unsigned int kind = slice->kind | (unsigned int)slice->flags << FLAGS_SHIFT;

	*at++ = (uint8_t)((kind ? NOT_PLAIN : 0) | (later != 1 ? NOT_NEXT : 0) | (miss ? NOT_EXPECTED : 0) |
			  (up < UP_MORE ? up : UP_MORE) << UP_SHIFT);
	at = put(at, number);
	if (up >= UP_MORE)
		at = put(at, up);
	if (kind)
		at = put(at, kind);
	if (later != 1)
		at = put(at, later);
	return miss ? put(at, miss) : at;
}

int pack_slices(struct pack_store *store, struct slice *slices, size_t cnt, struct packed *ret_packed)
{
	int err = make_coder(store);
	struct pack_coder *coder = store->coder;
	static const struct slice nothing;
	uint8_t *at;

	if (err)
		return err;
	at = coder->bytes;
	coder->open_cnt = 0;
	for (size_t i = 0; i < cnt; i++)
		begin(coder, slices, i, true);
	end_to(coder, slices, INT64_MIN, true);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t number;

		err = number_of(store, &slices[i], &number);
		if (err)
			return err;
		at = put_slice(at, &slices[i], i ? &slices[i - 1] : &nothing, number, coder->misses[i]);
	}
	return pack_bytes(store, coder->bytes, (size_t)(at - coder->bytes), ret_packed);
}

static const uint8_t *take_slice(const struct pack_store *store, const uint8_t *at,
				 const struct slice *before, struct slice *slice, uint64_t *ret_miss)
{
	unsigned int head = *at++;
	uint64_t number, up = head >> UP_SHIFT, kind = 0, later = 1;

	*ret_miss = 0;
	at = take(at, &number);
	if (up == UP_MORE)
		at = take(at, &up);
	if (head & NOT_PLAIN)
		at = take(at, &kind);
	if (head & NOT_NEXT)
		at = take(at, &later);
	if (head & NOT_EXPECTED)
		at = take(at, ret_miss);
	*slice = (struct slice){.start_ns = before->start_ns + later,
				.symbol = store->names[number - 1].symbol,
				.ip = store->names[number - 1].ip,
				.depth = before->depth + 1 - (uint32_t)unfolded(up),
				.kind = kind & ((1u << FLAGS_SHIFT) - 1),
				.flags = (uint8_t)(kind >> FLAGS_SHIFT)};
	return at;
}

int unpack_slices(const struct pack_store *store, struct packed packed, size_t cnt, struct slice *slices)
{
	struct pack_coder *coder = store->coder;
	static const struct slice nothing;
	const uint8_t *at = coder->bytes;
	int err = unpack_bytes(store, packed, store->coder->bytes, sizeof(store->coder->bytes));

	coder->open_cnt = 0;
	for (size_t i = 0; i < cnt && !err; i++) {
		at = take_slice(store, at, i ? &slices[i - 1] : &nothing, &slices[i], &coder->misses[i]);
		begin(coder, slices, i, false);
	}
	if (!err)
		end_to(coder, slices, INT64_MIN, false);
	return err;
}

/* ---- stamps ---- */

int pack_stamps(struct pack_store *store, const struct stamp *stamps, size_t cnt, struct packed *ret_packed)
{
	struct stamp before = {0};
	int err = make_coder(store);
	uint8_t *at;

	if (err)
		return err;
	at = store->coder->bytes;
	for (size_t i = 0; i < cnt; before = stamps[i++]) {
		at = put(at, stamps[i].tsc - before.tsc);
		at = put(at, stamps[i].first - before.first);
		at = put(at, (uint64_t)stamps[i].takes << 1 | stamps[i].barrier);
	}
	return pack_bytes(store, store->coder->bytes, (size_t)(at - store->coder->bytes), ret_packed);
}

int unpack_stamps(const struct pack_store *store, struct packed packed, size_t cnt, struct stamp *stamps)
{
	struct stamp before = {0};
	const uint8_t *at = store->coder->bytes;
	int err = unpack_bytes(store, packed, store->coder->bytes, sizeof(store->coder->bytes));

	for (size_t i = 0; i < cnt && !err; before = stamps[i++]) {
		uint64_t tsc, first, rest;

		at = take(at, &tsc);
		at = take(at, &first);
		at = take(at, &rest);
		stamps[i] = (struct stamp){.tsc = before.tsc + tsc,
					   .first = before.first + first,
					   .takes = (uint32_t)(rest >> 1),
					   .barrier = rest & 1};
	}
	return err;
}
