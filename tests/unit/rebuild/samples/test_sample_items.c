/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of one thread in, items, pauses and what is known of them out, as text. */
#include "assertions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "rebuild/samples/returned_call.h"
#include "rebuild/samples/sample_holes.h"
#include "rebuild/samples/sample_items.h"

enum { SAMPLES_MAX = 32, FIRST = 1000, UNTIL = 9000 };

struct story {
	struct stack_sample samples[SAMPLES_MAX];
	uint64_t ip[SAMPLES_MAX]; /* 0: no stack */
	size_t cnt;
	uint64_t period; /* 0: holes are not looked for */
	size_t hole_cnt;
};

static const char *thread_name(void *ctx, int32_t tid)
{
	(void)ctx;
	return tid == 7 ? "worker" : NULL;
}

static struct stack_sample *add(struct story *story, uint64_t time, enum sample_kind kind, uint64_t ip)
{
	struct stack_sample *sample = &story->samples[story->cnt];

	story->ip[story->cnt++] = ip;
	*sample = (struct stack_sample){
		.time_ns = time, .kind = kind, .pid = 5, .tid = 6, .call.nr = SAMPLE_NO_SYSCALL};
	sample->state = kind == SAMPLE_SWITCH_OUT ? SAMPLE_INTERRUPTIBLE : 0;
	return sample;
}

static struct sample_stack stack_of(uint64_t ip)
{
	struct sample_stack stack = {0};

	if (!ip)
		return stack;
	stack.ips = calloc(2, sizeof(*stack.ips));
	stack.ips[0] = ip;
	stack.cfas = stack.ips + 1;
	stack.cnt = 1;
	return stack;
}

static void print_pause(FILE *file, const struct sampled_pause *pause)
{
	const struct slice slice = {.kind = (uint8_t)pause->kind,
				    .flags = pause->detail ? SLICE_DETAILED : 0,
				    .detail = pause->detail};

	fprintf(file, "%*s%s %" PRIu64 "-%" PRIu64 "%s%s", 2 + 2 * (int)pause->depth, "", slice_title(&slice),
		pause->start, pause->end, pause->flags & SLICE_INFERRED_START ? "?" : "",
		pause->flags & SLICE_OPEN_END ? "!" : "");
	if (pause->detail && pause->detail->about)
		fprintf(file, " (%s)", pause->detail->about);
	if (pause->detail && pause->detail->woken_by)
		fprintf(file, " by %s", pause->detail->woken_by);
	if (pause->detail && pause->detail->has_result)
		fprintf(file, " = %" PRId64, pause->detail->result);
	fprintf(file, "\n");
}

static void print(FILE *file, const struct sample_items *items, const struct timeline *timeline)
{
	for (size_t i = 0; i < items->cnt; i++) {
		const struct sampled_item *item = &items->items[i];

		fprintf(file, "%" PRIu64 "-%" PRIu64 "%s %" PRIx64 "\n", item->start, item->end,
			item->is_lost ? " lost" : "", item->cnt ? item->ips[0] : 0);
		for (size_t j = 0; j < item->pause_cnt; j++)
			print_pause(file, &item->pauses[j]);
	}
	for (size_t i = 0; i < items->instant_cnt; i++)
		fprintf(file, "%" PRIu64 " %s\n", items->instants[i].time_ns, items->instants[i].text);
	for (size_t i = 0; i < timeline->flow_cnt; i++)
		fprintf(file, "%d at %" PRIu64 " -> %d at %" PRIu64 "\n", timeline->flows[i].from_tid,
			timeline->flows[i].from_ns, timeline->flows[i].to_tid, timeline->flows[i].to_ns);
}

static void assert_told(const struct story *story, const char *expected)
{
	struct sample_items items = {.pid = 5, .tid = 6, .ran_on = -1, .first_ns = FIRST};
	struct sample_holes holes = {0};
	struct sample_context context = {.base_ns = FIRST, .thread_name = thread_name};
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_ok(timeline_new(&context.timeline));
	for (size_t i = 0; i < story->cnt; i++) {
		struct sample_stack stack = stack_of(story->ip[i]);

		assert_ok(sample_items_add(&items, &context, &story->samples[i], &stack));
	}
	assert_ok(sample_items_finish(&items, &context, UNTIL));
	assert_ok(sample_holes_find(&items, &context, story->period, &holes));
	assert_int_equal(holes.cnt, story->hole_cnt);
	print(file, &items, context.timeline);
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
	sample_items_release(&items);
	timeline_free(context.timeline);
}

static void set_call(struct stack_sample *sample, int32_t nr, uint64_t first, uint64_t second, int64_t result)
{
	sample->call.nr = nr;
	sample->call.args[0] = first;
	sample->call.args[1] = second;
	sample->call.result = result;
}

static void set_waker(struct stack_sample *sample, int32_t tid)
{
	sample->other.pid = 5;
	sample->other.tid = tid;
}

TEST(test_a_lock_in_a_call)
{
	struct story story = {0};

	add(&story, 1000, SAMPLE_EVENT, 0x10);
	set_call(add(&story, 1100, SAMPLE_SYSCALL_BEGIN, 0), SYS_futex, 0x55d0c0, 128, 0);
	add(&story, 1200, SAMPLE_SWITCH_OUT, 0x20)->state = SAMPLE_INTERRUPTIBLE;
	set_waker(add(&story, 2101200, SAMPLE_WAKE_UP, 0x99), 7);
	add(&story, 2101300, SAMPLE_SWITCH_IN, 0);
	set_call(add(&story, 2101400, SAMPLE_SYSCALL_END, 0), SYS_futex, 0, 0, -11);
	add(&story, 2102000, SAMPLE_EVENT, 0x30);
	assert_told(&story, "1000-1000 10\n1100-2101400 20\n"
			    "  [syscall] futex 1100-2101400 (futex at 0x55d0c0) = -11\n"
			    "    [off-cpu] futex_wait, woken by worker after 2.1 ms 1200-2101200 (futex at "
			    "0x55d0c0) by worker (tid 7)\n"
			    "    [run-queue] 2101200-2101300\n"
			    "2102000-2102000 30\n7 at 2100200 -> 6 at 2100300\n");
}

/* Without tracing system calls, the switch tells which one it is in. */
TEST(test_waits_alone)
{
	struct story story = {0};
	struct stack_sample *out;

	out = add(&story, 2000, SAMPLE_SWITCH_OUT, 0x20);
	set_call(out, SYS_read, 3, 0, 0);
	out->call.about = (char *)"socket 127.0.0.1:6379";
	out->call.has_timeout = true;
	out->call.timeout_ns = 1500000;
	add(&story, 2500, SAMPLE_WAKE_UP, 0)->flags = SAMPLE_FROM_IRQ;
	add(&story, 2600, SAMPLE_SWITCH_IN, 0);
	add(&story, 3000, SAMPLE_SWITCH_OUT, 0x30)->state = 0;
	add(&story, 3500, SAMPLE_SWITCH_IN, 0)->other = (struct sample_thread){31, 32, "hog"};
	add(&story, 4000, SAMPLE_SWITCH_OUT, 0)->state = SAMPLE_UNINTERRUPTIBLE;
	set_waker(add(&story, 4100, SAMPLE_WAKE_UP, 0), 7);
	story.samples[story.cnt - 1].flags = SAMPLE_FROM_TIMER;
	add(&story, 4100, SAMPLE_SWITCH_IN, 0);
	out = add(&story, 5000, SAMPLE_SWITCH_OUT, 0);
	set_call(out, SYS_read, 3, 0, 0);
	out->call.about = (char *)"file /etc/passwd";
	out->state = SAMPLE_STOPPED;
	assert_told(&story,
		    "2000-2600 20\n"
		    "  [off-cpu] read, socket 127.0.0.1:6379, woken by an interrupt after 500 ns 2000-2500 "
		    "(read of file descriptor 3, socket 127.0.0.1:6379, for 1.5 ms at most) by an "
		    "interrupt\n  [run-queue] 2500-2600\n"
		    "3000-3500 30\n  [run-queue] behind hog for 500 ns 3000-3500 (process 31, thread 32)\n"
		    "4000-4100 0\n  [off-cpu] disk or kernel lock, woken by a timer after 100 ns 4000-4100 "
		    "by a timer\n"
		    "  [run-queue] 4100-4100\n"
		    "5000-9000 0\n  [off-cpu] stopped 5000-9000!\n");
}

TEST(test_migrations)
{
	struct story story = {0};

	add(&story, 2000, SAMPLE_SWITCH_OUT, 0)->state = 0;
	add(&story, 2500, SAMPLE_SWITCH_IN, 0)->cpu = 1;
	add(&story, 3000, SAMPLE_SWITCH_OUT, 0)->cpu = 1;
	add(&story, 3500, SAMPLE_SWITCH_IN, 0)->cpu = 1;
	assert_told(&story, "2000-2500 0\n  [run-queue] 2000-2500\n3000-3500 0\n  [off-cpu] 3000-3500\n"
			    "1500 [migrated: from processor 0 to 1]\n");
}

static void add_interrupt(struct story *story, uint64_t time, uint64_t until, const char *name, bool is_soft)
{
	struct stack_sample *sample = add(story, time, SAMPLE_INTERRUPT, 0);

	sample->until_ns = until;
	sample->other.pid = is_soft;
	strcpy(sample->other.name, name);
}

/* The clock's interrupt is where its tick was; an interrupt within a softirq lies in it. */
TEST(test_interrupts)
{
	struct story story = {0};

	add_interrupt(&story, 1100, 1200, "clock", false);
	add(&story, 1150, SAMPLE_EVENT, 0x10);
	set_call(add(&story, 2000, SAMPLE_SYSCALL_BEGIN, 0), SYS_pause, 0, 0, 0);
	add_interrupt(&story, 2100, 2400, "net_rx", true);
	add_interrupt(&story, 2150, 2200, "virtio0", false);
	add_interrupt(&story, 2300, 2450, "virtio1", false);
	set_call(add(&story, 2500, SAMPLE_SYSCALL_END, 0), SYS_pause, 0, 0, 0);
	assert_told(&story,
		    "1100-1200 10\n  [irq] clock 1100-1200\n2000-2500 0\n  [syscall] pause 2000-2500 = 0\n"
		    "    [softirq] net_rx 2100-2400\n      [irq] virtio0 2150-2200\n"
		    "      [irq] virtio1 2300-2400\n");
}

/* It ran, and was not sampled: not where it waited, and not where a switch may be missing. */
TEST(test_holes)
{
	struct story story = {.period = 100, .hole_cnt = 1};
	struct stack_sample *loss;

	add(&story, 1100, SAMPLE_EVENT, 0x10);
	loss = add(&story, 2000, SAMPLE_LOST, 0);
	loss->flags = SAMPLE_LOST_MOMENTS;
	loss->since_ns = 1100;
	add(&story, 2000, SAMPLE_EVENT, 0x10);
	add(&story, 2300, SAMPLE_EVENT, 0x10);
	add(&story, 2601, SAMPLE_EVENT, 0x10);
	add(&story, 2900, SAMPLE_SWITCH_OUT, 0);
	add(&story, 4000, SAMPLE_SWITCH_IN, 0);
	add(&story, 4100, SAMPLE_EVENT, 0x10);
	assert_told(
		&story,
		"1100-1100 10\n2000-2000 10\n2300-2300 10\n2601-2601 10\n2900-4000 0\n"
		"  [off-cpu] 2900-4000\n4100-4100 10\n100 [gap: lost switches, wake-ups or system calls]\n"
		"1300 [gap: no samples for 0.0 ms: the kernel throttled them, or the machine was stopped]\n");
}

/* A thread that was seen to wait waited since it was last seen, or all the time. */
TEST(test_waits_still)
{
	struct story all = {0}, last = {0};
	struct stack_sample *still;

	still = add(&all, 5000, SAMPLE_SWITCH_OUT, 0x10);
	still->flags = SAMPLE_IS_STILL;
	still->since_ns = 1500;
	set_call(still, SYS_pause, 0, 0, 0);
	assert_told(&all, "1500-9000 10\n  [off-cpu] pause 1500-9000?!\n");
	add(&last, 2000, SAMPLE_EVENT, 0x10);
	add(&last, 3000, SAMPLE_SWITCH_OUT, 0);
	still = add(&last, 5000, SAMPLE_SWITCH_OUT, 0x20);
	still->flags = SAMPLE_IS_STILL;
	add(&last, 6000, SAMPLE_SWITCH_IN, 0);
	assert_told(&last, "2000-2000 10\n3000-6000 20\n  [off-cpu] 3000-6000\n");
}

static struct stack_sample *add_still(struct story *story, uint64_t time, uint64_t since)
{
	struct stack_sample *still = add(story, time, SAMPLE_SWITCH_OUT, 0x10);

	still->flags = SAMPLE_IS_STILL;
	still->since_ns = since;
	set_call(still, SYS_pause, 0, 0, 0);
	return still;
}

static void add_loss(struct story *story, uint64_t time, uint64_t since)
{
	struct stack_sample *loss = add(story, time, SAMPLE_LOST, 0);

	loss->since_ns = since;
	loss->flags = SAMPLE_LOST_MOMENTS;
}

/* What is missing before that says nothing against it, nor does what is missing later. */
TEST(test_waits_still_at_a_loss)
{
	struct story before = {0}, later = {0};

	set_call(add(&before, 2000, SAMPLE_SWITCH_OUT, 0), SYS_read, 0, 0, 0);
	add_loss(&before, 4000, 3000);
	add_still(&before, 5000, 4000);
	assert_told(&before,
		    "2000-3000 0\n  [off-cpu] read 2000-3000 (read of file descriptor 0)\n4000-9000 10\n"
		    "  [off-cpu] pause 4000-9000?!\n2000 [gap: lost switches, wake-ups or system calls]\n");
	add_still(&later, 5000, 1500);
	add_loss(&later, 6000, FIRST);
	assert_told(&later, "1500-5000 10\n  [off-cpu] pause 1500-5000?\n"
			    "0 [gap: lost switches, wake-ups or system calls]\n");
}

/* What was so before it was recorded was so since the beginning. */
TEST(test_begins_within)
{
	struct story story = {0}, other = {0}, third = {0};

	add(&story, 2000, SAMPLE_SWITCH_IN, 0x10);
	add(&story, 3000, SAMPLE_SWITCH_IN, 0x10); /* lost, or told twice */
	assert_told(&story, "1000-2000 10\n  [off-cpu] 1000-2000?\n");
	set_call(add(&other, 2000, SAMPLE_SYSCALL_END, 0x10), SYS_pause, 0, 0, -4);
	assert_told(&other, "1000-2000 10\n  [syscall] pause 1000-2000? = -4\n");
	set_waker(add(&third, 2000, SAMPLE_WAKE_UP, 0x10), 99);
	add(&third, 2100, SAMPLE_SWITCH_IN, 0);
	add(&third, 3000, SAMPLE_SWITCH_OUT, 0)->state = SAMPLE_INTERRUPTIBLE;
	add(&third, 3100, SAMPLE_WAKE_UP, 0)->other = (struct sample_thread){31, 32, "redis"};
	add(&third, 3200, SAMPLE_SWITCH_IN, 0);
	assert_told(&third,
		    "1000-2100 0\n  [off-cpu], woken by another program after at least 1.0 us 1000-2000? by "
		    "another "
		    "program (tid 99)\n  [run-queue] 2000-2100\n"
		    "3000-3200 0\n  [off-cpu], woken by redis after 100 ns 3000-3100 by redis (tid 32)\n"
		    "  [run-queue] 3100-3200\n99 at 1000 -> 6 at 1100\n32 at 2100 -> 6 at 2200\n");
}

/* A tick proves that it runs; a call proves that the one before it has ended. */
TEST(test_missing_ends)
{
	struct story story = {0};

	add(&story, 2000, SAMPLE_SWITCH_OUT, 0x10);
	add(&story, 3000, SAMPLE_EVENT, 0x20);
	set_call(add(&story, 4000, SAMPLE_SYSCALL_BEGIN, 0), SYS_getpid, 0, 0, 0);
	set_call(add(&story, 5000, SAMPLE_SYSCALL_BEGIN, 0), SYS_kill, 17, 0, 0);
	assert_told(&story,
		    "2000-3000 10\n  [off-cpu] 2000-3000\n3000-3000 20\n4000-5000 0\n  [syscall] getpid "
		    "4000-5000\n5000-9000 0\n  [syscall] kill 5000-9000! (kill of process 17)\n");
}

/* A thread that waits, and then begins to wait elsewhere, has run in between. */
TEST(test_missing_begin)
{
	struct story story = {0};

	add(&story, 2000, SAMPLE_SWITCH_OUT, 0xa);
	add(&story, 3000, SAMPLE_WAKE_UP, 0);
	add(&story, 4000, SAMPLE_SWITCH_OUT, 0xb);
	add(&story, 5000, SAMPLE_SWITCH_IN, 0);
	assert_told(&story,
		    "2000-4000 a\n  [off-cpu], woken after 1.0 us 2000-3000\n  [run-queue] 3000-4000\n"
		    "4000-5000 b\n  [off-cpu] 4000-5000\n");
}

TEST(test_losses_and_faults)
{
	struct story story = {0};
	struct stack_sample *lost;

	add(&story, 2000, SAMPLE_SWITCH_OUT, 0x10);
	lost = add(&story, 4000, SAMPLE_LOST, 0);
	lost->since_ns = 3000;
	lost->lost_cnt = 12;
	add(&story, 4500, SAMPLE_PAGE_FAULT, 0x20)->address = 0xabc000;
	lost = add(&story, 5000, SAMPLE_LOST, 0);
	lost->since_ns = 4800;
	lost->flags = SAMPLE_LOST_TICKS;
	add(&story, 6000, SAMPLE_SWITCH_OUT, 0)->state = SAMPLE_ENDED;
	assert_told(&story,
		    "2000-3000 10\n  [off-cpu] 2000-3000\n3000-4000 lost 0\n4500-4500 20\n2000 [gap: lost "
		    "samples: 12]\n3500 [page fault: 0xabc000]\n3800 [gap: lost samples]\n");
}

/* A frame for each ip, innermost first, each 0x10 above the one within, the outermost at 0xf0. */
static struct sample_stack frames(const uint64_t *ips, size_t cnt)
{
	struct sample_stack stack = {.ips = calloc(2 * cnt, sizeof(*ips)), .cnt = cnt};

	stack.cfas = stack.ips + cnt;
	for (size_t i = 0; i < cnt; i++) {
		stack.ips[i] = ips[i];
		stack.cfas[i] = 0x100 - 0x10 * (cnt - i);
	}
	return stack;
}

static void see_at(struct sample_items *items, uint64_t time, const uint64_t *ips, size_t cnt)
{
	struct sample_stack stack = frames(ips, cnt);

	assert_int_equal(sample_items_hit(items, &(struct sample_context){0}, time, &stack, false), 0);
}

/* Each has 16 bytes. */
static const struct symbol *function_of_16(void *ctx, int32_t pid, uint64_t ip, uint64_t time_ns)
{
	static const struct symbol functions[16];

	(void)ctx;
	(void)pid;
	(void)time_ns;
	return &functions[ip / 16];
}

/* `cnt` frames in, with the innermost function's address or 0, if only samples can tell. */
static void return_at(struct sample_items *items, uint64_t begin, uint64_t end, uint64_t ip, size_t cnt)
{
	const struct sample_context context = {.symbol_at = function_of_16};
	struct returned_call call = {begin, end, frames((const uint64_t[]){ip, 0x12, 0x12}, cnt)};

	assert_int_equal(returned_call_add(items, &context, &call), 0);
}

static char *items_text(struct sample_items *items)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; i < items->cnt; i++)
		fprintf(file, "%" PRIu64 "%s %" PRIx64 "/%" PRIx64 " of %zu\n", items->items[i].start,
			items->items[i].is_begin ? " begin" : "", items->items[i].ips[0],
			items->items[i].cfas[0], items->items[i].cnt);
	fclose(file);
	sample_items_release(items);
	return text;
}

/* The same frame in three stacks: that was two calls. A frame that no stack has shown must be known. */
TEST(test_returned_call)
{
	static const uint64_t main_calls[] = {0x21, 0x11}, calls_more[] = {0x31, 0x22, 0x11};
	struct sample_items items = {.pid = 5, .tid = 6};
	char *text;

	see_at(&items, 2000, main_calls, 2);
	see_at(&items, 4000, calls_more, 3);
	see_at(&items, 6000, main_calls, 2);
	return_at(&items, 4500, 7000, 0, 3);
	return_at(&items, 3000, 7000, 0, 2);
	return_at(&items, 1000, 7000, 0x10, 1);
	return_at(&items, 7500, 8000, 0x40, 2);
	text = items_text(&items);
	assert_string_equal(text, "1000 begin 11/f0 of 1\n2000 21/e0 of 2\n3000 begin 22/e0 of 2\n"
				  "4000 31/d0 of 3\n6000 21/e0 of 2\n7000 22/e0 of 2\n7000 11/f0 of 1\n"
				  "7500 begin 40/e0 of 2\n8000 40/e0 of 2\n");
	free(text);
}

/* At 0x20 to 0x2f the call, whose return is its last byte; behind that another function begins. */
TEST(test_at_the_probe_of_a_return)
{
	static const uint64_t behind[] = {0x30, 0x11}, in_kernel[] = {SAMPLE_KERNEL_IP, 0x30, 0x11},
			      further[] = {0x31, 0x11}, deeper[] = {0x40, 0x30, 0x11};
	struct sample_items items = {.pid = 5, .tid = 6};
	char *text;

	see_at(&items, 1000, behind, 2);
	see_at(&items, 3000, further, 2);
	see_at(&items, 4000, deeper, 3);
	see_at(&items, 5000, behind, 2);
	see_at(&items, 6000, in_kernel, 3);
	return_at(&items, 2000, 7000, 0x20, 2);
	assert_int_equal(items.items[5].ips[1], 0x2f);
	text = items_text(&items);
	assert_string_equal(text, "1000 30/e0 of 2\n2000 begin 31/e0 of 2\n3000 31/e0 of 2\n4000 40/d0 of 3\n"
				  "5000 2f/e0 of 2\n6000 8000000000000000/d0 of 3\n7000 31/e0 of 2\n");
	free(text);
}

TEST_MAIN(NULL, NULL)
