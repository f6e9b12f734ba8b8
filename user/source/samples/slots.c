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
	int nth; /* of the record that it was left by; -1: none */
	uint64_t low, high;
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

bool samples_slots_update(struct samples_slot *slots, const struct samples_full *full)
{
	struct samples_slot *slot = &slots[full->slot];
	uint64_t from = full->regs[ARCH_SAMPLED_SP] & ~(SAMPLES_CHUNK - 1ull);
	size_t used = samples_fresh_cnt(full);

	if (full->nth && !goes_on(slot, full)) {
		slot->nth = -1;
		return false;
	}
	for (size_t i = 0; i < full->chunk_cnt; i++) {
		uint64_t at = from + i * SAMPLES_CHUNK;
		uint8_t *chunk = slot->bytes + at % SAMPLES_STACK_MAX;

		if (!full->nth || at < slot->low || at >= slot->high)
			memset(chunk, 0, SAMPLES_CHUNK);
		if (full->coded[i / 16] >> i % 16 & 1 && !update_chunk(chunk, full, &used)) {
			slot->nth = -1;
			return false;
		}
	}
	slot->tid = full->record.tid;
	slot->nth = full->nth;
	slot->low = from;
	slot->high = from + (size_t)full->chunk_cnt * SAMPLES_CHUNK;
	return true;
}

int samples_slots_copy(const struct samples_slot *slots, const struct samples_full *full,
		       struct stack_sample *sample)
{
	const struct samples_slot *slot = &slots[full->slot];
	uint64_t sp = full->regs[ARCH_SAMPLED_SP];
	size_t size = slot->high > sp ? slot->high - sp : 0;
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
