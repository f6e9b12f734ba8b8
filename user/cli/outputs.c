/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/outputs.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/cli.h"
#include "input/fxt_read.h"
#include "output/sink.h"
#include "recording/recording.h"

enum { OPT_FORMAT = 2048 };

static const struct argp_option table[] = {
	{"output", 'o', "FILE", 0,
	 "Write the trace to FILE (default: trace.fxt.gz; \"-\": standard output) in the format that its "
	 "suffix "
	 "names; may be given several times",
	 21},
	{"format", OPT_FORMAT, "FORMAT", 0, NULL, 21},
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

static int write_one(const struct timeline *timeline, const char *holds, const struct sink *sink,
		     const char *path)
{
	CLEANUP(output_abortp) struct output *output = NULL;
	int err = output_open(&output, path);

	if (progress_is_due())
		progress_tell("writing %s", path);
	if (!err)
		err = sink->write(timeline, output);
	if (err)
		return err;
	err = output_close(TAKE_PTR(output));
	if (!err)
		log_say("wrote %s: %s; %s", path, holds, sink->how_to_open);
	return err;
}

int outputs_write_timeline(const struct outputs *outputs, const struct timeline *timeline, const char *holds)
{
	CLEANUP(freep) char *sentence = NULL;
	int failed = 0;

	for (size_t i = 0; i < outputs->cnt; i++) {
		int err;

		fail_reset();
		err = write_one(timeline, holds, outputs->sinks[i], outputs->paths[i]);
		if (err && failed)
			report(err, STATUS_FAILED);
		if (!err || failed)
			continue;
		failed = err;
		sentence = strdup(fail_message(err));
	}
	return failed ? fail(failed, "%s", sentence ? sentence : strerror(-failed)) : 0;
}

int outputs_write(const struct outputs *outputs, struct decoded *decoded)
{
	const struct timeline *timeline = decoded_timeline(decoded);
	size_t gaps = decoded_gap_cnt(decoded);
	char holds[160], gap_text[48] = "";
	int err = 0;

	for (size_t i = 0; i < outputs->cnt && !err; i++)
		if (outputs->sinks[i]->needs_arrays)
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
