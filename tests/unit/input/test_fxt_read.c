/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the sink writes is read back whole; other files, made word by word as the format's description says,
 * are taken as far as they make sense.
 */
#include "assertions.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/spill.h"
#include "input/fxt_read.h"
#include "output/sink.h"

struct words {
	uint64_t *items;
	size_t cnt, cap;
};

struct trace {
	struct timeline *timeline;
	struct fxt_names *names;
};

static char path[64];

static int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/trailcam-fxt-read-%d.fxt", (int)getpid());
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static char *file_bytes(const char *name, size_t *ret_size)
{
	FILE *file = fopen(name, "r");
	char *bytes = malloc(1 << 20);

	assert_non_null(file);
	*ret_size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static struct trace read_trace(const char *name)
{
	struct trace trace;

	assert_true(fxt_is(name));
	assert_ok(fxt_read(&trace.timeline, &trace.names, name));
	assert_true(timeline_is_valid(trace.timeline));
	return trace;
}

static void release(struct trace *trace)
{
	timeline_free(trace->timeline);
	fxt_names_free(trace->names);
}

/* ---- files made by hand ---- */

enum { INSTANT = 0, BEGIN = 2, END = 3, COMPLETE = 4, FLOW = 8 };
enum { F = 1, G = 2, PAUSE = 3, GAP = 4, NOWHERE = 99 };

static void put(struct words *words, uint64_t word)
{
	assert_ok(ARRAY_PUSH(words->items, words->cnt, words->cap, word));
}

/* Strings of up to 8 bytes. */
static void put_string(struct words *words, uint64_t index, const char *text)
{
	uint64_t bytes = 0;

	memcpy(&bytes, text, strlen(text));
	put(words, 2 | 2 << 4 | index << 16 | (uint64_t)strlen(text) << 32);
	put(words, bytes);
}

static void put_event(struct words *words, uint64_t type, uint64_t thread, uint64_t name, uint64_t ticks)
{
	put(words, 4 | 2 << 4 | type << 16 | thread << 24 | name << 48);
	put(words, ticks);
}

/* Magic, a few names, thread 7 of process 5. */
static struct words begin_file(void)
{
	struct words words = {0};

	put(&words, 0x0016547846040010);
	put_string(&words, F, "f");
	put_string(&words, G, "g");
	put_string(&words, PAUSE, "[syscall");
	put_string(&words, GAP, "[gap: x]");
	put(&words, 3 | 3 << 4 | 1 << 16);
	put(&words, 5);
	put(&words, 7);
	return words;
}

static struct trace read_words(struct words *words)
{
	write_file(path, words->items, words->cnt * sizeof(uint64_t));
	free(words->items);
	return read_trace(path);
}

static void assert_slice(const struct trace *trace, size_t i, const char *name, uint64_t start, uint64_t end,
			 uint32_t depth)
{
	const struct slice *slice = &trace->timeline->threads[0].slices[i];

	assert_true(i < trace->timeline->threads[0].slice_cnt);
	assert_string_equal(slice_name(slice), name);
	assert_int_equal(slice->start_ns, start);
	assert_int_equal(slice->end_ns, end);
	assert_int_equal(slice->depth, depth);
}

TEST(test_foreign)
{
	struct words words = begin_file();
	struct trace trace;

	put_event(&words, BEGIN, 1, F, 10);
	put_event(&words, BEGIN, 1, G, 20);
	put_event(&words, INSTANT, 1, GAP, 25);
	put_event(&words, INSTANT, 1, F, 26);
	put_event(&words, END, 1, 0, 30);
	put_event(&words, END, 1, 0, 40);
	trace = read_words(&words);
	assert_int_equal(trace.timeline->thread_cnt, 1);
	assert_int_equal(trace.timeline->threads[0].pid, 5);
	assert_int_equal(trace.timeline->threads[0].tid, 7);
	assert_int_equal(trace.timeline->threads[0].slice_cnt, 2);
	assert_slice(&trace, 0, "f", 10, 40, 0);
	assert_slice(&trace, 1, "g", 20, 30, 1);
	assert_int_equal(trace.timeline->threads[0].instant_cnt, 2);
	assert_false(trace.timeline->threads[0].instants[0].is_event);
	assert_true(trace.timeline->threads[0].instants[1].is_event);
	assert_string_equal(trace.timeline->command, "");
	release(&trace);
}

/* An end too many, one too few, and times that run back. */
TEST(test_unbalanced)
{
	struct words words = begin_file();
	struct trace trace;

	put_event(&words, END, 1, 0, 5);
	put_event(&words, BEGIN, 1, F, 10);
	put_event(&words, BEGIN, 1, G, 8);
	put_event(&words, END, 1, 0, 9);
	put_event(&words, BEGIN, 1, G, 50);
	trace = read_words(&words);
	assert_int_equal(trace.timeline->threads[0].slice_cnt, 3);
	assert_slice(&trace, 0, "g", 8, 9, 0);
	assert_slice(&trace, 1, "f", 10, 50, 0);
	assert_slice(&trace, 2, "g", 50, 50, 1);
	assert_int_equal(trace.timeline->threads[0].slices[0].flags, 0);
	assert_int_equal(trace.timeline->threads[0].slices[1].flags, SLICE_OPEN_END);
	release(&trace);
}

static void put_complete(struct words *words, uint64_t name, uint64_t ticks, uint64_t end)
{
	put(words, 4 | 3 << 4 | COMPLETE << 16 | 1 << 24 | name << 48);
	put(words, ticks);
	put(words, end);
}

/* As magic-trace writes: what began before the trace is known at its end only, and comes last, at time 0. */
TEST(test_late_beginnings)
{
	struct words words = begin_file();
	struct trace trace;

	put_event(&words, BEGIN, 1, G, 20);
	put_event(&words, END, 1, 0, 30);
	put_event(&words, END, 1, 0, 40); /* f's */
	put_complete(&words, GAP, 10, 10);
	put_event(&words, BEGIN, 1, F, 0);
	trace = read_words(&words);
	assert_int_equal(trace.timeline->threads[0].slice_cnt, 2);
	assert_slice(&trace, 0, "f", 0, 40, 0);
	assert_slice(&trace, 1, "g", 20, 30, 1);
	assert_int_equal(trace.timeline->threads[0].instant_cnt, 1);
	assert_false(trace.timeline->threads[0].instants[0].is_event);
	release(&trace);
}

/* Calls that are written with their end. What does not fit into them is cut. */
TEST(test_complete)
{
	struct words words = begin_file();
	struct trace trace;

	put_complete(&words, F, 0, 100);
	put_complete(&words, G, 10, 20);
	put_complete(&words, G, 20, 130);
	put_event(&words, BEGIN, 1, G, 100);
	put_event(&words, BEGIN, 1, G, 110);
	put_event(&words, END, 1, 0, 120);
	put_event(&words, END, 1, 0, 140);
	trace = read_words(&words);
	assert_int_equal(trace.timeline->threads[0].slice_cnt, 5);
	assert_slice(&trace, 0, "f", 0, 100, 0);
	assert_slice(&trace, 1, "g", 10, 20, 1);
	assert_slice(&trace, 2, "g", 20, 100, 1);
	assert_slice(&trace, 3, "g", 100, 140, 0);
	assert_slice(&trace, 4, "g", 110, 120, 1);
	release(&trace);
	words = begin_file();
	put_complete(&words, F, 0, 100);
	put_event(&words, BEGIN, 1, G, 50);
	put_event(&words, BEGIN, 1, G, 120);
	put_event(&words, END, 1, 0, 130);
	trace = read_words(&words);
	assert_slice(&trace, 0, "f", 0, 100, 0);
	assert_slice(&trace, 1, "g", 50, 100, 1);
	assert_slice(&trace, 2, "g", 100, 100, 2);
	assert_int_equal(trace.timeline->threads[0].slices[1].flags, SLICE_OPEN_END);
	release(&trace);
}

TEST(test_other_hits)
{
	struct words words = begin_file();
	struct trace trace;

	put_string(&words, 10, "hit main");
	put_string(&words, 11, "ip");
	put_string(&words, 12, "tid");
	put(&words, 4 | 6 << 4 | COMPLETE << 16 | 2 << 20 | 1 << 24 | 10ull << 48);
	put(&words, 70);
	put(&words, 7 | 2 << 4 | 11 << 16);
	put(&words, 0x401000);
	put(&words, 1 | 1 << 4 | 12 << 16 | 4711ull << 32);
	put(&words, 75);
	trace = read_words(&words);
	assert_int_equal(trace.timeline->hit_cnt, 1);
	assert_int_equal(trace.timeline->hits[0].time_ns, 75);
	assert_int_equal(trace.timeline->hits[0].hit->tid, 4711);
	assert_int_equal(hit_reg(trace.timeline->hits[0].hit, HIT_RIP), 0x401000);
	assert_string_equal(trace.timeline->triggers[0], "main");
	assert_int_equal(trace.timeline->thread_cnt, 0);
	release(&trace);
}

/* Another tool's argument has the name of our allocations' number, but is a text; the events are sorted. */
TEST(test_other_arguments)
{
	struct words words = begin_file();
	const struct instant *instant;
	struct trace trace;

	put(&words, 2 | 3 << 4 | 10 << 16 | 10ull << 32);
	put(&words, 0x697461636f6c6c61); /* "allocation" */
	put(&words, 0x6e6f);
	put(&words, 4 | 3 << 4 | INSTANT << 16 | 1 << 20 | 1 << 24 | (uint64_t)F << 48);
	put(&words, 30);
	put(&words, 6 | 1 << 4 | 10 << 16 | (uint64_t)G << 32);
	put_complete(&words, F, 10, 20);
	trace = read_words(&words);
	assert_int_equal(trace.timeline->threads[0].instant_cnt, 1);
	instant = &trace.timeline->threads[0].instants[0];
	assert_int_equal(instant->time_ns, 30);
	assert_string_equal(instant->text, "f");
	assert_int_equal(instant->arg_cnt, 1);
	assert_string_equal(instant->args[0].name, "allocation");
	assert_string_equal(instant->args[0].text, "g");
	release(&trace);
}

/*
 * Names and threads that the file does not define; kinds of event that calls are not made of; an argument
 * without a size.
 */
TEST(test_references)
{
	struct words words = begin_file();
	struct trace trace;

	put_event(&words, BEGIN, 1, NOWHERE, 1);
	put_event(&words, END, 1, 0, 2);
	put_event(&words, FLOW, 1, F, 3);
	put(&words, 4 | 4 << 4 | BEGIN << 16 | 15 << 20 | 1 << 24 | (uint64_t)F << 48);
	put(&words, 4);
	put(&words, 6 | 0 << 4 | NOWHERE << 16);
	put(&words, 6 | 4000 << 4 | F << 16);
	put_event(&words, BEGIN, 200, F, 5);
	trace = read_words(&words);
	assert_slice(&trace, 0, "", 1, 2, 0);
	assert_slice(&trace, 1, "f", 4, 4, 0);
	assert_int_equal(trace.timeline->thread_cnt, 2);
	release(&trace);
}

/*
 * Another clock; a thread and a name within the event; a record that is large, and one of a kind unheard of.
 */
TEST(test_other_forms)
{
	struct words words = begin_file();
	struct trace trace;
	uint64_t text = 0x6f6c6c6568; /* "hello" */

	put(&words, 1 | 2 << 4);
	put(&words, 1000000);
	put(&words, 15 | 3 << 4);
	put(&words, 0);
	put(&words, 0);
	put(&words, 14 | 1 << 4);
	put(&words, 4 | 5 << 4 | BEGIN << 16 | 0x8005ull << 48);
	put(&words, 7);
	put(&words, 5);
	put(&words, 7);
	put(&words, text);
	put_event(&words, END, 1, 0, 9);
	trace = read_words(&words);
	assert_int_equal(trace.timeline->thread_cnt, 1);
	assert_slice(&trace, 0, "hello", 7000, 9000, 0);
	release(&trace);
}

TEST(test_damaged)
{
	struct words words = begin_file();
	struct trace trace;
	size_t size;

	put_event(&words, BEGIN, 1, F, 10);
	put_event(&words, END, 1, 0, 20);
	put(&words, 4); /* no size */
	put_event(&words, BEGIN, 1, G, 30);
	size = words.cnt * sizeof(uint64_t);
	write_file(path, words.items, size);
	trace = read_trace(path);
	assert_int_equal(trace.timeline->threads[0].slice_cnt, 1);
	release(&trace);
	write_file(path, words.items, size - 2 * sizeof(uint64_t) - 11);
	trace = read_trace(path);
	assert_slice(&trace, 0, "f", 10, 10, 0);
	assert_int_equal(trace.timeline->threads[0].slices[0].flags, SLICE_OPEN_END);
	release(&trace);
	write_file(path, words.items, sizeof(uint64_t));
	assert_true(fxt_is(path));
	assert_err(fxt_read(&trace.timeline, &trace.names, path), -EBADMSG, "no event");
	write_file(path, words.items, 7);
	assert_false(fxt_is(path));
	assert_false(fxt_is("/"));
	assert_err(fxt_read(&trace.timeline, &trace.names, "/nowhere.fxt"), -ENOENT, "/nowhere.fxt");
	free(words.items);
}

/* ---- round trips ---- */

static void add_slice(struct timeline_thread *thread, struct slice slice)
{
	assert_ok(SPILL_PUSH(thread->slices, thread->slice_cnt, thread->slice_cap, slice));
}

static const struct symbol f = {.name = "f(int)",
				.object = "/bin/prog",
				.start = 0x1000,
				.file = "f.c",
				.line = 3},
			   g = {.name = "g", .object = "/lib/g.so", .start = 0x2000};

/* Both hits have all that a hit can have, each number another. */
static void add_hits(struct timeline *timeline)
{
	timeline->triggers = calloc(2, sizeof(char *));
	timeline->triggers[0] = strdup("first");
	timeline->triggers[1] = strdup("second");
	timeline->trigger_cnt = 2;
	for (uint32_t i = 0; i < 2; i++) {
		const struct symbol *const symbols[2] = {&f};
		struct timeline_hit placed = {.time_ns = 12 + i,
					      .symbol = i ? NULL : &f,
					      .stack_symbols = timeline_stack_symbols(timeline, symbols, 2)};
		struct caught_hit caught = {.hit = {.time_ns = 9000,
						    .begin_ns = 8000 + i * 1000,
						    .pid = 100,
						    .tid = 101,
						    .cpu = 3,
						    .trigger = i,
						    .goroutine = 17 * i,
						    .stopped_ns = i * 9500,
						    .return_address = 0x1234,
						    .args_known = i ? (1u << HIT_ARG_CNT) - 1 : 5,
						    .stack_cnt = 2,
						    .comm = "sixteen bytes!!!"},
					    .stack = {0x1000, 0x7fffffffffff}};

		for (size_t reg = 0; reg < HIT_REG_CNT; reg++)
			caught.regs[reg] = reg == HIT_ORIG_RAX ? 0 : 1000 * i + reg;
		for (size_t arg = 0; arg < HIT_ARG_CNT; arg++)
			caught.args[arg] = caught.hit.args_known & 1u << arg ? UINT64_MAX - arg : 0;
		if (!timeline->hit_list)
			assert_ok(hit_list_new(&timeline->hit_list));
		assert_ok(hit_list_add(timeline->hit_list, &caught));
		placed.hit = timeline->hit_list->hits[i];
		for (int value = 0; value < 3; value++)
			assert_ok(timeline_hit_add_value(
				&placed, timeline_value_name(timeline, value ? "str(arg1)" : "arg0"),
				VALUE_TEXT, value == 2 ? NULL : strdup("text")));
		assert_ok(timeline_hit_add_value(&placed, timeline_value_name(timeline, "arg2"), VALUE_NUMBER,
						 strdup("-5")));
		assert_ok(timeline_hit_add_value(&placed, timeline_value_name(timeline, "a->b"),
						 VALUE_POINTER, strdup("0xfffffffffffffff0")));
		assert_ok(ARRAY_PUSH(timeline->hits, timeline->hit_cnt, timeline->hit_cap, placed));
	}
}

/* A pause of which everything is known, behind all others. */
static void add_wait(struct timeline *timeline, struct timeline_thread *thread)
{
	const struct slice_detail detail = {.name = "[off-cpu] futex",
					    .title =
						    strdup("[off-cpu] futex, woken by worker-3 after 2.1 ms"),
					    .about = strdup("futex 0x55d0c0"),
					    .woken_by = strdup("worker-3 (tid 4711)"),
					    .behind = strdup("hog"),
					    .file = strdup("socket 127.0.0.1:6379"),
					    .fd = 5,
					    .futex = 0x55d0c0,
					    .timeout_ns = -1,
					    .has_fd = true,
					    .has_futex = true,
					    .has_timeout = true,
					    .result = -11,
					    .has_result = true};
	struct slice slice = {.start_ns = 8,
			      .end_ns = 19,
			      .depth = 1,
			      .kind = SLICE_OFF_CPU,
			      .flags = SLICE_DETAILED | SLICE_SAMPLED};

	assert_ok(timeline_add_detail(timeline, &detail, &slice.detail));
	add_slice(thread, slice);
}

static void assert_same_detail(const struct slice *theirs, const struct slice *ours)
{
	const struct slice_detail *a = slice_detail(theirs), *b = slice_detail(ours);

	assert_string_equal(slice_name(theirs), slice_name(ours));
	assert_string_equal(slice_title(theirs), slice_title(ours));
	if (!b)
		return;
	assert_string_equal(a->about, b->about);
	assert_string_equal(a->woken_by, b->woken_by);
	assert_string_equal(a->behind, b->behind);
	assert_string_equal(a->file, b->file);
	assert_int_equal(a->has_fd, b->has_fd);
	assert_int_equal(a->fd, b->fd);
	assert_int_equal(a->has_futex, b->has_futex);
	assert_int_equal(a->futex, b->futex);
	assert_int_equal(a->has_timeout, b->has_timeout);
	assert_int_equal(a->timeout_ns, b->timeout_ns);
	assert_int_equal(a->result, b->result);
	assert_int_equal(a->has_result, b->has_result);
}

static struct timeline *make_timeline(void)
{
	struct counter counter = {.name = strdup("cycles"), .pid = 100, .tid = 101};
	struct counter_point points[] = {{5, 50}, {6, UINT64_MAX}};
	static const struct instant_arg args[] = {
		{.name = "size", .type = INSTANT_NUMBER, .number = 42},
		{.name = "address", .type = INSTANT_ADDRESS, .number = 0xffff800000001000},
		{.name = "function", .type = INSTANT_TEXT, .text = (char *)"malloc"},
	};
	struct timeline *timeline;
	struct timeline_thread *thread;

	assert_ok(timeline_new(&timeline));
	timeline->command = strdup("prog --option");
	timeline->source = strdup("step");
	timeline->stopped_by = strdup("hit");
	timeline->base_ns = 123456789;
	timeline->base_realtime_ns = 1700000000000000000;
	timeline->threads = calloc(2, sizeof(*timeline->threads));
	timeline->thread_cnt = 2;
	timeline->threads[0] = (struct timeline_thread){.pid = 0, .tid = 0, .name = strdup("idle")};
	timeline->threads[1] = (struct timeline_thread){.pid = 100, .tid = 101, .name = strdup("worker")};
	thread = &timeline->threads[1];
	timeline->goroutines = calloc(1, sizeof(*timeline->goroutines));
	timeline->goroutines[0] = 4242;
	timeline->goroutine_cnt = 1;
	add_slice(thread,
		  (struct slice){.end_ns = 20, .symbol = &f, .flags = SLICE_INFERRED_START | SLICE_OPEN_END});
	add_slice(thread,
		  (struct slice){5, 5, &g, {0x2010}, 1, SLICE_CALL, SLICE_INLINED | SLICE_SAMPLED, 1});
	for (uint8_t kind = SLICE_SYSCALL; kind < SLICE_KIND_CNT; kind++)
		add_slice(thread, (struct slice){.start_ns = 5, .end_ns = 6, .depth = kind, .kind = kind});
	add_wait(timeline, thread);
	thread->instants = calloc(4, sizeof(*thread->instants));
	thread->instants[0] = (struct instant){.time_ns = 4, .text = strdup("[gap: overflow]")};
	thread->instants[1] =
		(struct instant){.time_ns = 7, .text = strdup("[ptwrite: 0x2a]"), .is_event = true};
	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		assert_ok(instant_add_arg(&thread->instants[1], &args[i]));
	thread->instants[2] = (struct instant){.time_ns = 7};
	thread->instants[3] = (struct instant){.time_ns = 8};
	assert_ok(instant_set_alloc(&thread->instants[2],
				    &(struct instant_alloc){.function = "operator new(unsigned long)",
							    .number = 7,
							    .bytes = 42,
							    .address = 0x1000}));
	assert_ok(instant_set_alloc(
		&thread->instants[3],
		&(struct instant_alloc){.number = 7, .bytes = 42, .address = 0x1000, .lifetime_ns = 1}));
	thread->instant_cnt = 4;
	for (size_t i = 0; i < 2; i++)
		assert_ok(ARRAY_PUSH(counter.points, counter.point_cnt, counter.point_cap, points[i]));
	assert_ok(ARRAY_PUSH(timeline->counters, timeline->counter_cnt, timeline->counter_cap, counter));
	assert_ok(ARRAY_PUSH(timeline->flows, timeline->flow_cnt, timeline->flow_cap,
			     ((struct flow){3, 9, 0, 0, 100, 101})));
	assert_ok(ARRAY_PUSH(timeline->flows, timeline->flow_cnt, timeline->flow_cap,
			     ((struct flow){4, 4, 100, 101, 0, 0})));
	timeline->period_ns = 1000000;
	add_hits(timeline);
	return timeline;
}

static char *write_trace(const struct timeline *timeline, const char *name, size_t *ret_size)
{
	struct output *output;

	assert_ok(output_open(&output, name));
	assert_ok(sink_fxt.write(timeline, output));
	assert_ok(output_close(output));
	return file_bytes(name, ret_size);
}

static void assert_same_hit(const struct timeline_hit *a, const struct timeline_hit *b)
{
	struct caught_hit ours = {0}, theirs = {0};

	assert_int_equal(a->time_ns, b->time_ns);
	hit_unpack(a->hit, &ours);
	hit_unpack(b->hit, &theirs);
	ours.hit.state = theirs.hit.state = NULL;
	ours.hit.stack = theirs.hit.stack = NULL;
	assert_memory_equal(&ours, &theirs, sizeof(ours));
	assert_string_equal(a->stack_symbols[0]->name, b->stack_symbols[0]->name);
	assert_null(b->stack_symbols[1]);
	assert_int_equal(!a->symbol, !b->symbol);
	assert_int_equal(a->value_cnt, b->value_cnt);
	for (size_t i = 0; i < a->value_cnt; i++) {
		assert_string_equal(a->values[i].name, b->values[i].name);
		assert_int_equal(!a->values[i].text, !b->values[i].text);
		assert_int_equal(a->values[i].kind, b->values[i].kind);
	}
}

TEST(test_round_trip)
{
	struct timeline *timeline = make_timeline();
	const struct timeline_thread *ours = &timeline->threads[1], *theirs;
	struct trace trace;
	size_t size, again_size;
	char *bytes = write_trace(timeline, path, &size), *again;

	trace = read_trace(path);
	again = write_trace(trace.timeline, path, &again_size);
	assert_int_equal(size, again_size);
	assert_memory_equal(bytes, again, size);
	assert_int_equal(trace.timeline->thread_cnt, 2);
	assert_int_equal(trace.timeline->threads[0].tid, 0);
	theirs = &trace.timeline->threads[1];
	assert_string_equal(theirs->name, "worker");
	assert_int_equal(theirs->slice_cnt, ours->slice_cnt);
	for (size_t i = 0; i < ours->slice_cnt; i++) {
		assert_int_equal(theirs->slices[i].kind, ours->slices[i].kind);
		assert_int_equal(theirs->slices[i].flags, ours->slices[i].flags);
		assert_same_detail(&theirs->slices[i], &ours->slices[i]);
	}
	assert_string_equal(theirs->slices[0].symbol->file, "f.c");
	assert_int_equal(theirs->slices[0].symbol->line, 3);
	assert_string_equal(theirs->slices[1].symbol->object, "/lib/g.so");
	assert_int_equal(theirs->slices[1].ip, 0x2010);
	assert_int_equal(trace.timeline->goroutines[theirs->slices[1].goroutine - 1], 4242);
	assert_int_equal(trace.timeline->hit_cnt, 2);
	for (size_t i = 0; i < 2; i++)
		assert_same_hit(&timeline->hits[i], &trace.timeline->hits[i]);
	assert_string_equal(trace.timeline->triggers[1], "second");
	assert_string_equal(trace.timeline->stopped_by, "hit");
	assert_int_equal(trace.timeline->base_ns, timeline->base_ns);
	assert_int_equal(trace.timeline->base_realtime_ns, timeline->base_realtime_ns);
	assert_int_equal(trace.timeline->counters[0].points[1].value, UINT64_MAX);
	assert_int_equal(trace.timeline->period_ns, 1000000);
	assert_int_equal(trace.timeline->flow_cnt, 2);
	assert_memory_equal(trace.timeline->flows, timeline->flows, 2 * sizeof(struct flow));
	free(bytes);
	free(again);
	release(&trace);
	timeline_free(timeline);
}

/* The whole, its end cut off, and its two halves compressed one after the other. */
TEST(test_gzip)
{
	struct timeline *timeline = make_timeline();
	char name[80], whole[80], command[400], *bytes;
	struct trace trace;
	size_t size;

	snprintf(name, sizeof(name), "%s.gz", path);
	snprintf(whole, sizeof(whole), "%s.2", path);
	bytes = write_trace(timeline, name, &size);
	trace = read_trace(name);
	assert_int_equal(trace.timeline->hit_cnt, 2);
	release(&trace);
	write_file(name, bytes, size - 20);
	trace = read_trace(name);
	assert_int_equal(trace.timeline->threads[1].slice_cnt, timeline->threads[1].slice_cnt);
	release(&trace);
	free(bytes);
	free(write_trace(timeline, whole, &size));
	snprintf(command, sizeof(command), "{ head -c 1000 %s | gzip; tail -c +1001 %s | gzip; } >%s", whole,
		 whole, name);
	assert_int_equal(system(command), 0);
	trace = read_trace(name);
	assert_int_equal(trace.timeline->hit_cnt, 2);
	release(&trace);
	unlink(whole);
	unlink(name);
	timeline_free(timeline);
}

TEST_MAIN(make_path, remove_path)
