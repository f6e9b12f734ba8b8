/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: how fast allocation traces are read and written, beside adding up the same bytes. The trace is
 * made here, in the likeness of one of a compiler of which every allocation was recorded: frames by the
 * dozen, most of them common with the last, in few bytes.
 * Usage: memtrace [TRACE]	(with TRACE: of that one; otherwise of one in $TMPDIR or /var/tmp)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/reader.h"
#include "ctf/writer.h"
#include "figures.h"

enum { RUNS = 5, EVENTS = 6000000, DEPTH = 70, CODES = 4000, YOUNG = 1 << 16 };

/* Of the processor: what else runs does not count. */
static double seconds(void)
{
	return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- the trace ---- */

static uint64_t state = 1;

static uint64_t next_random(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

static int locate(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	static struct memtrace_location location;
	static char file[32], function[32];

	(void)ctx;
	snprintf(file, sizeof(file), "module%u.ml", (unsigned int)(code % 50));
	snprintf(function, sizeof(function), "Module.function%u", (unsigned int)(code % 900));
	location = (struct memtrace_location){file, function, (uint32_t)code, 4, 30};
	*ret_locations = &location;
	return 1;
}

struct making {
	struct memtrace_writer *writer;
	uint64_t time_us;
	uint64_t stack[DEPTH + 32];
	size_t depth;
	uint64_t young[YOUNG], old[EVENTS];
	size_t old_cnt;
};

/* Some calls have returned since the last allocation, and others are made: of each function, one of a few. */
static void change_stack(struct making *making)
{
	size_t returned = next_random(4) ? next_random(4) : next_random(30), made = returned;

	making->depth = returned < making->depth ? making->depth - returned : 0;
	if (making->depth + made < DEPTH)
		made += next_random(4);
	while (made-- && making->depth < DEPTH + 20) {
		uint64_t caller = making->depth ? making->stack[making->depth - 1] : 0;
		uint64_t way = next_random(16) ? 0 : 1 + next_random(3);

		making->stack[making->depth++] = 1 + (caller * 31 + 1 + 7 * way) % CODES;
	}
}

static void put(struct making *making, struct memtrace_event event, uint64_t *ret_id)
{
	int err;

	event.time_us = making->time_us += next_random(8) == 0;
	err = memtrace_writer_put(making->writer, &event, ret_id);
	if (err)
		die("writing", err);
}

/*
 * As with OCaml's heap: many allocations, and what was not needed any more is collected at once; few outlive
 * that, and are collected much later.
 */
static void put_events(struct making *making)
{
	for (size_t cnt = 0; cnt < EVENTS; cnt += 2 * YOUNG) {
		for (size_t i = 0; i < YOUNG; i++) {
			uint64_t length = next_random(30) ? 2 + next_random(3) : 17 + next_random(100);

			change_stack(making);
			put(making,
			    (struct memtrace_event){.kind = MEMTRACE_ALLOC,
						    .length = length,
						    .nsamples = length > 16 ? length : 1,
						    .frames = making->stack,
						    .frame_cnt = making->depth},
			    &making->young[i]);
		}
		for (size_t i = 0; i < YOUNG; i++) {
			bool outlives = i % 64 < 8;

			if (outlives)
				making->old[making->old_cnt++] = making->young[i];
			put(making,
			    (struct memtrace_event){.kind = outlives ? MEMTRACE_PROMOTE : MEMTRACE_COLLECT,
						    .id = making->young[i]},
			    NULL);
		}
		while (making->old_cnt > 20 * YOUNG)
			put(making,
			    (struct memtrace_event){.kind = MEMTRACE_COLLECT,
						    .id = making->old[--making->old_cnt]},
			    NULL);
	}
}

static void make_trace(const char *path)
{
	struct memtrace_info info = {
		.sample_rate = 1, .word_bits = 64, .pid = 1, .start_us = 1600000000000000};
	struct memtrace_writer_config config = {.info = &info, .locate = locate};
	static struct making making;
	int err;

	info.executable = info.host = info.runtime_params = info.context = (char *)"bench";
	err = output_open(&config.output, path);
	if (!err)
		err = memtrace_writer_new(&making.writer, &config);
	if (err)
		die(path, err);
	put_events(&making);
	err = memtrace_writer_flush(making.writer);
	memtrace_writer_free(making.writer);
	if (!err)
		err = output_close(config.output);
	if (err)
		die(path, err);
}

/* ---- what is timed ---- */

struct trace {
	const char *path;
	const uint64_t *words;
	size_t size;
	uint64_t event_cnt, frame_cnt;
};

static double add_up(struct trace *trace)
{
	double begin = seconds();
	volatile uint64_t sink;
	uint64_t sum = 0;

	for (size_t i = 0; i < trace->size / sizeof(sum); i++)
		sum += trace->words[i];
	sink = sum;
	(void)sink;
	return seconds() - begin;
}

static double read_events(struct trace *trace, bool skip_frames)
{
	struct memtrace_reader_config config = {.skip_frames = skip_frames};
	struct memtrace_reader *reader;
	struct memtrace_event event;
	double begin = seconds();
	uint64_t frame_cnt = 0;
	int more = memtrace_reader_open(&reader, trace->path, &config);

	if (more)
		die(trace->path, more);
	trace->event_cnt = 0;
	while ((more = memtrace_reader_next(reader, &event)) > 0) {
		trace->event_cnt++;
		if (event.kind == MEMTRACE_ALLOC)
			frame_cnt += event.frame_cnt;
	}
	if (more)
		die(trace->path, more);
	memtrace_reader_close(reader);
	if (!skip_frames)
		trace->frame_cnt = frame_cnt;
	return seconds() - begin;
}

static double read_whole(struct trace *trace)
{
	return read_events(trace, false);
}

static double read_without_frames(struct trace *trace)
{
	return read_events(trace, true);
}

static int locate_in(void *ctx, uint64_t code, const struct memtrace_location **ret_locations)
{
	return memtrace_reader_locations(ctx, code, ret_locations);
}

static double copy(struct trace *trace)
{
	struct memtrace_writer_config config = {.locate = locate_in};
	struct memtrace_reader *reader;
	struct memtrace_writer *writer;
	struct memtrace_event event;
	double begin = seconds();
	int more = memtrace_reader_open(&reader, trace->path, NULL);

	if (!more)
		more = output_open(&config.output, "/dev/null");
	if (more)
		die(trace->path, more);
	config.info = memtrace_reader_info(reader);
	config.ctx = reader;
	if (memtrace_writer_new(&writer, &config))
		die(trace->path, -EINVAL);
	while ((more = memtrace_reader_next(reader, &event)) > 0)
		if (memtrace_writer_put(writer, &event, NULL))
			die(trace->path, -EINVAL);
	if (more || memtrace_writer_flush(writer) || output_close(config.output))
		die(trace->path, more);
	memtrace_writer_free(writer);
	memtrace_reader_close(reader);
	return seconds() - begin;
}

/*
 * Where the same was measured of memtrace itself: on a trace of 6.8 million events, 64.7 MB, of OCaml's
 * compiler, on a machine like this, but in another run.
 */
static const struct {
	const char *name;
	double (*run)(struct trace *trace);
	const char *memtrace;
} measures[] = {
	{"adding up the bytes", add_up, ""},
	{"reading", read_whole, "33 to 38"},
	{"reading without call stacks", read_without_frames, "43 to 47"},
	{"reading and writing", copy, "4.2"},
};

static void measure(struct trace *trace, size_t nth)
{
	double took[RUNS], middle;

	for (size_t i = 0; i < RUNS; i++)
		took[i] = measures[nth].run(trace);
	middle = median_of(took, RUNS);
	printf("  %-30s %8.4f (%.4f to %.4f) %8.0f", measures[nth].name, middle, took[0], took[RUNS - 1],
	       (double)trace->size / middle / 1e6);
	if (nth)
		printf(" %12.1f %12s", (double)trace->event_cnt / middle / 1e6, measures[nth].memtrace);
	putchar('\n');
}

static void map_trace(struct trace *trace)
{
	int fd = open(trace->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(trace->path, -errno);
	trace->size = (size_t)st.st_size;
	trace->words = mmap(NULL, trace->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (trace->words == MAP_FAILED)
		die(trace->path, -errno);
	close(fd);
}

int main(int argc, char **argv)
{
	struct trace trace = {.path = argv[1]};
	const char *dir = getenv("TMPDIR");
	char path[4096];

	if (argc < 2) {
		snprintf(path, sizeof(path), "%s/bench-%d.ctf", dir ? dir : "/var/tmp", (int)getpid());
		trace.path = path;
		make_trace(path);
	}
	map_trace(&trace);
	read_whole(&trace);
	printf("an allocation trace: %.1f MB, %.1f million events, %.1f bytes and %.0f frames an event\n",
	       (double)trace.size / 1e6, (double)trace.event_cnt / 1e6,
	       (double)trace.size / (double)trace.event_cnt,
	       (double)trace.frame_cnt / (double)trace.event_cnt);
	printf("  %-30s %8s %18s %9s %12s %12s\n", "", "seconds", "(spread)", "MB/s", "Mevents/s",
	       "memtrace's*");
	for (size_t i = 0; i < sizeof(measures) / sizeof(*measures); i++)
		measure(&trace, i);
	puts("  * measured in another run, on a real trace of that kind: to be taken as an order of "
	     "magnitude");
	if (argc < 2)
		unlink(path);
	return 0;
}
