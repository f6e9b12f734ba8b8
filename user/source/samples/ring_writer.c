/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as bpf/samples.bpf.c does in the kernel, so that there is one format and one reader. A copy of a
 * stack begins at the chunk that the stack pointer is in; what stands below the pointer there is not known,
 * and is left 0, as is what cannot be an address.
 */
#include "source/samples/ring_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct samples_copied {
	uint32_t tid, nth;
	uint64_t regs[SAMPLES_REGS_WORDS];
	uint8_t bytes[SAMPLES_STACK_MAX];
};

static struct samples_record *next_place(const struct samples_writer *writer)
{
	return (struct samples_record *)(writer->bytes + writer->head->head % writer->size);
}

static void commit(struct samples_writer *writer, struct samples_record *record, size_t size)
{
	record->size = (uint16_t)((size + SAMPLES_ALIGN - 1) & ~(SAMPLES_ALIGN - 1ull));
	record->mark = writer->head->head ^ writer->secret;
	writer->head->head += record->size;
}

void samples_writer_put(struct samples_writer *writer, const struct samples_record *record)
{
	struct samples_record *place = next_place(writer);

	*place = *record;
	commit(writer, place, sizeof(*place));
}

/* The bytes of the chunk that begins at `address`. */
static void read_chunk(uint8_t chunk[static SAMPLES_CHUNK], uint64_t address, uint64_t sp,
		       const uint8_t *stack)
{
	size_t below = address < sp ? sp - address : 0;
	uint64_t words[SAMPLES_CHUNK / sizeof(uint64_t)] = {0};

	memcpy((uint8_t *)words + below, stack + (address + below - sp), SAMPLES_CHUNK - below);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i] >> SAMPLES_ADDRESS_BITS)
			words[i] = 0;
	memcpy(chunk, words, sizeof(words));
}

static void put_halves(struct samples_full *full, const uint8_t *now, uint8_t *then)
{
	uint16_t *mask = &full->coded[full->coded_cnt++];
	uint32_t half;

	*mask = 0;
	for (size_t i = 0; i < SAMPLES_HALVES; i++) {
		if (!memcmp(now + 4 * i, then + 4 * i, 4))
			continue;
		*mask |= (uint16_t)(1u << i);
		memcpy(&half, now + 4 * i, sizeof(half));
		full->coded[full->coded_cnt++] = (uint16_t)half;
		if (i % 2 == 0)
			full->coded[full->coded_cnt++] = (uint16_t)(half >> 16);
	}
	memcpy(then, now, SAMPLES_CHUNK);
}

static void put_chunk(struct samples_full *full, size_t nth, const uint8_t *now, uint8_t *then)
{
	if (!memcmp(now, then, SAMPLES_CHUNK))
		return;
	put_halves(full, now, then);
	full->coded[nth / 16] |= (uint16_t)(1u << nth % 16);
}

static void put_registers(struct samples_full *full, struct samples_copied *slot, const uint64_t *regs)
{
	uint64_t now[SAMPLES_REGS_WORDS] = {0};

	memcpy(now, regs, ARCH_SAMPLED_CNT * sizeof(*now));
	now[ARCH_SAMPLED_IP] = 0;
	for (size_t i = 0; i < SAMPLES_REGS_CHUNKS; i++)
		put_chunk(full, i, (uint8_t *)now + i * SAMPLES_CHUNK,
			  (uint8_t *)slot->regs + i * SAMPLES_CHUNK);
}

static void put_chunks(struct samples_full *full, struct samples_copied *slot, uint64_t sp,
		       const uint8_t *stack)
{
	uint64_t from = sp & ~(SAMPLES_CHUNK - 1ull);

	for (size_t i = 0; i < full->chunk_cnt; i++) {
		uint64_t address = from + i * SAMPLES_CHUNK;
		uint8_t *then = slot->bytes + address % SAMPLES_STACK_MAX, now[SAMPLES_CHUNK];

		read_chunk(now, address, sp, stack);
		put_chunk(full, SAMPLES_REGS_CHUNKS + i, now, then);
	}
}

int samples_writer_put_full(struct samples_writer *writer, const struct samples_record *record,
			    const uint64_t *regs, const uint8_t *stack, size_t size)
{
	struct samples_full *full = (struct samples_full *)next_place(writer);
	uint64_t sp = regs[ARCH_SAMPLED_SP];
	size_t chunks = (sp % SAMPLES_CHUNK + size) / SAMPLES_CHUNK;
	struct samples_copied *slot;

	if (!writer->slots)
		writer->slots = calloc(SAMPLES_SLOTS, sizeof(*writer->slots));
	if (!writer->slots)
		return -ENOMEM;
	*full = (struct samples_full){.record = *record};
	full->record.flags |= SAMPLES_WITH_STACK;
	full->record.tick.ip = regs[ARCH_SAMPLED_IP];
	full->chunk_cnt = (uint16_t)(chunks < SAMPLES_CHUNK_MAX ? chunks : SAMPLES_CHUNK_MAX);
	full->slot = full->record.tid % SAMPLES_SLOTS;
	full->coded_cnt = (uint16_t)samples_fresh_cnt(full);
	memset(full->coded, 0, full->coded_cnt * sizeof(*full->coded));
	slot = &writer->slots[full->slot];
	if (slot->tid == full->record.tid)
		full->nth = (uint8_t)((slot->nth + 1) % SAMPLES_KEY_EVERY);
	if (!full->nth)
		*slot = (struct samples_copied){.tid = full->record.tid};
	put_registers(full, slot, regs);
	put_chunks(full, slot, sp, stack);
	slot->nth = full->nth;
	commit(writer, &full->record, sizeof(*full) + 2u * samples_kernel_at(full));
	return 0;
}

void samples_writer_release(struct samples_writer *writer)
{
	free(writer->slots);
	writer->slots = NULL;
}
