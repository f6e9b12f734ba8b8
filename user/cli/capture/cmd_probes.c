/* SPDX-License-Identifier: BSD-2-Clause */
/* probes: lists the possible triggers, one place per line. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file/path.h"
#include "base/on_line.h"
#include "cli/json.h"
#include "probe/list.h"
#include "process/maps.h"
#include "process/program.h"

struct probes_options {
	const char *file, *pattern;
	pid_t pid; /* 0: `file` */
	bool json;
};

enum { OPT_JSON = 256 };

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0,
	 "List the executable of this process, and what PATTERN matches in its libraries", 0},
	{"json", OPT_JSON, NULL, 0,
	 "Print an array of objects: file, address, kind, name, and source and line or args", 0},
	{0},
};

static void add_word(struct argp_state *state, struct probes_options *probes, char *arg)
{
	const char **word = !probes->pid && !probes->file ? &probes->file : &probes->pattern;

	if (*word)
		usage_error(state, "one file and one pattern, please: '%s' is one too many", arg);
	*word = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct probes_options *probes = state->input;

	switch (key) {
	case 'p':
		if (parse_pid(arg, &probes->pid))
			argp_error(state, "%s", fail_message(-EINVAL));
		if (probes->pattern)
			usage_error(state, "give FILE or -p PID, not both");
		probes->pattern = probes->file;
		return 0;
	case OPT_JSON:
		probes->json = true;
		return 0;
	case ARGP_KEY_ARG:
		add_word(state, probes, arg);
		return 0;
	case ARGP_KEY_END:
		if (!probes->pid && !probes->file)
			usage_error(state, "no file given: trailcam probes FILE [PATTERN]");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What is listed, and how. */
struct listing {
	const struct probes_options *options;
	yajl_gen gen;	    /* NULL: text */
	const char *file;   /* of the places */
	const char *prefix; /* "libc.so.6:" if a trigger needs it, else "" */
	size_t cnt;
};

static void print_text(const struct listing *listing, const struct trigger_place *place)
{
	printf("0x%012" PRIx64 "\t%s\t", place->addr, place->kind);
	on_line_put(listing->prefix, stdout);
	on_line_put(place->name, stdout);
	putchar('\t');
	if (place->source) {
		on_line_put(place->source, stdout);
		printf(":%" PRIu32, place->line);
	}
	on_line_put(place->args ? place->args : "", stdout);
	putchar('\n');
}

static void print_object(const struct listing *listing, const struct trigger_place *place)
{
	yajl_gen gen = listing->gen;
	CLEANUP(freep) char *name = NULL;

	if (asprintf(&name, "%s%s", listing->prefix, place->name) < 0)
		name = NULL;
	yajl_gen_map_open(gen);
	json_key_text(gen, "file", listing->file);
	json_key_hex(gen, "address", place->addr);
	json_key_text(gen, "kind", place->kind);
	json_key_text(gen, "name", name);
	if (place->source) {
		json_key_text(gen, "source", place->source);
		json_key_number(gen, "line", place->line);
	}
	if (place->args)
		json_key_text(gen, "args", place->args);
	yajl_gen_map_close(gen);
}

static int print_place(void *ctx, const struct trigger_place *place)
{
	struct listing *listing = ctx;

	if (listing->gen)
		print_object(listing, place);
	else
		print_text(listing, place);
	listing->cnt++;
	return ferror(stdout) ? -EIO : 0;
}

/* A path, or else a program as the shell would take it, or else a library. */
static void find_file(const char *name, char **ret_path)
{
	if (strchr(name, '/') || !access(name, F_OK) ||
	    (program_find(name, ret_path) && elf_library_find("/proc/self/exe", name, ret_path)))
		*ret_path = strdup(name);
}

static int list_file(struct listing *listing)
{
	CLEANUP(freep) char *path = NULL;
	int err;

	find_file(listing->options->file, &path);
	if (!path)
		return -ENOMEM;
	listing->file = path;
	err = trigger_list(path, listing->options->pattern, print_place, listing);
	if (err || listing->cnt)
		return err;
	return listing->options->pattern
		       ? fail(-ENOENT, "nothing in %s matches '%s'", path, listing->options->pattern)
		       : fail(-ENOENT,
			      "%s has no symbols: name a place in it by its address (FILE:0xADDRESS)", path);
}

static bool is_new(const struct maps *maps, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(maps->items[i].mapping.name, maps->items[at].mapping.name))
			return false;
	return maps->items[at].mapping.name[0] == '/';
}

static bool is_executable(pid_t pid, const struct sideband_mapping *mapping)
{
	struct stat st;
	char exe[32];

	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	return !stat(exe, &st) && st.st_ino == mapping->ino;
}

/* A file that is not ELF (a font, a cache) has no places. */
static int list_mapping(struct listing *listing, const struct sideband_mapping *mapping)
{
	CLEANUP(freep) char *prefix = NULL;
	bool own = is_executable(listing->options->pid, mapping);
	int err;

	if (!own && !listing->options->pattern)
		return 0;
	if (asprintf(&prefix, "%s:", path_name(mapping->name)) < 0)
		return -ENOMEM;
	listing->file = mapping->name;
	listing->prefix = own ? "" : prefix;
	err = trigger_list(mapping->name, listing->options->pattern, print_place, listing);
	return own || err == -ENOMEM || err == -EIO ? err : 0;
}

static int list_process(struct listing *listing)
{
	CLEANUP(maps_release) struct maps maps = {0};
	pid_t pid = listing->options->pid;
	int err = maps_read(&maps, pid);

	if (err)
		return fail_errno(err, "cannot read what process %d has mapped", pid);
	for (size_t i = 0; i < maps.cnt && !err; i++)
		if (is_new(&maps, i))
			err = list_mapping(listing, &maps.items[i].mapping);
	if (err || listing->cnt)
		return err;
	return listing->options->pattern
		       ? fail(-ENOENT, "nothing in process %d matches '%s'", pid, listing->options->pattern)
		       : fail(-ENOENT,
			      "the executable of process %d has no symbols: give a PATTERN to search its "
			      "libraries, too",
			      pid);
}

int cmd_probes(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = parse,
		.args_doc = "FILE [PATTERN]\n-p PID [PATTERN]",
		.doc = "  trailcam probes libc.so.6 'mem*'\n"
		       "  trailcam probes -p 4711 'handle*'\n\n"
		       "List what can be named as a trigger in FILE, a program or a library, or in a "
		       "process: address, kind, name, and source line or arguments, between tabs. PATTERN is "
		       "a part of the name, or a pattern with * ? [].\v"
		       "Exit status: 0: listed; 1: nothing matches, or FILE cannot be read; 2: wrong usage.",
	};
	struct probes_options probes = {0};
	struct listing listing = {.options = &probes, .prefix = ""};
	int err;

	options_parse(&argp, argc, argv, 0, &probes);
	if (probes.json) {
		listing.gen = json_to_stdout();
		if (!listing.gen)
			return print_failure(fail(-ENOMEM, "no memory for the list"), STATUS_FAILED);
		yajl_gen_array_open(listing.gen);
	}
	err = probes.pid ? list_process(&listing) : list_file(&listing);
	if (listing.gen) {
		yajl_gen_array_close(listing.gen);
		yajl_gen_free(listing.gen);
	}
	return end_output(err);
}
