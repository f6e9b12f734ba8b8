/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stack's bytes are those of the chunks in its record; the others stand in what the last record of the
 * same slot left. A record in between that is missing breaks that off, until the next one that has all of
 * them.
 */
#include "source/samples/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LOWER_HALVES = 0x5555 };

struct samples_slot {
	uint32_t tid;
	int nth;      /* of the record that it was left by; -1: none */
	uint64_t end; /* of the last copy */
	uint64_t regs[SAMPLES_REGS_WORDS];
	uint8_t bytes[SAMPLES_STACK_MAX];
	uint32_t
		kept[SAMPLES_STACK_MAX / STACK_PAGE]; /* one more than the page's number; 0: it is not kept */
};

int samples_slots_new(struct samples_slot **ret_slots)
{
	struct samples_slot *slots = calloc(SAMPLES_SLOTS, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < SAMPLES_SLOTS; i++)
		slots[i].nth = -1;
	*ret_slots = slots;
	return 0;
}

void samples_slots_begin_pool(struct samples_slot *slots)
{
	for (size_t i = 0; i < SAMPLES_SLOTS; i++)
		memset(slots[i].kept, 0, sizeof(slots[i].kept));
}

void samples_slots_skip(struct samples_slot *slots, uint64_t bytes)
{
	for (size_t i = 0; i < SAMPLES_SLOTS && bytes >= SAMPLES_KEY_EVERY * sizeof(struct samples_full); i++)
		slots[i].nth = -1;
}

static bool goes_on(const struct samples_slot *slot, const struct samples_full *full)
{
	return slot->nth >= 0 && slot->tid == full->record.tid && slot->nth + 1 == full->nth;
}

/* What differs in a chunk. False: the record ends before that. */
static bool update_chunk(uint8_t *chunk, const struct samples_full *full, size_t *used)
{
	uint32_t mask;

	if (*used >= full->coded_cnt)
		return false;
	mask = full->coded[(*used)++];
	if ((unsigned)__builtin_popcount(mask) + (unsigned)__builtin_popcount(mask & LOWER_HALVES) >
	    full->coded_cnt - *used)
		return false;
	for (; mask; mask &= mask - 1) {
		size_t nth = (size_t)__builtin_ctz(mask);
		uint32_t half = full->coded[(*used)++];

		if (nth % 2 == 0)
			half |= (uint32_t)full->coded[(*used)++] << 16;
		memcpy(chunk + 4 * nth, &half, sizeof(half));
	}
	return true;
}

static bool is_fresh(const struct samples_full *full, size_t nth)
{
	return full->coded[nth / 16] >> nth % 16 & 1;
}

static bool update_registers(struct samples_slot *slot, const struct samples_full *full, size_t *used)
{
	for (size_t i = 0; i < SAMPLES_REGS_CHUNKS; i++)
		if (is_fresh(full, i) && !update_chunk((uint8_t *)slot->regs + i * SAMPLES_CHUNK, full, used))
			return false;
	return true;
}

static bool update_stack(struct samples_slot *slot, const struct samples_full *full, size_t *used)
{
	uint64_t from = slot->regs[ARCH_SAMPLED_SP] & ~(SAMPLES_CHUNK - 1ull);

	for (size_t i = 0; i < full->chunk_cnt; i++) {
		size_t at = (from + i * SAMPLES_CHUNK) % SAMPLES_STACK_MAX;

		if (!is_fresh(full, SAMPLES_REGS_CHUNKS + i))
			continue;
		slot->kept[at / STACK_PAGE] = 0;
		if (!update_chunk(slot->bytes + at, full, used))
			return false;
	}
	slot->end = from + (size_t)full->chunk_cnt * SAMPLES_CHUNK;
	return true;
}

bool samples_slots_update(struct samples_slot *slots, const struct samples_full *full)
{
	struct samples_slot *slot = &slots[full->slot];
	size_t used = samples_fresh_cnt(full);
	bool is_known = !full->nth || goes_on(slot, full);

	if (!full->nth) {
		memset(slot->regs, 0, sizeof(slot->regs));
		memset(slot->bytes, 0, sizeof(slot->bytes));
		memset(slot->kept, 0, sizeof(slot->kept));
	}
	is_known = is_known && update_registers(slot, full, &used) && update_stack(slot, full, &used);
	slot->tid = full->record.tid;
	slot->nth = is_known ? full->nth : -1;
	return is_known;
}

const uint64_t *samples_slots_registers(const struct samples_slot *slots, const struct samples_full *full)
{
	return slots[full->slot].regs;
}

int samples_slots_keep(struct samples_slot *slots, const struct samples_full *full, struct stack_pool *pool,
		       struct stack_sample *sample)
{
	struct samples_slot *slot = &slots[full->slot];
	uint64_t sp = slot->regs[ARCH_SAMPLED_SP];
	int err = 0;

	if (slot->end <= sp)
		return 0;
	sample->stack_size = (uint32_t)(slot->end - sp);
	sample->pool = pool;
	sample->pool_first = pool->number_cnt;
	for (uint64_t at = sp - sp % STACK_PAGE; at < slot->end && !err; at += STACK_PAGE) {
		size_t nth = at % SAMPLES_STACK_MAX / STACK_PAGE;
		uint32_t number = slot->kept[nth] - 1;

		if (!slot->kept[nth])
			err = stack_pool_keep(pool, slot->bytes + nth * STACK_PAGE, &number);
		if (!err)
			err = stack_pool_add(pool, number);
		slot->kept[nth] = number + 1;
	}
	return err;
}
