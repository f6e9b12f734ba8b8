/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor: one table of what works here, and what would change the rest. */
#include "cli/cli.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/on_line.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "doctor/doctor.h"

struct table {
	bool json;
	yajl_gen gen;		  /* NULL: it is text */
	struct terminal terminal; /* no line is cut */
	size_t source;		  /* the best that works, of `sources` */
};

enum { OPT_JSON = 256 };

/* Best first, with how the main job works by it. */
static const struct {
	const char *finding, *how;
} sources[] = {
	{DOCTOR_INTEL_PT, ""},
	{DOCTOR_TRANSLATE,
	 " without Intel PT: run translates the program, which makes it some 1.2 to 8 times slower"},
	{DOCTOR_SAMPLES, " with stacks that are sampled, since there is no Intel PT"},
	{DOCTOR_STEPPING, " by single-stepping only, some 50,000 times slower than at full speed"},
	{NULL, ""},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct table *table = state->input;

	switch (key) {
	case OPT_JSON:
		table->json = true;
		return 0;
	case ARGP_KEY_ARG:
		usage_error(state, "doctor takes no arguments: '%s' is one too many", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_json(yajl_gen gen, const struct finding *finding, const char *state)
{
	yajl_gen_map_open(gen);
	json_key_text(gen, "name", finding->name);
	json_key_text(gen, "state", state);
	json_key_text(gen, "detail", finding->detail);
	json_key_text(gen, "remedy", finding->remedy);
	yajl_gen_map_close(gen);
}

static void print_text(const struct table *table, const struct finding *finding, const char *state)
{
	static const enum colour colours[] = {
		[FINDING_WORKS] = COLOUR_GREEN, [FINDING_FAILS] = COLOUR_RED, [FINDING_NOTE] = COLOUR_NONE};
	char padded[16];

	snprintf(padded, sizeof(padded), "%-6s", finding->state == FINDING_NOTE ? "" : state);
	terminal_text(&table->terminal, colours[finding->state], 0, padded);
	printf(" %-26s ", finding->name);
	on_line_put(finding->detail, stdout);
	if (finding->remedy[0]) {
		printf("\n%-6s %-26s -> ", "", "");
		terminal_text(&table->terminal, COLOUR_BOLD, 0, finding->remedy);
	}
	putchar('\n');
}

static int print(void *ctx, const struct finding *finding)
{
	static const char *const states[] = {
		[FINDING_WORKS] = "works", [FINDING_FAILS] = "fails", [FINDING_NOTE] = "note"};
	struct table *table = ctx;
	const char *state = states[finding->state];

	for (size_t i = 0; i < table->source && finding->state == FINDING_WORKS; i++)
		if (!strcmp(finding->name, sources[i].finding))
			table->source = i;
	if (table->gen)
		print_json(table->gen, finding, state);
	else
		print_text(table, finding, state);
	return 0;
}

static const char *without_trigger(const struct table *table)
{
	return sources[table->source].finding
		       ? ": see what fails above (without a trigger, trailcam run -- PROGRAM does)"
		       : ": see what fails above";
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"json", OPT_JSON, NULL, 0, "Print an array of objects: name, state, detail, remedy", 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "  trailcam doctor\n\n"
		       "Try everything that trailcam needs on this machine, as this user, in this container, "
		       "and say what works, what does not, "
		       "and the command that would change it. Leaves nothing behind.\v"
		       "Exit status: 0: the main job works; 1: it does not; 2: wrong usage.",
	};
	struct table table = {.source = ARRAY_SIZE(sources) - 1,
			      .terminal = {.has_colours = terminal_of_stdout().has_colours}};
	int works, err;

	options_parse(&argp, argc, argv, 0, &table);
	if (table.json) {
		table.gen = json_to_stdout();
		if (!table.gen)
			return print_failure(fail(-ENOMEM, "no memory for the findings"), STATUS_FAILED);
		yajl_gen_array_open(table.gen);
	}
	err = doctor_run(print, &table, &works);
	if (table.gen) {
		yajl_gen_array_close(table.gen);
		yajl_gen_free(table.gen);
	} else {
		printf("\ntrailcam's main job %s%s%s\n", works ? "works here" : "does not work here",
		       works ? sources[table.source].how : without_trigger(&table),
		       works ? ": trailcam run -t FUNCTION -- PROGRAM" : "");
	}
	return end_output(err) || !works ? STATUS_FAILED : STATUS_OK;
}
