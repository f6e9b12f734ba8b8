/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/spill.h"
#include "cli/show/report.h"

enum { HITS = 4, CALLS = 30, TOP = 20 };

struct report_command {
	struct report_options options;
	bool json;
};

enum {
	OPT_HITS = 256,
	OPT_TOP,
	OPT_THREAD,
	OPT_FROM,
	OPT_TO,
	OPT_DIFF,
	OPT_FUNCTION,
	OPT_WIDE,
	OPT_JSON,
	OPT_SYMFS,
	OPT_MEMORY
};

static const struct argp_option options[] = {
	{"hits", OPT_HITS, "N", 0, "Show N hits: the first ones and the last ones (default: 4)", 1},
	{"calls", 'n', "N", 0, "Show the last N calls before each hit (default: 30)", 1},
	{"top", OPT_TOP, "N", 0, "Show N functions, or with --diff the N greatest differences (default: 20)",
	 1},
	{"thread", OPT_THREAD, "TID", 0, "Show this thread only", 1},
	{"function", OPT_FUNCTION, "FUNCTION", 0, "Show who called FUNCTION and what it called, instead", 1},
	{"from", OPT_FROM, "FUNCTION", 0, "With --to: only the time from calls of FUNCTION ...", 1},
	{"to", OPT_TO, "FUNCTION", 0, "... to the next call of this FUNCTION on the same thread (see --from)",
	 1},
	{"diff", OPT_DIFF, "OTHER", 0, "Compare with another trace or recording, call path by call path", 1},
	{"wide", OPT_WIDE, NULL, 0, "Whole names and values, in lines that are as long as these are", 1},
	{"json", OPT_JSON, NULL, 0, "JSON, for scripts: trailcam(1) lists its keys", 1},
	{"symfs", OPT_SYMFS, "DIR", 0, "Look for the traced programs and libraries in DIR first", 1},
	{"memory", OPT_MEMORY, "SIZE", 0,
	 "Keep at most SIZE of a long timeline in memory (default: 256m), and the rest in a file in "
	 "$TMPDIR or /var/tmp",
	 1},
	{0},
};

static const struct option_field fields[] = {
	OPTION_FIELD(OPT_HITS, struct report_command, options.hits),
	OPTION_FIELD('n', struct report_command, options.calls),
	OPTION_FIELD(OPT_TOP, struct report_command, options.top),
	OPTION_FIELD(OPT_FUNCTION, struct report_command, options.function),
	OPTION_FIELD(OPT_FROM, struct report_command, options.decode.from),
	OPTION_FIELD(OPT_TO, struct report_command, options.decode.to),
	OPTION_FIELD(OPT_DIFF, struct report_command, options.other),
	OPTION_FIELD(OPT_WIDE, struct report_command, options.is_wide),
	OPTION_FIELD(OPT_JSON, struct report_command, json),
	OPTION_FIELD(OPT_SYMFS, struct report_command, options.decode.symfs),
	{0},
};

static int32_t thread_option(struct argp_state *state, const char *arg)
{
	uint64_t tid = 0;

	if (parse_count("--thread", arg, &tid))
		argp_error(state, "%s", fail_message(-EINVAL));
	if (!tid || tid > INT32_MAX)
		usage_error(state, "--thread: '%s' is not a thread number", arg);
	return (int32_t)tid;
}

static void memory_option(struct argp_state *state, const char *arg)
{
	size_t memory = 0;

	if (parse_size(arg, &memory))
		argp_error(state, "%s", fail_message(-EINVAL));
	spill_set_memory(memory);
}

static void check(struct argp_state *state, const struct report_options *report)
{
	if (!report->path)
		argp_error(state, "no trace or recording given (trailcam run -o x.fxt.gz writes one)");
	if (!report->decode.from != !report->decode.to)
		argp_error(state, "--from and --to belong together: give both");
	if (report->other && report->function)
		argp_error(state, "give --diff or --function, not both");
	if (report->other && report->thread)
		argp_error(state, "give --diff or --thread, not both: threads have other numbers in "
				  "another trace");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_command *command = state->input;
	struct report_options *report = &command->options;

	switch (key) {
	case OPT_THREAD:
		report->thread = thread_option(state, arg);
		return 0;
	case OPT_MEMORY:
		memory_option(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (report->path)
			usage_error(state,
				    "one at a time, please: '%s' is one too many (--diff compares two)", arg);
		report->path = arg;
		return 0;
	case ARGP_KEY_END:
		check(state, report);
		return 0;
	default:
		return option_fields_set(fields, command, key, arg, state);
	}
}

static const struct argp_child children[] = {{.argp = &talk_argp}, {0}};

static const struct argp argp = {
	.children = children,
	.options = options,
	.parser = parse,
	.args_doc = "TRACE|RECORDING",
	.doc = "  trailcam report trace.fxt.gz\n"
	       "  trailcam report --diff fast.fxt.gz slow.fxt.gz\n\n"
	       "Say in the terminal what is in a trace (.fxt, .fxt.gz) or a recording: what was traced, the "
	       "hits and the calls before them, where the time went.\v"
	       "Exit status: 0: the report is written; 1: neither a trace nor a recording, damaged, or the "
	       "report cannot be "
	       "written; 2: wrong usage.",
};

int cmd_report(int argc, char **argv)
{
	struct report_command command = {
		.options = {.hits = HITS,
			    .calls = CALLS,
			    .top = TOP,
			    .decode = {.hit_source_lines = true, .progress = show_progress}}};
	CLEANUP(report_release) struct report made = {0};
	int err;

	options_parse(&argp, argc, argv, 0, &command);
	err = report_make(&made, &command.options);
	if (!err)
		err = command.json ? report_json(&made) : report_text(&made);
	return end_output(err);
}
