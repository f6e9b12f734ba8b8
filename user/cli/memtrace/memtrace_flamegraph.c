/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/file/path.h"
#include "base/file/reading.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/memtrace/memtrace.h"
#include "cli/outputs.h"
#include "heap/flamegraph.h"

struct flamegraph {
	struct memtrace_input input;
	const char *path;
	bool is_page, samples, no_recursion;
};

enum { OPT_SAMPLES = 256, OPT_NO_RECURSION };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0,
	 "Write it to FILE (default: flamegraph.html): .html is a page, .folded and \"-\" (standard output) "
	 "are folded stacks; .gz or .zst may follow",
	 30},
	{"samples", OPT_SAMPLES, NULL, 0, "Count samples in folded stacks, not bytes", 30},
	{"no-recursion", OPT_NO_RECURSION, NULL, 0,
	 "Leave out of a stack the inner calls of a recursive function", 30},
	{0},
};

static const char default_path[] = "flamegraph.html";

static bool ends_in(const char *path, const char *suffix)
{
	return path_ends_in(path, output_plain_len(path), suffix);
}

static void check(struct argp_state *state, struct flamegraph *flamegraph)
{
	const char *path = flamegraph->path;
	const struct outputs outputs = {.paths = {path}, .cnt = 1};
	int err;

	flamegraph->is_page = ends_in(path, ".html");
	if (!flamegraph->is_page && !ends_in(path, ".folded") && strcmp(path, "-") &&
	    strncmp(path, "/dev/", 5))
		argp_error(state,
			   "-o %s: no format is known for it: its name must end in .html or .folded, or in "
			   "one of them and .gz or .zst",
			   path);
	if (flamegraph->is_page && flamegraph->samples)
		argp_error(state, "--samples is for folded stacks (-o FILE.folded): the page shows both");
	err = flamegraph->input.path ? outputs_check_input(&outputs, flamegraph->input.path) : 0;
	if (err)
		argp_error(state, "%s", fail_message(err));
}

static int check_default(const struct flamegraph *flamegraph)
{
	static const char mark[] = "<title>trailcam";

	return flamegraph->path == default_path
		       ? outputs_check_default(default_path,
					       reading_has(default_path, mark, strlen(mark), 4096))
		       : 0;
}

static const struct option_field fields[] = {
	OPTION_FIELD('o', struct flamegraph, path),
	OPTION_FIELD(OPT_SAMPLES, struct flamegraph, samples),
	OPTION_FIELD(OPT_NO_RECURSION, struct flamegraph, no_recursion),
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct flamegraph *flamegraph = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &flamegraph->input;
		return 0;
	case ARGP_KEY_END:
		check(state, flamegraph);
		return 0;
	default:
		return option_fields_set(fields, flamegraph, key, arg, state);
	}
}

static const struct argp argp = {
	.children = memtrace_input_children,
	.options = options,
	.parser = parse,
	.args_doc = "TRACE",
	.doc = "  trailcam memtrace flamegraph -o app.html app.ctf\n"
	       "  trailcam memtrace flamegraph --live -o - app.ctf | flamegraph.pl > live.svg\n\n"
	       "Write where memory was allocated as a flame graph, as wide as there were bytes (estimates). "
	       "The page needs no network; it also shows what is never collected, and what is alive when the "
	       "most is.\v"
	       "Exit status: 0: written; 1: not a trace, damaged (written is what comes before), or the "
	       "graph cannot be written; 2: wrong usage.",
};

static int write_graph(const struct flamegraph *flamegraph, const struct memtrace *trace)
{
	const struct memtrace_tree_config config = {
		.detail = flamegraph->is_page ? MEMTRACE_BY_FUNCTION : MEMTRACE_BY_NAME,
		.no_recursion = flamegraph->no_recursion,
	};
	CLEANUP(memtrace_tree_freep) struct memtrace_tree *tree = NULL;
	CLEANUP(output_abortp) struct output *output = NULL;
	int err = memtrace_tree_new(&tree, trace, &config);

	if (!err)
		err = output_open(&output, flamegraph->path);
	if (err)
		return err;
	if (flamegraph->is_page)
		memtrace_write_page(trace, tree, output);
	else
		err = memtrace_write_folded(trace, tree, flamegraph->samples, output);
	if (!err)
		err = output_close(TAKE_PTR(output));
	if (!err)
		log_say("wrote %s: %zu samples in %zu call paths; %s", flamegraph->path, trace->sample_cnt,
			tree->path_cnt - 1,
			flamegraph->is_page
				? "open it in a browser"
				: "feed it to flamegraph.pl, or open it in https://www.speedscope.app");
	return err;
}

int memtrace_flamegraph(int argc, char **argv)
{
	CLEANUP(memtrace_freep) struct memtrace *trace = NULL;
	struct flamegraph flamegraph = {.path = default_path};
	int err;

	options_parse(&argp, argc, argv, 0, &flamegraph);
	err = check_default(&flamegraph);
	if (!err)
		err = memtrace_load(&trace, flamegraph.input.path, &flamegraph.input.filter);
	if (err)
		return print_failure(err, STATUS_FAILED);
	return memtrace_end(trace, write_graph(&flamegraph, trace));
}
