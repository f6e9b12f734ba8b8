/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/memtrace/memtrace.h"

enum {
	OPT_AFTER = 3072,
	OPT_BEFORE,
	OPT_MIN_SIZE,
	OPT_MAX_SIZE,
	OPT_MIN_LIFETIME,
	OPT_MAX_LIFETIME,
	OPT_FUNCTION,
	OPT_ALLOCATED_IN,
	OPT_SOURCE,
	OPT_LIVE,
	OPT_PEAK,
};

static const struct argp_option table[] = {
	{"after", OPT_AFTER, "TIME", 0, "are made at this time of the trace, or later (1.5s, 200ms)", 31},
	{"before", OPT_BEFORE, "TIME", 0, "are made before this time of the trace", 31},
	{"min-size", OPT_MIN_SIZE, "SIZE", 0, "have at least SIZE bytes (4k, 1M)", 31},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0, "have at most SIZE bytes", 31},
	{"min-lifetime", OPT_MIN_LIFETIME, "TIME", 0, "live at least TIME, or to the end", 31},
	{"max-lifetime", OPT_MAX_LIFETIME, "TIME", 0, "live at most TIME", 31},
	{"function", OPT_FUNCTION, "GLOB", 0,
	 "have this function, or one that matches the pattern, in their call stack", 31},
	{"allocated-in", OPT_ALLOCATED_IN, "GLOB", 0, "are made by this function itself", 31},
	{"source", OPT_SOURCE, "minor|major|external", 0,
	 "come from this source: one of OCaml's heaps, or outside of them; may be given several times", 31},
	{"live", OPT_LIVE, NULL, 0, "are never collected within the trace", 31},
	{"peak", OPT_PEAK, NULL, 0, "are alive at the peak of those that the other options select", 31},
	{0},
};

/* Rounds up to microseconds, so that a small limit does not become 0, no limit. */
static uint64_t time_option(struct argp_state *state, const char *option, const char *arg)
{
	uint64_t ns = 0;

	if (parse_duration(option, arg, &ns))
		argp_error(state, "%s", fail_message(-EINVAL));
	return (ns + 999) / 1000;
}

static uint64_t size_option(struct argp_state *state, const char *option, const char *arg)
{
	size_t size = 0;

	if (parse_size(arg, &size))
		argp_error(state, "%s: %s", option, fail_message(-EINVAL));
	return size;
}

static unsigned int source_option(struct argp_state *state, const char *arg)
{
	for (enum memtrace_source source = 0; source < MEMTRACE_SOURCE_CNT; source++)
		if (!strcmp(arg, memtrace_source_name(source)))
			return 1u << source;
	usage_error(state, "--source: there is no '%s': use minor, major or external", arg);
	return 0;
}

static void check(struct argp_state *state, const struct memtrace_filter *filter)
{
	if (filter->before_us && filter->after_us >= filter->before_us)
		argp_error(state, "--after must be earlier than --before");
	if (filter->max_bytes && filter->min_bytes > filter->max_bytes)
		argp_error(state, "--min-size must not be above --max-size");
	if (filter->max_lifetime_us && filter->min_lifetime_us > filter->max_lifetime_us)
		argp_error(state, "--min-lifetime must not be above --max-lifetime");
	if (filter->live && filter->max_lifetime_us)
		argp_error(state,
			   "give --live or --max-lifetime, not both: what is never collected has no end");
}

static const struct option_field fields[] = {
	OPTION_FIELD(OPT_FUNCTION, struct memtrace_filter, function),
	OPTION_FIELD(OPT_ALLOCATED_IN, struct memtrace_filter, allocated_in),
	OPTION_FIELD(OPT_LIVE, struct memtrace_filter, live),
	OPTION_FIELD(OPT_PEAK, struct memtrace_filter, peak),
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct memtrace_input *input = state->input;
	struct memtrace_filter *filter = &input->filter;

	switch (key) {
	case OPT_AFTER:
		filter->after_us = time_option(state, "--after", arg);
		return 0;
	case OPT_BEFORE:
		filter->before_us = time_option(state, "--before", arg);
		return 0;
	case OPT_MIN_SIZE:
		filter->min_bytes = size_option(state, "--min-size", arg);
		return 0;
	case OPT_MAX_SIZE:
		filter->max_bytes = size_option(state, "--max-size", arg);
		if (!filter->max_bytes)
			argp_error(state, "--max-size: give at least 1");
		return 0;
	case OPT_MIN_LIFETIME:
		filter->min_lifetime_us = time_option(state, "--min-lifetime", arg);
		return 0;
	case OPT_MAX_LIFETIME:
		filter->max_lifetime_us = time_option(state, "--max-lifetime", arg);
		return 0;
	case OPT_SOURCE:
		filter->sources |= source_option(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (input->path)
			usage_error(state, "one trace at a time, please: '%s' is one too many", arg);
		input->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!input->path)
			argp_error(state, "no trace given (a file that memtrace wrote, usually .ctf)");
		check(state, filter);
		return 0;
	default:
		return option_fields_set(fields, filter, key, arg, state);
	}
}

static const struct argp_child children[] = {{.argp = &talk_argp}, {0}};
const struct argp memtrace_input_argp = {.options = table, .parser = parse, .children = children};
const struct argp_child memtrace_input_children[] = {{&memtrace_input_argp, 0, MEMTRACE_INPUT_HEADER, 31},
						     {0}};

int memtrace_end(const struct memtrace *trace, int err)
{
	if (err == -ENOMEM)
		err = fail(err, "no memory for so many allocations");
	if (end_output(err))
		return STATUS_FAILED;
	memtrace_tell_losses(trace);
	return trace->damage ? STATUS_FAILED : STATUS_OK;
}
