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

	for (size_t i = 0; i < full->chunk_cnt; i++)
		if (is_fresh(full, SAMPLES_REGS_CHUNKS + i) &&
		    !update_chunk(slot->bytes + (from + i * SAMPLES_CHUNK) % SAMPLES_STACK_MAX, full, used))
			return false;
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

int samples_slots_copy(const struct samples_slot *slots, const struct samples_full *full,
		       struct stack_sample *sample)
{
	const struct samples_slot *slot = &slots[full->slot];
	uint64_t sp = slot->regs[ARCH_SAMPLED_SP];
	size_t size = slot->end > sp ? slot->end - sp : 0;
	uint8_t *stack;

	if (!size)
		return 0;
	stack = malloc(size);
	if (!stack)
		return -ENOMEM;
	for (size_t done = 0; done < size;) {
		size_t at = (sp + done) % SAMPLES_STACK_MAX, piece = SAMPLES_STACK_MAX - at;

		if (piece > size - done)
			piece = size - done;
		memcpy(stack + done, slot->bytes + at, piece);
		done += piece;
	}
	sample->stack = stack;
	sample->stack_size = size;
	sample->is_stack_owned = true;
	return 0;
}
