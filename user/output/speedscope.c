/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline for speedscope: an evented profile for each thread
 * (https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources). It refuses a file with a frame
 * that is not closed, a close of another than the innermost, or a time that runs back. Frames are told by
 * number; what they are is known only at the end, and stands there.
 */
#include <errno.h>
#include <inttypes.h>

#include "output/bytes/json_text.h"
#include "output/names.h"
#include "output/sink.h"
#include "output/walk.h"

struct writer {
	struct output *output;
	struct names files;
	struct names frames; /* below the number of their file, or 0; values: lines */
	const char *profile_separator, *event_separator; /* before the next one */
	uint64_t end_ns;				 /* the thread's last time */
	bool no_memory;
};

static void begin_thread(void *ctx, const struct timeline_thread *thread)
{
	struct writer *writer = ctx;
	char name[256];

	snprintf(name, sizeof(name), "%.200s [tid=%d]", thread->name, thread->tid);
	output_printf(writer->output, "%s{\"type\":\"evented\",\"name\":", writer->profile_separator);
	json_string(writer->output, name);
	output_printf(writer->output, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[\n");
	writer->profile_separator = ",\n";
	writer->event_separator = "";
	writer->end_ns = 0;
}

static void end_thread(void *ctx)
{
	struct writer *writer = ctx;

	output_printf(writer->output, "],\"endValue\":%" PRIu64 "}", writer->end_ns);
}

static uint32_t frame_of(struct writer *writer, const struct slice *slice)
{
	const struct symbol *symbol = slice->symbol;
	uint32_t file = symbol && symbol->file ? names_get(&writer->files, 0, symbol->file) : 0;
	uint32_t frame = names_get(&writer->frames, file, slice_name(slice));

	if (!frame || (symbol && symbol->file && !file)) {
		writer->no_memory = true;
		return 1;
	}
	if (file && !writer->frames.items[frame].value)
		writer->frames.items[frame].value = symbol->line;
	return frame;
}

static void write_event(struct writer *writer, char type, const struct slice *slice, uint64_t time_ns)
{
	output_printf(writer->output, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
		      writer->event_separator, type, frame_of(writer, slice) - 1, time_ns);
	writer->event_separator = ",\n";
	writer->end_ns = time_ns;
}

static void begin_slice(void *ctx, const struct slice *slice)
{
	write_event(ctx, 'O', slice, slice->start_ns);
}

static void end_slice(void *ctx, const struct slice *slice)
{
	write_event(ctx, 'C', slice, slice->end_ns);
}

static void write_frames(struct writer *writer)
{
	struct output *output = writer->output;

	for (size_t i = 1; i < writer->frames.cnt; i++) {
		const struct name *frame = &writer->frames.items[i];

		output_printf(output, "%s{\"name\":", i > 1 ? ",\n" : "");
		json_string(output, frame->text);
		if (frame->parent) {
			output_printf(output, ",\"file\":");
			json_string(output, writer->files.items[frame->parent].text);
		}
		if (frame->value)
			output_printf(output, ",\"line\":%" PRIu64, frame->value);
		output_printf(output, "}");
	}
}

static int write_speedscope(const struct timeline *timeline, struct output *output)
{
	static const struct walk_ops ops = {.depth_max = WALK_VIEWER_DEPTH,
					    .thread = begin_thread,
					    .begin = begin_slice,
					    .end = end_slice,
					    .thread_end = end_thread};
	struct writer writer = {.output = output, .profile_separator = ""};
	int err;

	output_printf(output, "{\"$schema\":\"https://www.speedscope.app/"
			      "file-format-schema.json\",\"exporter\":\"trailcam\",\"name\":");
	json_string(output, timeline->command);
	output_printf(output, ",\n\"profiles\":[\n");
	err = walk_timeline(timeline, &ops, &writer);
	output_printf(output, "],\n\"shared\":{\"frames\":[\n");
	write_frames(&writer);
	output_printf(output, "]}}\n");
	names_release(&writer.frames);
	names_release(&writer.files);
	return writer.no_memory ? -ENOMEM : err;
}

const struct sink sink_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.how_to_open = "open it in https://www.speedscope.app",
	.write = write_speedscope,
};
