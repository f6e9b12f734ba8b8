/* SPDX-License-Identifier: BSD-2-Clause */
/* Rings in ordinary memory, written as bpf/samples.bpf.c does it. */
#include "source/samples/ring.h"

#include <stdlib.h>

#include "assertions.h"
#include "base/array.h"
#include "seen_sample.h"

enum {
	BYTES = 3 * SAMPLES_RECORD_MAX,
	SECRET = 0x5ec7e7,
	SP = 0x7ffe0000,
	CODED = SAMPLES_CODED_CHUNK, /* of a chunk that is all there */
	ALL_HALVES = (1 << SAMPLES_HALVES) - 1
};

struct fake {
	struct samples_head head;
	struct samples_reader reader;
	uint8_t bytes[BYTES + SAMPLES_RECORD_MAX] __attribute__((aligned(64)));
	struct stack_pool stacks;
	struct stack_sample seen[4096];
	size_t cnt;
};

static int setup(void **state)
{
	struct fake *fake = aligned_alloc(64, sizeof(*fake));

	assert_non_null(fake);
	memset(fake, 0, sizeof(*fake));
	fake->reader = (struct samples_reader){
		.cpu = 3, .ring = SAMPLES_MOMENTS, .secret = SECRET, .bytes = BYTES, .stacks = &fake->stacks};
	*state = fake;
	return 0;
}

static int teardown(void **state)
{
	struct fake *fake = *state;

	for (size_t i = 0; i < fake->cnt; i++)
		stack_sample_release(&fake->seen[i]);
	samples_reader_release(&fake->reader);
	stack_pool_release(&fake->stacks);
	free(fake);
	return 0;
}

static int add(void *ctx, const struct stack_sample *sample)
{
	struct fake *fake = ctx;

	assert_true(fake->cnt < ARRAY_SIZE(fake->seen));
	fake->seen[fake->cnt++] = seen_sample(sample);
	return 0;
}

static void read_ring(struct fake *fake)
{
	assert_ok(samples_reader_read(&fake->reader, fake->bytes, &fake->head, add, fake));
}

/* Room for a record that is not finished. */
static struct samples_record *begin(struct fake *fake, uint64_t time_ns, uint16_t size)
{
	struct samples_record *record = (struct samples_record *)(fake->bytes + fake->head.head % BYTES);

	memset(record, 0, size);
	record->time_ns = time_ns;
	record->size = size;
	record->kind = SAMPLES_IN;
	record->pid = record->tid = 7;
	record->mark = 0;
	fake->head.head += size;
	return record;
}

static void end(struct samples_record *record, uint64_t position)
{
	record->mark = position ^ SECRET;
}

static void put_small(struct fake *fake, uint64_t time_ns)
{
	uint64_t position = fake->head.head;

	end(begin(fake, time_ns, sizeof(struct samples_record)), position);
}

/* The registers, all of which are told: a mask for each chunk of them, then its words. */
static void put_registers(uint16_t coded[static SAMPLES_REGS_CHUNKS * CODED])
{
	uint64_t regs[SAMPLES_REGS_WORDS] = {[ARCH_SAMPLED_SP] = SP + 8, [ARCH_SAMPLED_R11] = 11};

	for (size_t i = 0; i < SAMPLES_REGS_CHUNKS; i++, coded += CODED) {
		coded[0] = ALL_HALVES;
		for (size_t word = 0; word < SAMPLES_CHUNK / 8; word++)
			memcpy(coded + 1 + 3 * word, &regs[i * SAMPLES_CHUNK / 8 + word], 6);
	}
}

/* A tick with a stack of `chunk_cnt` chunks, of which those in `fresh` are there, filled with `byte`. */
static void put_stack(struct fake *fake, uint64_t time_ns, uint8_t nth, uint16_t chunk_cnt, uint64_t fresh,
		      uint8_t byte)
{
	uint64_t position = fake->head.head;
	uint16_t fresh_cnt = (uint16_t)__builtin_popcountll(fresh),
		 words = (uint16_t)((SAMPLES_REGS_CHUNKS + chunk_cnt + 15) / 16);
	uint16_t at = words + SAMPLES_REGS_CHUNKS * CODED, coded_cnt = (uint16_t)(at + fresh_cnt * CODED);
	struct samples_full *full = (struct samples_full *)begin(
		fake, time_ns,
		(uint16_t)((sizeof(*full) + coded_cnt * 2u + SAMPLES_ALIGN - 1) & ~(SAMPLES_ALIGN - 1ull)));

	full->record.kind = SAMPLES_TICK;
	full->record.flags = SAMPLES_WITH_STACK;
	full->record.tick.period = 1000;
	full->record.tick.ip = 0x401000;
	full->chunk_cnt = chunk_cnt;
	full->coded_cnt = coded_cnt;
	fresh = fresh << SAMPLES_REGS_CHUNKS | ((1u << SAMPLES_REGS_CHUNKS) - 1);
	for (uint16_t i = 0; i < words; i++)
		full->coded[i] = (uint16_t)(fresh >> 16 * i);
	full->nth = nth;
	put_registers(full->coded + words);
	memset(full->coded + at, byte, fresh_cnt * CODED * 2u);
	for (size_t i = 0; i < fresh_cnt; i++)
		full->coded[at + i * CODED] = ALL_HALVES;
	end(&full->record, position);
}

static void put_kind(struct fake *fake, uint64_t time_ns, uint8_t kind, uint32_t tid)
{
	uint64_t position = fake->head.head;
	struct samples_record *record = begin(fake, time_ns, sizeof(*record));

	record->kind = kind;
	record->tid = tid;
	if (kind == SAMPLES_ABOUT) {
		record->about.mode = 0010000;
		record->about.inode = 42;
		record->about.timeout_ns = 5;
	}
	end(record, position);
}

/* ---- */

/* What a call is about is told before it, perhaps with others' records between. */
TEST_WITH(test_about, setup, teardown)
{
	struct fake *fake = *state;

	put_kind(fake, 10, SAMPLES_ABOUT, 7);
	put_kind(fake, 11, SAMPLES_WAKE, 7);
	put_kind(fake, 12, SAMPLES_OUT, 8);
	put_kind(fake, 13, SAMPLES_OUT, 7);
	put_kind(fake, 14, SAMPLES_OUT, 7);
	put_kind(fake, 15, SAMPLES_ABOUT, 7);
	read_ring(fake);
	put_kind(fake, 16, SAMPLES_ENTER, 7);
	read_ring(fake);
	assert_int_equal(fake->cnt, 5);
	assert_null(fake->seen[0].call.about);
	assert_null(fake->seen[1].call.about);
	assert_string_equal(fake->seen[2].call.about, "pipe 42");
	assert_true(fake->seen[2].call.has_timeout);
	assert_int_equal(fake->seen[2].call.timeout_ns, 5);
	assert_null(fake->seen[3].call.about);
	assert_false(fake->seen[3].call.has_timeout);
	assert_string_equal(fake->seen[4].call.about, "pipe 42");
}

static void put_known(struct fake *fake, uint8_t kind, uint8_t flags, int32_t fd)
{
	uint64_t position = fake->head.head;
	struct samples_record *record = begin(fake, position, sizeof(*record));

	record->kind = kind;
	record->flags = SAMPLES_KNOWN | flags;
	if (kind == SAMPLES_ABOUT) {
		record->about.fd = fd;
		record->about.mode = 0010000;
		record->about.timeout_ns = 9;
	} else if (kind == SAMPLES_ENTER) {
		record->enter.args[0] = (uint64_t)fd;
	} else {
		record->out.args[0] = (uint64_t)fd;
	}
	end(record, position);
}

/* Once it was told what a descriptor stands for, that is referred to; not across what was lost. */
TEST_WITH(test_known, setup, teardown)
{
	struct fake *fake = *state;
	const struct stack_sample *seen = fake->seen;

	put_kind(fake, 10, SAMPLES_ABOUT, 7);
	put_known(fake, SAMPLES_ENTER, 0, 0);
	put_known(fake, SAMPLES_OUT, SAMPLES_UNTIMED, 0);
	put_known(fake, SAMPLES_ENTER, 0, 1);
	put_known(fake, SAMPLES_ABOUT, 0, 0);
	read_ring(fake);
	put_known(fake, SAMPLES_OUT, 0, 1);
	begin(fake, 0, sizeof(struct samples_record));
	put_known(fake, SAMPLES_ENTER, 0, 0);
	read_ring(fake);
	assert_int_equal(fake->cnt, 6);
	assert_string_equal(seen[0].call.about, "pipe 42");
	assert_false(seen[0].call.has_timeout);
	assert_string_equal(seen[1].call.about, "pipe 42");
	assert_true(seen[1].call.has_timeout);
	assert_int_equal(seen[1].call.timeout_ns, SAMPLES_FOREVER);
	assert_null(seen[2].call.about);
	assert_null(seen[3].call.about);
	assert_int_equal(seen[4].kind, SAMPLE_LOST);
	assert_null(seen[5].call.about);
}

/* A call's end is in the record of its begin, or the record is agreed to be without one. */
TEST_WITH(test_calls, setup, teardown)
{
	struct fake *fake = *state;
	const struct stack_sample *seen = fake->seen;
	struct samples_record *open, *done;
	uint64_t position = fake->head.head;

	done = begin(fake, 100, sizeof(*done));
	done->kind = SAMPLES_ENTER;
	done->enter.nr = 1;
	done->enter.result = -4;
	done->took_ns = 20;
	end(done, position);
	position = fake->head.head;
	open = begin(fake, 130, sizeof(*open));
	open->kind = SAMPLES_ENTER;
	end(open, position);
	read_ring(fake);
	assert_int_equal(open->took_ns, SAMPLES_TAKEN);
	read_ring(fake);
	assert_int_equal(fake->cnt, 3);
	assert_int_equal(seen[0].kind, SAMPLE_SYSCALL_BEGIN);
	assert_int_equal(seen[0].time_ns, 100);
	assert_int_equal(seen[1].kind, SAMPLE_SYSCALL_END);
	assert_int_equal(seen[1].time_ns, 120);
	assert_int_equal(seen[1].call.nr, 1);
	assert_int_equal(seen[1].call.result, -4);
	assert_int_equal(seen[2].kind, SAMPLE_SYSCALL_BEGIN);
}

/* One record, made at its end, with the time of its beginning. */
TEST_WITH(test_interrupts, setup, teardown)
{
	static const struct {
		uint32_t form, number;
		const char *name;
	} cases[] = {{SAMPLES_IRQ_DEVICE, 24, "virtio0"},
		     {SAMPLES_IRQ_SOFT, 3, "net_rx"},
		     {SAMPLES_IRQ_SOFT, 99, "?"},
		     {SAMPLES_IRQ_CLOCK, 0, "clock"}};
	struct fake *fake = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t position = fake->head.head;
		struct samples_record *record = begin(fake, 10, sizeof(*record));

		record->kind = SAMPLES_INTERRUPT;
		record->interrupt.end_ns = 15;
		record->interrupt.form = cases[i].form;
		record->interrupt.number = cases[i].number;
		strcpy(record->interrupt.name, "virtio0");
		end(record, position);
	}
	read_ring(fake);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(fake->seen[i].kind, SAMPLE_INTERRUPT);
		assert_int_equal(fake->seen[i].time_ns, 10);
		assert_int_equal(fake->seen[i].until_ns, 15);
		assert_string_equal(fake->seen[i].other.name, cases[i].name);
		assert_int_equal(fake->seen[i].other.pid, cases[i].form == SAMPLES_IRQ_SOFT);
	}
}

TEST_WITH(test_order_and_kinds, setup, teardown)
{
	struct fake *fake = *state;
	uint64_t position = fake->head.head;
	struct samples_record *record = begin(fake, 10, sizeof(*record));

	record->kind = SAMPLES_OUT;
	record->out.nr = 202;
	record->out.args[0] = 0x1234;
	record->out.state = SAMPLE_INTERRUPTIBLE | 0x400;
	record->out.ip = 0x40beef;
	end(record, position);
	position = fake->head.head;
	record = begin(fake, 20, sizeof(*record));
	record->kind = SAMPLES_WAKE;
	record->other.tid = 99;
	record->flags = SAMPLES_IRQ;
	end(record, position);
	put_small(fake, 30);
	read_ring(fake);
	assert_int_equal(fake->cnt, 3);
	assert_int_equal(fake->seen[0].kind, SAMPLE_SWITCH_OUT);
	assert_int_equal(fake->seen[0].call.nr, 202);
	assert_int_equal(fake->seen[0].call.args[0], 0x1234);
	assert_int_equal(fake->seen[0].state, SAMPLE_INTERRUPTIBLE);
	assert_int_equal(fake->seen[0].ips[0], 0x40beef);
	assert_int_equal(fake->seen[0].cpu, 3);
	assert_int_equal(fake->seen[1].kind, SAMPLE_WAKE_UP);
	assert_int_equal(fake->seen[1].other.tid, 99);
	assert_int_equal(fake->seen[1].flags, SAMPLE_FROM_IRQ);
	assert_int_equal(fake->seen[2].kind, SAMPLE_SWITCH_IN);
	assert_int_equal(fake->seen[2].time_ns, 30);
	/* Once only. */
	read_ring(fake);
	assert_int_equal(fake->cnt, 3);
	put_small(fake, 40);
	read_ring(fake);
	assert_int_equal(fake->cnt, 4);
}

/* As the kernel numbers them: ended (TASK_DEAD), frozen, parked, and one that it adds. */
TEST_WITH(test_states, setup, teardown)
{
	static const struct {
		uint32_t kernel, state;
	} cases[] = {{0x80, SAMPLE_ENDED},
		     {0x8000, SAMPLE_FROZEN},
		     {0x40, SAMPLE_UNINTERRUPTIBLE},
		     {0x402, SAMPLE_UNINTERRUPTIBLE}};
	struct fake *fake = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t position = fake->head.head;
		struct samples_record *record = begin(fake, 10 + i, sizeof(*record));

		record->kind = SAMPLES_OUT;
		record->out.state = cases[i].kernel;
		end(record, position);
	}
	read_ring(fake);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(fake->seen[i].state, cases[i].state);
		assert_false(fake->seen[i].flags & SAMPLE_PREEMPTED);
	}
}

TEST_WITH(test_stack_of_fresh_chunks, setup, teardown)
{
	struct fake *fake = *state;
	const uint8_t *stack;

	put_stack(fake, 1, 0, 3, 7, 'a');
	put_stack(fake, 2, 1, 3, 2, 'b');
	read_ring(fake);
	assert_int_equal(fake->cnt, 2);
	assert_int_equal(fake->seen[1].regs[HIT_RSP], SP + 8);
	assert_int_equal(fake->seen[1].regs[HIT_R11], 11);
	assert_true(fake->seen[1].flags & SAMPLE_HAS_REGS);
	/* The copy begins at the chunk that the stack pointer is in, the sample's at the pointer. */
	assert_int_equal(fake->seen[1].stack_size, 3 * SAMPLES_CHUNK - 8);
	stack = fake->seen[1].stack;
	for (size_t i = 0; i < fake->seen[1].stack_size; i++)
		assert_int_equal(stack[i], i % 8 >= SAMPLES_ADDRESS_BITS / 8 ? 0
					   : (i + 8) / SAMPLES_CHUNK == 1    ? 'b'
									     : 'a');
	assert_int_equal(fake->seen[0].stack[SAMPLES_CHUNK], 'a');
}

TEST_WITH(test_unfinished_record, setup, teardown)
{
	struct fake *fake = *state;
	struct samples_record *torn;
	uint64_t position;

	put_stack(fake, 1, 0, 3, 7, 'a');
	position = fake->head.head;
	torn = begin(fake, 2, 5 * SAMPLES_ALIGN);
	put_stack(fake, 3, 2, 3, 2, 'c');
	put_stack(fake, 4, 0, 3, 7, 'd');
	read_ring(fake);
	assert_int_equal(fake->cnt, 4);
	assert_int_equal(fake->seen[1].kind, SAMPLE_LOST);
	assert_int_equal(fake->seen[1].since_ns, 1);
	assert_int_equal(fake->seen[1].time_ns, 3);
	assert_int_equal(fake->seen[1].flags, SAMPLE_LOST_MOMENTS);
	/* Its stack builds on one that is not there. */
	assert_null(fake->seen[2].stack);
	assert_true(fake->seen[2].flags & SAMPLE_IS_CUT);
	assert_int_equal(fake->seen[3].stack[0], 'd');
	/* It is not told later. */
	end(torn, position);
	read_ring(fake);
	assert_int_equal(fake->cnt, 4);
}

/* What is not finished at the end is told when it is. */
TEST_WITH(test_unfinished_at_the_end, setup, teardown)
{
	struct fake *fake = *state;
	struct samples_record *torn;
	uint64_t position;

	put_small(fake, 1);
	position = fake->head.head;
	torn = begin(fake, 2, sizeof(*torn));
	read_ring(fake);
	assert_int_equal(fake->cnt, 1);
	end(torn, position);
	read_ring(fake);
	assert_int_equal(fake->cnt, 2);
	assert_int_equal(fake->seen[1].time_ns, 2);
}

TEST_WITH(test_overwritten, setup, teardown)
{
	struct fake *fake = *state;
	size_t first, size = sizeof(struct samples_full) + 2 * (63 / 16 + 1 + 63 * CODED);

	put_small(fake, 1);
	read_ring(fake);
	for (uint64_t time = 2; fake->head.head < 5 * BYTES / 2; time++)
		put_stack(fake, time, 0, 60, (1ull << 60) - 1, (uint8_t)time);
	read_ring(fake);
	assert_int_equal(fake->seen[1].kind, SAMPLE_LOST);
	assert_int_equal(fake->seen[1].since_ns, 1);
	assert_int_equal(fake->seen[1].time_ns, fake->seen[2].time_ns);
	first = fake->seen[2].time_ns;
	/* A ring's worth of records, but for the one that was cut. */
	assert_in_range(fake->cnt - 2, BYTES / size - 1, BYTES / size);
	for (size_t i = 2; i < fake->cnt; i++) {
		assert_int_equal(fake->seen[i].time_ns, first + i - 2);
		assert_int_equal(fake->seen[i].stack[0], (uint8_t)fake->seen[i].time_ns);
		assert_int_equal(fake->seen[i].stack[3800], (uint8_t)fake->seen[i].time_ns);
	}
}

/* After so many that are lost the numbers are those that would follow, but not the stacks. */
TEST_WITH(test_come_round, setup, teardown)
{
	struct fake *fake = *state;
	const struct stack_sample *seen = fake->seen;

	put_stack(fake, 1, 0, 2, 3, 'x');
	put_stack(fake, 2, 1, 2, 0, 'x');
	begin(fake, 0, 8 * sizeof(struct samples_record));
	put_stack(fake, 3, 2, 2, 0, 'x');
	for (size_t i = 0; i < SAMPLES_KEY_EVERY; i++)
		begin(fake, 0,
		      (uint16_t)((sizeof(struct samples_full) + SAMPLES_ALIGN - 1) &
				 ~(SAMPLES_ALIGN - 1ull)));
	put_stack(fake, 4, 3, 2, 0, 'x');
	read_ring(fake);
	assert_int_equal(fake->cnt, 6);
	assert_int_equal(seen[2].kind, SAMPLE_LOST);
	assert_int_equal(seen[3].stack_size, 2 * SAMPLES_CHUNK - 8);
	assert_int_equal(seen[4].kind, SAMPLE_LOST);
	assert_int_equal(seen[5].stack_size, 0);
	assert_true(seen[5].flags & SAMPLE_IS_CUT);
}

/* Records with impossible counts, under a mark that is right. */
TEST_WITH(test_damaged, setup, teardown)
{
	struct fake *fake = *state;
	struct samples_full *full = (struct samples_full *)fake->bytes;

	for (int damage = 0; damage < 5; damage++) {
		full = (struct samples_full *)(fake->bytes + fake->head.head % BYTES);
		put_stack(fake, 1, 0, 2, 3, 'x');
		switch (damage) {
		case 0:
			full->record.size = UINT16_MAX & ~63u;
			break;
		case 1:
			full->record.size = 63;
			break;
		case 2:
			full->coded_cnt = 400;
			break;
		case 3:
			full->kernel_cnt = UINT16_MAX;
			break;
		default:
			full->slot = UINT8_MAX;
		}
	}
	put_small(fake, 2);
	read_ring(fake);
	assert_int_equal(fake->cnt, 2);
	assert_int_equal(fake->seen[0].kind, SAMPLE_LOST);
	assert_int_equal(fake->seen[1].kind, SAMPLE_SWITCH_IN);
}

TEST_MAIN(NULL, NULL)
