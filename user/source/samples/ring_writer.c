/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as bpf/samples.bpf.c does in the kernel, so that there is one format and one reader. A copy of a
 * stack begins at the chunk that the stack pointer is in; what stands below the pointer there is not known,
 * and is left 0.
 */
#include "source/samples/ring_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/samples_words.h"

struct samples_copied {
	uint32_t tid, nth;
	uint64_t low, high; /* the addresses whose words are here, each at its place */
	__u64 regs[SAMPLES_REG_CNT];
	__u64 words[SAMPLES_STACK_MAX / 8];
};

static struct samples_record *next_place(const struct samples_writer *writer)
{
	return (struct samples_record *)(writer->bytes + writer->head->head % writer->size);
}

static void commit(struct samples_writer *writer, struct samples_record *record, size_t size)
{
	record->size = (uint32_t)((size + SAMPLES_ALIGN - 1) & ~(SAMPLES_ALIGN - 1ull));
	record->mark = writer->head->head ^ writer->secret;
	writer->head->head += record->size;
}

void samples_writer_put(struct samples_writer *writer, const struct samples_record *record)
{
	struct samples_record *place = next_place(writer);

	*place = *record;
	commit(writer, place, sizeof(*place));
}

/* A record with a stack on its way into the ring. */
struct putting {
	struct samples_full *full;
	struct samples_copied *slot;
	const __u64 *regs;
	const uint8_t *stack; /* what stands at regs[SAMPLES_RSP] */
	size_t next;	      /* the chunk behind the last one that was put */
	struct samples_upper upper;
};

/* The words of the chunk that begins at `address`. */
static void read_chunk(__u64 chunk[static SAMPLES_CHUNK_WORDS], uint64_t address, uint64_t sp,
		       const uint8_t *stack)
{
	size_t below = address < sp ? sp - address : 0;

	memset(chunk, 0, below);
	memcpy((uint8_t *)chunk + below, stack + (address + below - sp), SAMPLES_CHUNK - below);
}

static void put_chunk(struct putting *putting, size_t nth, const __u64 *now, __u64 *then)
{
	struct samples_full *full = putting->full;
	uint32_t passed = (uint32_t)(nth - putting->next);

	if (passed < SAMPLES_PASSED_MAX && samples_is_same_chunk(now, then))
		return;
	putting->next = nth + 1;
	if (nth)
		putting->upper.stack = (uint32_t)(putting->regs[SAMPLES_RSP] >> 32);
	full->coded_cnt += (uint16_t)samples_put_chunk(full->coded + full->coded_cnt, passed, now, then,
						       &putting->upper);
}

static void put_registers(struct putting *putting)
{
	for (size_t i = 0; i < SAMPLES_REG_CHUNKS; i++)
		put_chunk(putting, i, putting->regs + i * SAMPLES_CHUNK_WORDS,
			  putting->slot->regs + i * SAMPLES_CHUNK_WORDS);
}

static void put_stack(struct putting *putting)
{
	uint64_t sp = putting->regs[SAMPLES_RSP], from = sp & ~(SAMPLES_CHUNK - 1ull), at = from;
	struct samples_copied *slot = putting->slot;

	for (size_t i = SAMPLES_REG_CHUNKS; i < putting->full->chunk_cnt; i++, at += SAMPLES_CHUNK) {
		__u64 *then = slot->words + at % SAMPLES_STACK_MAX / 8, now[SAMPLES_CHUNK_WORDS];

		read_chunk(now, at, sp, putting->stack);
		if (at < slot->low || at >= slot->high)
			memset(then, 0, SAMPLES_CHUNK);
		put_chunk(putting, i, now, then);
	}
	slot->low = from;
	slot->high = at;
}

/* Whether the record builds on the one before it; else all of it is new. */
static bool goes_on(struct samples_copied *slot, uint32_t tid)
{
	if (slot->tid == tid && slot->nth + 1 < SAMPLES_KEY_EVERY)
		return true;
	memset(slot->regs, 0, sizeof(slot->regs));
	slot->low = slot->high = 0;
	return false;
}

int samples_writer_put_full(struct samples_writer *writer, const struct samples_record *record,
			    const __u64 regs[SAMPLES_REG_CNT], const uint8_t *stack, size_t size)
{
	struct samples_full *full = (struct samples_full *)next_place(writer);
	size_t chunks = SAMPLES_REG_CHUNKS + (regs[SAMPLES_RSP] % SAMPLES_CHUNK + size) / SAMPLES_CHUNK;
	struct putting putting = {
		.full = full, .regs = regs, .stack = stack, .upper.code = (uint32_t)(record->ip >> 32)};
	struct samples_copied *slot;

	if (!writer->slots)
		writer->slots = calloc(SAMPLES_SLOTS, sizeof(*writer->slots));
	if (!writer->slots)
		return -ENOMEM;
	*full = (struct samples_full){.record = *record};
	full->record.flags |= SAMPLES_WITH_STACK;
	full->chunk_cnt = (uint16_t)(chunks < SAMPLES_CHUNK_MAX ? chunks : SAMPLES_CHUNK_MAX);
	full->slot = full->record.tid % SAMPLES_SLOTS;
	putting.slot = slot = &writer->slots[full->slot];
	if (goes_on(slot, full->record.tid))
		full->nth = (uint8_t)(slot->nth + 1);
	put_registers(&putting);
	put_stack(&putting);
	slot->tid = full->record.tid;
	slot->nth = full->nth;
	commit(writer, &full->record, sizeof(*full) + 4u * full->coded_cnt);
	return 0;
}

void samples_writer_release(struct samples_writer *writer)
{
	free(writer->slots);
	writer->slots = NULL;
}
