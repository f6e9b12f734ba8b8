/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file/path.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "input/fxt_read.h"
#include "output/sink.h"
#include "recording/recording.h"
#include "timeline/parts.h"

enum { OPT_FORMAT = 2048, OPT_SPLIT };

static const struct argp_option table[] = {
	{"output", 'o', "FILE", 0,
	 "Write the trace to FILE (default: trace.fxt.gz; \"-\": standard output) in the format that its "
	 "suffix names; may be given several times",
	 21},
	{"format", OPT_FORMAT, "FORMAT", 0, NULL, 21},
	{"split", OPT_SPLIT, NULL, 0,
	 "Write each snapshot (--multi-snapshot) to a file of its own, with its number before FILE's suffix: "
	 "trace-001.fxt.gz",
	 21},
	{0},
};

static char *help(int key, const char *text, void *input)
{
	char *made;

	(void)input;
	if (key != OPT_FORMAT)
		return (char *)text;
	return asprintf(&made,
			"Write it in this format where FILE's suffix names none: %s (suffixes: %s, each "
			"followed by .gz or .zst to be compressed)",
			sink_names().text, sink_suffixes().text) < 0
		       ? NULL
		       : made;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct outputs *outputs = state->input;

	switch (key) {
	case 'o':
		if (outputs->cnt == OUTPUTS_MAX)
			argp_error(state, "-o: no more than %d files at once", OUTPUTS_MAX);
		outputs->paths[outputs->cnt++] = arg;
		return 0;
	case OPT_FORMAT:
		outputs->format = arg;
		return 0;
	case OPT_SPLIT:
		outputs->split = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp outputs_argp = {.options = table, .parser = parse, .help_filter = help};

int outputs_check_default(const char *path, bool is_ours)
{
	struct stat st;

	if (is_ours || stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	return fail(-EEXIST, "%s exists already and is not a trace: give another file with -o", path);
}

static bool is_stdout_open(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int outputs_check(struct outputs *outputs)
{
	static const char default_path[] = "trace.fxt.gz";
	int err = 0;

	if (outputs->format && !outputs->cnt)
		return fail(-EINVAL, "--format needs -o: it names the format of a file whose suffix names "
				     "none");
	if (!outputs->cnt) {
		outputs->paths[outputs->cnt++] = default_path;
		err = outputs_check_default(default_path, fxt_is(default_path));
	}
	if (err)
		return err;
	for (size_t i = 0; i < outputs->cnt; i++) {
		outputs->sinks[i] = sink_find(outputs->paths[i], outputs->format);
		if (!outputs->sinks[i])
			return -EINVAL;
		if (!strcmp(outputs->paths[i], "-") && !is_stdout_open())
			return fail(-EBADF, "-o -: standard output is closed, so the trace would be lost");
		if (!strcmp(outputs->paths[i], "-") && outputs->split)
			return fail(-EINVAL, "--split writes several files: name them with -o FILE");
		for (size_t j = 0; j < i; j++)
			if (!strcmp(outputs->paths[i], outputs->paths[j]))
				return fail(-EINVAL, "-o %s is given twice", outputs->paths[i]);
	}
	return 0;
}

int output_check_input(const char *output, const char *input, const char *verb)
{
	struct stat in, out;

	if (stat(input, &in) || !S_ISREG(in.st_mode) || stat(output, &out) || in.st_dev != out.st_dev ||
	    in.st_ino != out.st_ino)
		return 0;
	return fail(-EINVAL, "%s is the file that is %s, and would be replaced: give another file", output,
		    verb);
}

int outputs_check_input(const struct outputs *outputs, const char *input)
{
	CLEANUP(freep) char *data = NULL;
	int err = asprintf(&data, "%s/" RECORDING_DATA, input) < 0 ? -ENOMEM : 0;

	for (size_t i = 0; i < outputs->cnt && !err; i++) {
		err = output_check_input(outputs->paths[i], input, "read");
		if (!err)
			err = output_check_input(outputs->paths[i], data, "read");
	}
	return err;
}

char *output_part_path(const struct outputs *outputs, size_t output, size_t nth, size_t cnt)
{
	const char *path = outputs->paths[output], *suffix = outputs->sinks[output]->suffix;
	size_t len = output_plain_len(path);
	int digits = snprintf(NULL, 0, "%zu", cnt);
	char *part;

	len -= path_ends_in(path, len, suffix) ? strlen(suffix) : 0;
	return asprintf(&part, "%.*s-%0*zu%s", (int)len, path, digits, nth + 1, path + len) < 0 ? NULL : part;
}

static int write_file(const struct timeline *timeline, const struct sink *sink, const char *path)
{
	CLEANUP(output_abortp) struct output *output = NULL;
	int err = output_open(&output, path);

	if (progress_is_due())
		progress_tell("writing %s", path);
	if (!err)
		err = sink->write(timeline, output);
	return err ? err : output_close(TAKE_PTR(output));
}

struct parts {
	const struct outputs *outputs;
	size_t output, cnt;
};

static int write_part(void *ctx, const struct timeline *part, size_t nth)
{
	const struct parts *parts = ctx;
	CLEANUP(freep) char *path = output_part_path(parts->outputs, parts->output, nth, parts->cnt);

	return path ? write_file(part, parts->outputs->sinks[parts->output], path) : -ENOMEM;
}

static int write_parts(const struct outputs *outputs, size_t nth, const struct timeline *timeline,
		       const char *holds)
{
	struct parts parts = {outputs, nth, timeline_part_cnt(timeline)};
	CLEANUP(freep) char *first = output_part_path(outputs, nth, 0, parts.cnt);
	CLEANUP(freep) char *last = output_part_path(outputs, nth, parts.cnt - 1, parts.cnt);
	int err = first && last ? timeline_each_part(timeline, write_part, &parts) : -ENOMEM;

	if (!err)
		log_say("wrote %s%s%s: %s; %s", first, parts.cnt > 1 ? " to " : "", parts.cnt > 1 ? last : "",
			holds, outputs->sinks[nth]->how_to_open);
	return err;
}

static int write_one(const struct outputs *outputs, size_t nth, const struct timeline *timeline,
		     const char *holds)
{
	const char *path = outputs->paths[nth];
	int err;

	if (outputs->split)
		return write_parts(outputs, nth, timeline, holds);
	err = write_file(timeline, outputs->sinks[nth], path);
	if (!err)
		log_say("wrote %s: %s; %s", path, holds, outputs->sinks[nth]->how_to_open);
	return err;
}

int outputs_write_timeline(const struct outputs *outputs, const struct timeline *timeline, const char *holds)
{
	struct first_failure failure = {0};

	fail_reset();
	for (size_t i = 0; i < outputs->cnt; i++)
		first_failure_note(&failure, write_one(outputs, i, timeline, holds));
	return first_failure_end(&failure);
}

int outputs_write(const struct outputs *outputs, struct decoded *decoded)
{
	const struct timeline *timeline = decoded_timeline(decoded);
	size_t gaps = decoded_gap_cnt(decoded);
	char holds[160], gap_text[48] = "";
	int err = 0;

	for (size_t i = 0; i < outputs->cnt && !err; i++)
		if (outputs->sinks[i]->needs_arrays || outputs->split)
			err = decoded_load(decoded);
	if (err)
		return fail(err, "no memory for %zu calls, or no room in $TMPDIR (/var/tmp)",
			    decoded_slice_cnt(decoded));

	if (gaps)
		snprintf(gap_text, sizeof(gap_text), ", %zu gap%s", gaps, gaps == 1 ? "" : "s");
	snprintf(holds, sizeof(holds), "%zu calls in %zu thread%s, %zu hit%s%s", decoded_slice_cnt(decoded),
		 timeline->thread_cnt, timeline->thread_cnt == 1 ? "" : "s", timeline->hit_cnt,
		 timeline->hit_cnt == 1 ? "" : "s", gap_text);
	return outputs_write_timeline(outputs, timeline, holds);
}
