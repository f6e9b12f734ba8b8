/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples, saved and loaded again. That perf reads them is tests/e2e/samples.sh's. */
#include "assertions.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/spill.h"
#include "model/sideband.h"
#include "recording/perf_data.h"
#include "recording/recording.h"

enum { STACK = 203, KERNEL = -65536 };

static struct stack_sample *add(struct snapshot *snapshot, enum sample_kind kind)
{
	const struct stack_sample sample = {.kind = kind,
					    .time_ns = 1000 + snapshot->sample_cnt,
					    .pid = 11,
					    .tid = 12,
					    .cpu = 1,
					    .call.nr = SAMPLE_NO_SYSCALL};

	assert_ok(SPILL_PUSH(snapshot->samples, snapshot->sample_cnt, snapshot->sample_cap, sample));
	return &snapshot->samples[snapshot->sample_cnt - 1];
}

static void put_stack(struct stack_sample *sample, unsigned char seed)
{
	uint8_t *stack = malloc(STACK);

	assert_non_null(stack);
	for (size_t i = 0; i < STACK; i++)
		stack[i] = (uint8_t)(seed + i * 3);
	assert_non_null(stack_sample_add_regs(sample));
	for (size_t i = 0; i < HIT_REG_CNT; i++)
		sample->regs[i] = 100 + i;
	/* They say nothing of calls, and are not kept. */
	sample->regs[HIT_CS] = sample->regs[HIT_SS] = sample->regs[HIT_EFLAGS] = sample->regs[HIT_ORIG_RAX] =
		0;
	sample->stack = stack;
	sample->stack_size = STACK;
	sample->is_stack_owned = true;
}

static void put_ips(struct stack_sample *sample, uint64_t first, uint64_t second)
{
	sample->ips = calloc(2, sizeof(*sample->ips));
	assert_non_null(sample->ips);
	sample->ips[0] = first;
	sample->ips[1] = second;
	sample->ip_cnt = second ? 2 : 1;
}

static struct snapshot *make(void)
{
	struct snapshot *snapshot;
	struct stack_sample *sample;
	char *name = strdup("cpu-clock");

	assert_ok(snapshot_new(&snapshot));
	snapshot->clock = (struct trace_clock){
		.mult = 1, .zero = 1000, .monotonic_ns = 5, .trace_ns = 5, .realtime_ns = 7};
	snapshot->source = strdup("samples");
	snapshot->command = strdup("prog");
	assert_ok(ARRAY_PUSH(snapshot->sample_events, snapshot->sample_event_cnt, snapshot->sample_event_cap,
			     name));
	assert_ok(sideband_add_comm(snapshot, 11, 11, 1000, "prog", 1));
	sample = add(snapshot, SAMPLE_EVENT);
	sample->period = 1000000;
	put_stack(sample, 5);
	sample = add(snapshot, SAMPLE_EVENT);
	sample->flags = SAMPLE_IS_CUT;
	put_stack(sample, 9);
	put_ips(sample, (uint64_t)KERNEL, (uint64_t)KERNEL + 64);
	sample = add(snapshot, SAMPLE_SWITCH_OUT);
	sample->state = SAMPLE_UNINTERRUPTIBLE;
	sample->call.nr = 202;
	sample->call.args[0] = 0xf00;
	sample->call.about = strdup("socket 127.0.0.1:6379");
	sample->call.has_timeout = true;
	sample->call.timeout_ns = 2500000000;
	put_ips(sample, 0x401000, 0);
	add(snapshot, SAMPLE_WAKE_UP)->other = (struct sample_thread){21, 22, "waker"};
	add(snapshot, SAMPLE_SWITCH_IN)->other = (struct sample_thread){31, 32, "hog"};
	add(snapshot, SAMPLE_SYSCALL_BEGIN)->call.args[5] = 6;
	add(snapshot, SAMPLE_SYSCALL_END)->call.result = -11;
	add(snapshot, SAMPLE_PAGE_FAULT)->address = 0x7f0000;
	sample = add(snapshot, SAMPLE_LOST);
	sample->since_ns = 900;
	sample->lost_cnt = 4;
	sample = add(snapshot, SAMPLE_INTERRUPT);
	sample->other = (struct sample_thread){1, 0, "net_rx"};
	sample->until_ns = 1234;
	return snapshot;
}

static void assert_same(const struct stack_sample *a, const struct stack_sample *b)
{
	static uint8_t rooms[2][SAMPLE_STACK_MAX];

	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->period, b->period);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->ip_cnt, b->ip_cnt);
	if (a->ip_cnt)
		assert_memory_equal(a->ips, b->ips, a->ip_cnt * sizeof(*a->ips));
	if (a->flags & SAMPLE_HAS_REGS)
		assert_memory_equal(a->regs, b->regs, HIT_REG_CNT * sizeof(*a->regs));
	assert_int_equal(a->stack_size, b->stack_size);
	if (a->stack_size)
		assert_memory_equal(stack_sample_stack(a, rooms[0]), stack_sample_stack(b, rooms[1]),
				    a->stack_size);
	assert_int_equal(a->call.nr, b->call.nr);
	assert_int_equal(a->call.result, b->call.result);
	assert_memory_equal(a->call.args, b->call.args, sizeof(a->call.args));
	assert_string_equal(a->call.about ? a->call.about : "", b->call.about ? b->call.about : "");
	assert_int_equal(a->call.has_timeout, b->call.has_timeout);
	assert_int_equal(a->call.timeout_ns, b->call.timeout_ns);
	assert_memory_equal(&a->other, &b->other, sizeof(a->other));
	assert_int_equal(a->address, b->address);
	assert_int_equal(a->since_ns, b->since_ns);
	assert_int_equal(a->until_ns, b->until_ns);
	assert_int_equal(a->lost_cnt, b->lost_cnt);
}

static char dir[] = "/tmp/trailcam-samples-XXXXXX", recording[64], data[64];

static int make_directory(void **state)
{
	(void)state;
	snprintf(recording, sizeof(recording), "%s/recording", mkdtemp(dir));
	snprintf(data, sizeof(data), "%s/data", recording);
	return 0;
}

static int remove_directory(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void assert_all_same(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->sample_cnt, b->sample_cnt);
	for (size_t i = 0; i < a->sample_cnt; i++)
		assert_same(&a->samples[i], &b->samples[i]);
}

static struct snapshot *save_and_load(struct snapshot *snapshot)
{
	struct snapshot *loaded = NULL;

	assert_ok(recording_save(snapshot, recording));
	assert_ok(recording_load(&loaded, recording));
	assert_all_same(snapshot, loaded);
	return loaded;
}

TEST(test_round_trip)
{
	struct snapshot *snapshot = make(), *loaded = save_and_load(snapshot);

	assert_string_equal(loaded->source, "samples");
	assert_memory_equal(&loaded->clock, &snapshot->clock, sizeof(loaded->clock));
	assert_string_equal(loaded->sample_events[loaded->samples[0].event], "cpu-clock");
	assert_string_equal(loaded->sample_events[loaded->samples[2].event], "switch-out");
	snapshot_free(snapshot);
	snapshot_free(loaded);
}

enum { MANY = 1000, DEEP = 12800 };

/* Of two threads by turns, whose stacks grow and shrink, and of which one word changes each time. */
static struct snapshot *make_many(void)
{
	static uint8_t bytes[2][DEEP];
	struct snapshot *snapshot = make();

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i / DEEP][i % DEEP] = (uint8_t)(i * i >> 7);
	for (size_t i = 0; i < MANY; i++) {
		size_t top = i * 40 % 1000, size = DEEP - top;
		struct stack_sample *sample = add(snapshot, SAMPLE_EVENT);
		uint8_t *stack = malloc(size);

		assert_non_null(stack);
		bytes[i % 2][i * 8 % DEEP]++;
		memcpy(stack, bytes[i % 2] + top, size);
		sample->tid = 12 + i % 2;
		assert_non_null(stack_sample_add_regs(sample));
		sample->regs[HIT_SP] = 0x7fff1000 + top;
		sample->stack = stack;
		sample->stack_size = (uint32_t)size;
		sample->is_stack_owned = true;
	}
	return snapshot;
}

/* All stacks are 12 MB. */
TEST(test_stacks_share)
{
	struct snapshot *snapshot = make_many(), *loaded = save_and_load(snapshot);
	struct stat st;

	assert_int_equal(stat(data, &st), 0);
	assert_in_range(st.st_size, 1, 1 << 20);
	assert_in_range(loaded->stacks.page_cnt, DEEP / STACK_PAGE, 6 * MANY);
	snapshot_free(snapshot);
	snapshot_free(loaded);
}

static void set_byte(FILE *file, long at, int value)
{
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fputc(value, file), value);
	assert_int_equal(fflush(file), 0);
}

/* A bit less or more in what is packed gives the same samples, or a sentence. */
TEST(test_damaged_bits)
{
	struct snapshot *snapshot = make_many();
	struct perf_header header;
	size_t refused = 0, cnt = 0;
	uint64_t end;
	FILE *file;

	assert_ok(recording_save(snapshot, recording));
	file = fopen(data, "r+e");
	assert_non_null(file);
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	end = header.data.offset + header.data.size;
	for (uint64_t at = end - 1; at > header.data.offset + header.data.size / 2; at -= 211, cnt++) {
		struct snapshot *loaded = NULL;
		int good, err;

		assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
		good = fgetc(file);
		set_byte(file, (long)at, good ^ 4);
		err = recording_load(&loaded, recording);
		if (err)
			assert_int_equal(err, -EBADMSG);
		else
			assert_all_same(snapshot, loaded);
		refused += !!err;
		snapshot_free(loaded);
		set_byte(file, (long)at, good);
	}
	assert_in_range(refused, cnt / 2, cnt);
	fclose(file);
	snapshot_free(snapshot);
}

TEST_MAIN(make_directory, remove_directory)
