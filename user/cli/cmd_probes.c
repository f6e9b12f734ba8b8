/* SPDX-License-Identifier: BSD-2-Clause */
/* probes: what can be named as a trigger, one place a line. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/on_line.h"
#include "pipeline/program.h"
#include "trigger/list.h"

struct probes_options {
	const char *file, *pattern;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct probes_options *probes = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			usage_error(state, "one file and one pattern, please: '%s' is one too many", arg);
		*(state->arg_num ? &probes->pattern : &probes->file) = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no file given: trailcam probes FILE [PATTERN]");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print_place(void *ctx, const struct trigger_place *place)
{
	size_t *cnt = ctx;

	printf("0x%012" PRIx64 "\t%s\t", place->addr, place->kind);
	on_line_put(place->name, stdout);
	putchar('\t');
	on_line_put(place->source ? place->source : "", stdout);
	if (place->source)
		printf(":%" PRIu32, place->line);
	on_line_put(place->args ? place->args : "", stdout);
	putchar('\n');
	++*cnt;
	return ferror(stdout) ? -EIO : 0;
}

/* A path, or else a program as the shell would take it, or else a library. */
static void find_file(const char *name, char **ret_path)
{
	if (strchr(name, '/') || !access(name, F_OK) ||
	    (program_find(name, ret_path) && elf_library_find("/proc/self/exe", name, ret_path)))
		*ret_path = strdup(name);
}

int cmd_probes(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "FILE [PATTERN]",
		.doc = "  trailcam probes ./server 'parse_*'\n"
		       "  trailcam probes /usr/lib/x86_64-linux-gnu/libc.so.6 usdt:\n\n"
		       "List what can be named as a trigger in FILE, a program or a library: address, kind, "
		       "name, and source "
		       "line or arguments, between tabs. PATTERN is a part of the name, or a pattern with * "
		       "? [].\v"
		       "Exit status: 0: listed; 1: nothing matches, or FILE cannot be read; 2: wrong usage.",
	};
	struct probes_options probes = {0};
	CLEANUP(freep) char *path = NULL;
	size_t cnt = 0;
	int err;

	argp_err_exit_status = STATUS_USAGE;
	argv[0] = (char *)"trailcam probes";
	options_parse(&argp, argc, argv, 0, &probes);
	find_file(probes.file, &path);
	err = path ? trigger_list(path, probes.pattern, print_place, &cnt) : -ENOMEM;
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = fail_errno(-errno, "cannot write to standard output");
	if (!err && !cnt)
		err = probes.pattern
			      ? fail(-ENOENT, "nothing in %s matches '%s'", path, probes.pattern)
			      : fail(-ENOENT, "%s has no symbols: nothing in it can be named (0xADDRESS can)",
				     path);
	return err ? report(err, STATUS_FAILED) : STATUS_OK;
}
