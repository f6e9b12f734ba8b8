/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How an allocation becomes an event of memtrace: its source is "external", its length is in words, and the
 * rate says how many words are sampled on average. Where all is recorded, each word is a sample. Everything
 * is in domain 0, in the order of the records; an allocation at an address where another one is still alive
 * ends that first, since its end was lost.
 */
#include "heap/recording.h"

#include <errno.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "ctf/frame_codes.h"
#include "ctf/writer.h"
#include "heap/live_table.h"
#include "source/alloc/alloc_unwind.h"

enum { WORD_BYTES = 8 };

struct alloc_recording {
	struct alloc_recorder_config config;
	struct alloc_recorder *recorder;
	struct alloc_unwind unwind;
	struct frame_codes *codes;
	struct live_table live;
	struct memtrace_writer *writer;
	struct alloc_recording_counts counts;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t frames[ALLOC_FRAMES_MAX];
};

/* ---- events ---- */

static uint64_t words(uint64_t bytes)
{
	return bytes < WORD_BYTES ? 1 : (bytes + WORD_BYTES - 1) / WORD_BYTES;
}

static uint64_t event_us(const struct alloc_recording *recording, uint64_t time_ns)
{
	return time_ns > recording->start_ns ? (time_ns - recording->start_ns) / 1000 : 0;
}

static int put_end(struct alloc_recording *recording, const struct live_alloc *alloc, uint64_t time_ns)
{
	struct memtrace_event event = {
		.kind = MEMTRACE_COLLECT,
		.time_us = event_us(recording, time_ns),
		.id = alloc->id,
	};

	live_table_remove(&recording->live, alloc->address);
	recording->counts.ends++;
	return memtrace_writer_put(recording->writer, &event, NULL);
}

/*
 * Fills recording->frames from the end on: the innermost frame, which comes first, is the event's last one.
 */
static int find_frames(struct alloc_recording *recording, const struct alloc *alloc,
		       const struct alloc_stack *stack, struct memtrace_event *event, bool *ret_by_allocator)
{
	struct alloc_frames found;
	uint64_t code, *first = recording->frames + ALLOC_FRAMES_MAX;
	int err = alloc_unwind_find(&recording->unwind, alloc, stack, &found);

	if (err)
		return err;
	for (size_t i = 0; i < found.cnt; i++) {
		code = frame_codes_get(recording->codes, found.version, found.ips[i]);
		if (!code)
			return -ENOMEM;
		*ret_by_allocator = *ret_by_allocator || frame_codes_is_wrapper(recording->codes, code);
		/* Wrappers give way to whoever called them. */
		if (event->frame_cnt == 1 && frame_codes_is_wrapper(recording->codes, *first)) {
			first++;
			event->frame_cnt = 0;
		}
		*--first = code;
		event->frame_cnt++;
	}
	event->frames = first;
	return 0;
}

static int put_begin(struct alloc_recording *recording, const struct alloc *alloc,
		     const struct alloc_stack *stack)
{
	struct memtrace_event event = {
		.kind = MEMTRACE_ALLOC,
		.time_us = event_us(recording, alloc->time_ns),
		.length = words(alloc->size),
		.source = MEMTRACE_EXTERNAL,
	};
	const struct live_alloc *lost_end = live_table_find(&recording->live, alloc->address);
	struct live_alloc live = {.address = alloc->address, .began_ns = alloc->time_ns};
	bool by_allocator = false;
	int err = lost_end ? put_end(recording, lost_end, alloc->time_ns) : 0;

	event.nsamples = alloc->samples;
	if (recording->config.interval_bytes == 1)
		event.nsamples = words(alloc->samples);
	if (!err)
		err = find_frames(recording, alloc, stack, &event, &by_allocator);
	/* What an allocator maps is allocated when it gives it away. */
	if (!err && by_allocator && alloc_recorder_maps(recording->recorder, alloc->function))
		return 0;
	if (!err)
		err = memtrace_writer_put(recording->writer, &event, &live.id);
	if (err)
		return err;
	recording->counts.allocs++;
	return live_table_add(&recording->live, &live);
}

static int on_alloc(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack)
{
	struct alloc_recording *recording = ctx;
	const struct live_alloc *live;

	if (alloc->kind == ALLOC_SAMPLED)
		return put_begin(recording, alloc, stack);
	live = live_table_find(&recording->live, alloc->address);
	return live && live->began_ns == alloc->began_ns ? put_end(recording, live, alloc->time_ns) : 0;
}

/* ---- the recording ---- */

static int begin_trace(struct alloc_recording *recording, const char *program, struct output *output)
{
	const struct alloc_recorder_config *config = &recording->config;
	CLEANUP(freep) char *params = NULL;
	struct memtrace_info info = {
		.start_us = clock_ns(CLOCK_REALTIME) / 1000,
		.sample_rate =
			config->interval_bytes == 1 ? 1 : (double)WORD_BYTES / (double)config->interval_bytes,
		.word_bits = 64,
		.pid = (uint64_t)config->pid,
		.executable = (char *)program,
		.context = (char *)"",
	};
	struct memtrace_writer_config writer = {
		.info = &info,
		.output = output,
		.locate = frame_codes_locate,
		.ctx = recording->codes,
	};
	struct utsname host;

	recording->start_ns = clock_kernel_ns();
	uname(&host);
	info.host = host.nodename;
	if (asprintf(&params, "recorded by trailcam: interval=%llu,allocator=%s,stack=%u,probes=%s",
		     (unsigned long long)config->interval_bytes,
		     alloc_recorder_allocator(recording->recorder), config->stack_bytes,
		     alloc_recorder_link_name(recording->recorder)) < 0)
		return -ENOMEM;
	info.runtime_params = params;
	return memtrace_writer_new(&recording->writer, &writer);
}

int alloc_recording_new(struct alloc_recording **ret_recording, const struct alloc_recorder_config *config,
			const char *program, struct output *output)
{
	CLEANUP(alloc_recording_freep) struct alloc_recording *recording = calloc(1, sizeof(*recording));
	int err;

	if (!recording)
		return -ENOMEM;
	recording->config = *config;
	err = alloc_recorder_new(&recording->recorder, config);
	if (!err)
		err = alloc_unwind_init(&recording->unwind, recording->recorder, config);
	if (!err)
		err = frame_codes_new(&recording->codes, process_image_get(recording->unwind.process),
				      process_image_objects(recording->unwind.process));
	if (!err)
		err = begin_trace(recording, program, output);
	if (err)
		return err;
	*ret_recording = TAKE_PTR(recording);
	return 0;
}

int alloc_recording_fd(const struct alloc_recording *recording)
{
	return alloc_recorder_fd(recording->recorder);
}

int alloc_recording_take(struct alloc_recording *recording)
{
	int err = process_image_update(recording->unwind.process);

	return err ? err : alloc_recorder_read(recording->recorder, on_alloc, recording);
}

/* Ends of which the record was lost; when they were is not known. */
static int put_lost_ends(struct alloc_recording *recording, uint64_t now_ns)
{
	struct live_table *table = &recording->live;
	struct live_alloc *ended = calloc(table->cnt + 1, sizeof(*ended));
	size_t cnt = 0;
	int err = ended ? 0 : -ENOMEM;

	for (size_t i = 0; i < table->cap && !err; i++)
		if (table->slots[i].address &&
		    !alloc_recorder_is_alive(recording->recorder, table->slots[i].address,
					     table->slots[i].began_ns))
			ended[cnt++] = table->slots[i];
	for (size_t i = 0; i < cnt && !err; i++)
		err = put_end(recording, &ended[i], now_ns);
	free(ended);
	return err;
}

static int put_lost_part(struct alloc_recording *recording, uint64_t code, uint64_t samples, uint64_t now_ns)
{
	struct memtrace_event event = {
		.kind = MEMTRACE_ALLOC,
		.time_us = event_us(recording, now_ns),
		.length = words(samples * recording->config.interval_bytes),
		.nsamples = recording->config.interval_bytes == 1 ? words(samples) : samples,
		.source = MEMTRACE_EXTERNAL,
		.frames = &code,
		.frame_cnt = 1,
	};
	int err = memtrace_writer_put(recording->writer, &event, &event.id);

	event.kind = MEMTRACE_COLLECT;
	return err ? err : memtrace_writer_put(recording->writer, &event, NULL);
}

/*
 * So that sums are right, and it shows: allocations for those of which the record was lost. They end at once,
 * as most do, and one by one, since they were not alive together.
 */
static int put_lost_samples(struct alloc_recording *recording, uint64_t samples, uint64_t now_ns)
{
	enum { PARTS = 1000 };
	uint64_t code = frame_codes_make(recording->codes, "[lost records]");
	uint64_t part = samples / PARTS + 1;
	int err = code ? 0 : -ENOMEM;

	for (; samples && !err; samples -= part) {
		part = part < samples ? part : samples;
		err = put_lost_part(recording, code, part, now_ns);
	}
	return err;
}

static int put_lost(struct alloc_recording *recording)
{
	struct alloc_recorder_counts counts = alloc_recorder_counts(recording->recorder);
	uint64_t now_ns = clock_kernel_ns();
	/* The kernel does not know which of those that were forgotten are alive. */
	int err = counts.lost && !counts.forgotten ? put_lost_ends(recording, now_ns) : 0;

	return err || !counts.lost_samples ? err : put_lost_samples(recording, counts.lost_samples, now_ns);
}

int alloc_recording_finish(struct alloc_recording *recording)
{
	int cnt;

	alloc_recorder_detach(recording->recorder);
	while ((cnt = alloc_recording_take(recording)) > 0)
		;
	if (!cnt)
		cnt = put_lost(recording);
	return cnt ? cnt : memtrace_writer_flush(recording->writer);
}

struct alloc_recording_counts alloc_recording_counts(const struct alloc_recording *recording)
{
	struct alloc_recording_counts counts = recording->counts;

	counts.recorder = alloc_recorder_counts(recording->recorder);
	return counts;
}

void alloc_recording_free(struct alloc_recording *recording)
{
	if (!recording)
		return;
	alloc_recorder_free(recording->recorder);
	if (recording->writer)
		memtrace_writer_free(recording->writer);
	frame_codes_free(recording->codes);
	alloc_unwind_release(&recording->unwind);
	live_table_release(&recording->live);
	free(recording);
}
