/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/memtrace/memtrace.h"
#include "cli/terminal.h"
#include "heap/hotspots.h"

enum { TOP = 20, INDENT = 2, INDENTED_MAX = 60 };

enum by { BY_FUNCTION, BY_LINE, BY_PATH, BY_CNT };

static const char *const by_names[] = {[BY_FUNCTION] = "function", [BY_LINE] = "line", [BY_PATH] = "path"};

_Static_assert(ARRAY_SIZE(by_names) == BY_CNT, "a name for each");

struct hotspots {
	struct memtrace_input input;
	enum by by;
	bool by_total, no_recursion, json;
	size_t top;
	const struct memtrace *trace;
	struct memtrace_tree *tree;
	/* The result: places, or rows of a tree. */
	uint32_t *frames;
	struct memtrace_row *rows;
	size_t cnt, left_out;
	struct terminal terminal;
};

/* What a row is about, and how deep it stands. */
struct row {
	const struct memtrace_weight *self, *total;
	uint32_t frame, path; /* path: 0 of places */
	uint32_t calls, level;
};

static struct row row_at(const struct hotspots *hotspots, size_t i)
{
	const struct memtrace_tree *tree = hotspots->tree;

	if (hotspots->by == BY_PATH) {
		const struct memtrace_row *row = &hotspots->rows[i];
		const struct memtrace_path *path = &tree->paths[row->path];

		return (struct row){&path->self, &path->total, path->frame,
				    row->path,	 row->calls,   row->level};
	}
	return (struct row){&tree->frames[hotspots->frames[i]].self,
			    &tree->frames[hotspots->frames[i]].total,
			    hotspots->frames[i],
			    0,
			    1,
			    0};
}

static const struct memtrace_weight *everything(const struct hotspots *hotspots)
{
	return &hotspots->tree->paths[0].total;
}

/* ---- text ---- */

static struct bytes_text words_text(const struct hotspots *hotspots, uint64_t nsamples)
{
	return bytes_text(memtrace_bytes_of(hotspots->trace, nsamples));
}

/* "main > g > f", "main > ... 12 ... > f" where there are more. NULL: no memory. */
static char *path_name_of(const struct hotspots *hotspots, const struct row *row)
{
	const struct memtrace_tree *tree = hotspots->tree;
	const char *last = tree->frames[row->frame].function, *first, *second;
	uint32_t path = tree->paths[row->path].parent;
	char *name = NULL;
	int len;

	second = tree->frames[tree->paths[path].frame].function;
	for (uint32_t i = 2; i < row->calls; i++)
		path = tree->paths[path].parent;
	first = tree->frames[tree->paths[path].frame].function;
	if (row->calls == 1)
		len = asprintf(&name, "%s", last);
	else if (row->calls == 2)
		len = asprintf(&name, "%s > %s", first, last);
	else if (row->calls == 3)
		len = asprintf(&name, "%s > %s > %s", first, second, last);
	else
		len = asprintf(&name, "%s > ... %u ... > %s", first, row->calls - 2, last);
	return len < 0 ? NULL : name;
}

/* "f  (file.ml)", "f  (file.ml:12)". NULL: no memory. */
static char *place_name(const struct memtrace_frame *frame)
{
	char *name = NULL;
	int len;

	if (!*frame->file)
		len = asprintf(&name, "%s", frame->function);
	else if (!frame->line)
		len = asprintf(&name, "%s  (%s)", frame->function, frame->file);
	else
		len = asprintf(&name, "%s  (%s:%u)", frame->function, frame->file, frame->line);
	return len < 0 ? NULL : name;
}

static void print_row(const struct hotspots *hotspots, const struct row *row)
{
	CLEANUP(freep)
	char *name =
		row->path ? path_name_of(hotspots, row) : place_name(&hotspots->tree->frames[row->frame]);
	uint64_t whole = everything(hotspots)->allocated;
	const struct memtrace_weight *shown =
		hotspots->by_total || hotspots->by == BY_PATH ? row->total : row->self;
	uint32_t indent = row->level < INDENTED_MAX ? row->level : INDENTED_MAX;
	int used = printf(
		"%11s %5.1f %% %11s %5.1f %% %8" PRIu64 " %11s %11s  %*s",
		words_text(hotspots, row->self->allocated).text, percent(row->self->allocated, whole),
		words_text(hotspots, row->total->allocated).text, percent(row->total->allocated, whole),
		shown->allocations, words_text(hotspots, shown->live).text,
		words_text(hotspots, shown->peak).text, (int)indent * INDENT, "");

	terminal_text(&hotspots->terminal, COLOUR_NONE, (size_t)used, name ? name : "");
	putchar('\n');
}

static void print_text(struct hotspots *hotspots)
{
	const struct memtrace_weight *all = everything(hotspots);
	const char *what = hotspots->by_total || hotspots->by == BY_PATH ? "total" : "self";

	hotspots->terminal = terminal_of_stdout();
	printf("%" PRIu64 " allocations were sampled, which stand for %s", all->allocations,
	       words_text(hotspots, all->allocated).text);
	printf("; %s never collected", words_text(hotspots, all->live).text);
	printf("; at most %s alive, after %s\n\n", words_text(hotspots, all->peak).text,
	       duration_text(hotspots->tree->peak.time_us * 1000).text);
	printf("%11s %7s %11s %7s %8s %11s %11s  %s\n", "self", "", "total", "", "samples", "at the end",
	       "at the peak", hotspots->by == BY_PATH ? "call path" : by_names[hotspots->by]);
	for (size_t i = 0; i < hotspots->cnt; i++) {
		struct row row = row_at(hotspots, i);

		print_row(hotspots, &row);
	}
	if (hotspots->left_out)
		printf("... %zu more (--top)\n", hotspots->left_out);
	printf("\nsamples, at the end and at the peak: of %s\n", what);
}

/* ---- JSON ---- */

static void put_weight(yajl_gen gen, const struct hotspots *hotspots, const char *name,
		       const struct memtrace_weight *weight)
{
	json_key_map(gen, name);
	json_key_number(gen, "allocations", weight->allocations);
	json_key_number(gen, "samples", weight->allocated);
	json_key_number(gen, "bytes", memtrace_bytes_of(hotspots->trace, weight->allocated));
	json_key_number(gen, "live_bytes", memtrace_bytes_of(hotspots->trace, weight->live));
	json_key_number(gen, "peak_bytes", memtrace_bytes_of(hotspots->trace, weight->peak));
	yajl_gen_map_close(gen);
}

static int put_path(yajl_gen gen, const struct memtrace_tree *tree, uint32_t path)
{
	uint32_t depth = tree->paths[path].depth;
	CLEANUP(freep) uint32_t *frames = calloc(depth + 1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	memtrace_tree_frames(tree, path, frames);
	json_key_array(gen, "path");
	for (uint32_t i = 0; i < depth; i++)
		json_text(gen, tree->frames[frames[i]].function);
	yajl_gen_array_close(gen);
	return 0;
}

static int put_row(yajl_gen gen, const struct hotspots *hotspots, const struct row *row)
{
	const struct memtrace_frame *frame = &hotspots->tree->frames[row->frame];
	int err = 0;

	yajl_gen_map_open(gen);
	json_key_text(gen, "function", frame->function);
	json_key_text(gen, "file", frame->file);
	if (hotspots->by == BY_LINE)
		json_key_number(gen, "line", frame->line);
	if (row->path)
		err = put_path(gen, hotspots->tree, row->path);
	put_weight(gen, hotspots, "self", row->self);
	put_weight(gen, hotspots, "total", row->total);
	yajl_gen_map_close(gen);
	return err;
}

static int print_json(const struct hotspots *hotspots)
{
	CLEANUP(yajl_gen_freep) yajl_gen gen = json_to_stdout();
	int err = 0;

	if (!gen)
		return -ENOMEM;
	yajl_gen_map_open(gen);
	put_weight(gen, hotspots, "all", everything(hotspots));
	json_key_number(gen, "peak_time_us", hotspots->tree->peak.time_us);
	json_key_text(gen, "by", by_names[hotspots->by]);
	json_key_array(gen, "hotspots");
	for (size_t i = 0; i < hotspots->cnt && !err; i++) {
		struct row row = row_at(hotspots, i);

		err = put_row(gen, hotspots, &row);
	}
	yajl_gen_array_close(gen);
	json_key_number(gen, "left_out", hotspots->left_out);
	yajl_gen_map_close(gen);
	return err;
}

/* ---- the command ---- */

enum { OPT_BY = 256, OPT_TOTAL, OPT_TOP, OPT_NO_RECURSION, OPT_JSON };

static const struct argp_option options[] = {
	{"by", OPT_BY, "function|line|path", 0,
	 "What to add up (default: function); \"path\" is a tree of calls", 30},
	{"total", OPT_TOTAL, NULL, 0, "Sort by total (with what they call), not by self", 30},
	{"top", OPT_TOP, "N", 0, "Show N functions, lines or paths (default: 20)", 30},
	{"no-recursion", OPT_NO_RECURSION, NULL, 0,
	 "With --by path: leave out of a path the inner calls of a recursive function", 30},
	{"json", OPT_JSON, NULL, 0, "JSON, for scripts: trailcam(1) lists its keys", 30},
	{0},
};

static enum by by_option(struct argp_state *state, const char *arg)
{
	for (enum by by = 0; by < BY_CNT; by++)
		if (!strcmp(arg, by_names[by]))
			return by;
	usage_error(state, "--by: there is no '%s': use function, line or path", arg);
	return BY_FUNCTION;
}

static const struct option_field fields[] = {
	OPTION_FIELD(OPT_TOTAL, struct hotspots, by_total),
	OPTION_FIELD(OPT_TOP, struct hotspots, top),
	OPTION_FIELD(OPT_NO_RECURSION, struct hotspots, no_recursion),
	OPTION_FIELD(OPT_JSON, struct hotspots, json),
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct hotspots *hotspots = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &hotspots->input;
		return 0;
	case ARGP_KEY_END:
		if (hotspots->no_recursion && hotspots->by != BY_PATH)
			argp_error(
				state,
				"--no-recursion is for --by path: functions and lines count recursion once");
		return 0;
	case OPT_BY:
		hotspots->by = by_option(state, arg);
		return 0;
	default:
		return option_fields_set(fields, hotspots, key, arg, state);
	}
}

static const struct argp argp = {
	.children = memtrace_input_children,
	.options = options,
	.parser = parse,
	.args_doc = "TRACE",
	.doc = "  trailcam memtrace hotspots app.ctf\n"
	       "  trailcam memtrace hotspots --live --by path app.ctf\n"
	       "  trailcam memtrace hotspots --peak --by line --total app.ctf\n\n"
	       "Say which functions, lines or call paths allocate the most: by themselves (self) and with "
	       "what they call (total, in which a call within a call of the same function counts once), what "
	       "of it is never collected, and what is alive when the most is. Bytes are estimates.\v"
	       "Exit status: 0: shown; 1: not a trace, or damaged (what comes before is shown); 2: wrong "
	       "usage.",
};

static int find_hotspots(struct hotspots *hotspots)
{
	const struct memtrace_tree_config config = {
		.detail = hotspots->by == BY_LINE ? MEMTRACE_BY_LINE : MEMTRACE_BY_FUNCTION,
		.no_recursion = hotspots->no_recursion,
	};
	int err = memtrace_tree_new(&hotspots->tree, hotspots->trace, &config);

	if (err)
		return err;
	if (hotspots->by == BY_PATH)
		return memtrace_hot_paths(hotspots->tree, hotspots->top, &hotspots->rows, &hotspots->cnt,
					  &hotspots->left_out);
	return memtrace_hot_frames(hotspots->tree, hotspots->top, hotspots->by_total, &hotspots->frames,
				   &hotspots->cnt, &hotspots->left_out);
}

static void release(struct hotspots *hotspots)
{
	if (hotspots->tree)
		memtrace_tree_free(hotspots->tree);
	free(hotspots->frames);
	free(hotspots->rows);
}

int memtrace_hotspots(int argc, char **argv)
{
	CLEANUP(memtrace_freep) struct memtrace *trace = NULL;
	CLEANUP(release) struct hotspots hotspots = {.top = TOP};
	int err;

	options_parse(&argp, argc, argv, 0, &hotspots);
	err = memtrace_load(&trace, hotspots.input.path, &hotspots.input.filter);
	if (err)
		return print_failure(err, STATUS_FAILED);
	hotspots.trace = trace;
	err = find_hotspots(&hotspots);
	if (!err && hotspots.json)
		err = print_json(&hotspots);
	else if (!err)
		print_text(&hotspots);
	return memtrace_end(trace, err);
}
