/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "base/file/path.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/memtrace/memtrace.h"
#include "cli/outputs.h"
#include "heap/copy.h"
#include "heap/heap_timeline.h"

struct convert {
	struct memtrace_input input;
	struct outputs outputs; /* for viewers ... */
	struct outputs copies;	/* ... and in memtrace's own format */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct convert *convert = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &convert->outputs;
	state->child_inputs[1] = &convert->input;
	return 0;
}

static const struct argp_child children[] = {
	{&outputs_argp, 0, NULL, 0}, {&memtrace_input_argp, 0, MEMTRACE_INPUT_HEADER, 31}, {0}};

static const struct argp argp = {
	.children = children,
	.parser = parse,
	.args_doc = "TRACE",
	.doc = "  trailcam memtrace convert -o app.fxt.gz app.ctf\n"
	       "  trailcam memtrace convert --after 10s --before 20s -o part.ctf app.ctf\n\n"
	       "Write an allocation trace for viewers of timelines: the call stacks of the samples over "
	       "time, each up to the next one, a moment for each, and estimates of the bytes that are alive "
	       "and of those allocated so far, as counters. A FILE that ends in .ctf is an allocation trace "
	       "again (version 3), of what the filters leave.\v"
	       "Exit status: 0: written; 1: not a trace, damaged (written is what comes before), or the "
	       "result cannot be written; 2: wrong usage.",
};

/* Moves those that end in .ctf from outputs to copies. */
static void find_copies(struct convert *convert)
{
	struct outputs *outputs = &convert->outputs, *copies = &convert->copies;
	size_t cnt = outputs->cnt;

	outputs->cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		const char *path = outputs->paths[i];
		struct outputs *to = path_ends_in(path, strlen(path), ".ctf") ? copies : outputs;

		to->paths[to->cnt++] = path;
	}
}

static int check(struct convert *convert)
{
	int err = 0;

	find_copies(convert);
	if (convert->outputs.cnt || !convert->copies.cnt || convert->outputs.format)
		err = outputs_check(&convert->outputs);
	if (!err)
		err = outputs_check_input(&convert->outputs, convert->input.path);
	return err ? err : outputs_check_input(&convert->copies, convert->input.path);
}

static int write_copy(const struct memtrace *trace, const char *path)
{
	CLEANUP(output_abortp) struct output *output = NULL;
	size_t left_out = 0;
	int err = output_open(&output, path);

	if (!err)
		err = memtrace_copy(trace, output, &left_out);
	if (err)
		return err;
	err = output_close(TAKE_PTR(output));
	if (err)
		return err;
	if (left_out)
		log_warn("left out %zu events of allocations that are not in the trace", left_out);
	log_say("wrote %s: %zu samples; it is an allocation trace (trailcam memtrace)", path,
		trace->sample_cnt);
	return 0;
}

static int write_timeline(const struct convert *convert, const struct memtrace *trace)
{
	CLEANUP(memtrace_shown_freep) struct memtrace_shown *shown = NULL;
	const struct timeline *timeline;
	char holds[96];
	int err = memtrace_show(&shown, trace);

	if (err)
		return err;
	timeline = memtrace_shown_timeline(shown);
	snprintf(holds, sizeof(holds), "%zu samples in %zu domain%s", trace->sample_cnt, timeline->thread_cnt,
		 timeline->thread_cnt == 1 ? "" : "s");
	return outputs_write_timeline(&convert->outputs, timeline, holds);
}

/* If one fails, the others are still written; its sentence is printed at the end. */
static int write_outputs(const struct convert *convert, const struct memtrace *trace)
{
	struct first_failure failure = {0};

	if (convert->outputs.cnt)
		first_failure_note(&failure, write_timeline(convert, trace));
	for (size_t i = 0; i < convert->copies.cnt; i++)
		first_failure_note(&failure, write_copy(trace, convert->copies.paths[i]));
	return first_failure_end(&failure);
}

int memtrace_convert(int argc, char **argv)
{
	CLEANUP(memtrace_freep) struct memtrace *trace = NULL;
	struct convert convert = {0};
	int err;

	options_parse(&argp, argc, argv, 0, &convert);
	err = check(&convert);
	if (err)
		return print_failure(err, STATUS_USAGE);
	err = memtrace_load(&trace, convert.input.path, &convert.input.filter);
	if (err)
		return print_failure(err, STATUS_FAILED);
	return memtrace_end(trace, write_outputs(&convert, trace));
}
