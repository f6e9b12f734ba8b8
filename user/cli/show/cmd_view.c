/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view: a recording as a page in the browser, or a trace in the Perfetto viewer, opened at the hit.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file/path.h"
#include "base/log.h"
#include "cli/outputs.h"
#include "cli/show/serve.h"
#include "cli/show/tui.h"
#include "output/html.h"
#include "output/sink.h"

enum { OPT_PERFETTO = 256, OPT_TUI, OPT_DIFF, CALLS_SHOWN = 40 };

struct view_options {
	const char *file;
	const char *other; /* to compare it with; or NULL */
	const char *output;
	bool perfetto, tui;
};

/* ---- files and browsers ---- */

/* FILE's name and `suffix`, in a new directory. The caller frees it. -errno with a sentence. */
static int temporary_path(const char *file, const char *suffix, char **ret_path)
{
	CLEANUP(freep) char *dir = NULL;
	CLEANUP(freep) char *name = strdup(file);
	const char *tmp = getenv("TMPDIR");
	size_t len = strlen(file);

	while (name && len > 1 && name[len - 1] == '/')
		name[--len] = 0;
	if (!name || asprintf(&dir, "%s/trailcam-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		return -ENOMEM;
	if (!mkdtemp(dir))
		return fail_errno(-errno, "cannot make the directory %s", dir);
	return asprintf(ret_path, "%s/%s%s", dir, path_name(name), suffix) < 0 ? -ENOMEM : 0;
}

/* The file of temporary_path(), if it is there, and its directory. */
static void remove_temporary(char **path)
{
	if (!*path)
		return;
	unlink(*path);
	*strrchr(*path, '/') = 0;
	rmdir(*path);
	free(*path);
}

/* With $BROWSER, or on a display with what the desktop has for it. It goes on by itself. */
static void open_browser(const char *address)
{
	const char *browser = getenv("BROWSER");
	char *const argv[] = {(char *)(browser && *browser ? browser : "xdg-open"), (char *)address, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;

	if (!(browser && *browser) && !getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return;
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	if (posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ))
		log_warn("cannot start %s to open the page", argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
}

/* ---- signals: they stay pending, so that what is temporary goes away ---- */

static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool is_interrupted(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM));
}

/* -ECANCELED: interrupted. */
static int decode(struct decoded **ret_decoded, const char *file)
{
	const struct decode_config config = {
		.source_lines = true, .progress = show_progress, .is_cancelled = is_interrupted};
	int err = decode_file(ret_decoded, file, &config);

	return !err && is_interrupted() ? fail(-ECANCELED, "interrupted: nothing was written") : err;
}

static int view_status(int err)
{
	return err ? print_failure(err, err == -ECANCELED ? STATUS_INTERRUPTED : STATUS_FAILED) : STATUS_OK;
}

/* ---- the page ---- */

static int write_page(const char *file, const char *path)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	struct outputs page = {.paths = {path}, .cnt = 1};
	int err = decode(&decoded, file);

	if (!err)
		err = outputs_check(&page);
	return err ? err : outputs_write(&page, decoded);
}

static int decode_whole(struct decoded **ret_decoded, const char *file)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err = decode(&decoded, file);

	if (err)
		return err;
	err = decoded_load(decoded);
	if (err)
		return fail(err, "no memory for the %zu calls of %s, or no room in $TMPDIR (/var/tmp)",
			    decoded_slice_cnt(decoded), file);
	*ret_decoded = TAKE_PTR(decoded);
	return 0;
}

static int write_diff(const struct view_options *view, const char *path)
{
	CLEANUP(decoded_freep) struct decoded *a = NULL;
	CLEANUP(decoded_freep) struct decoded *b = NULL;
	CLEANUP(output_abortp) struct output *output = NULL;
	int err = decode_whole(&a, view->file);

	if (!err)
		err = decode_whole(&b, view->other);
	if (!err)
		err = output_open(&output, path);
	if (!err)
		err = html_write(decoded_timeline(a), decoded_timeline(b), output, HTML_SLICES_MAX);
	if (!err)
		err = output_close(TAKE_PTR(output));
	if (!err)
		log_say("wrote %s: %zu calls of A (%s), %zu of B (%s); %s", path, decoded_slice_cnt(a),
			view->file, decoded_slice_cnt(b), view->other, sink_html.how_to_open);
	return err;
}

static int view_page(const struct view_options *view)
{
	CLEANUP(remove_temporary) char *temporary = NULL;
	CLEANUP(freep) char *address = NULL;
	int err = view->output ? 0 : temporary_path(view->file, ".html", &temporary);
	const char *path = view->output ? view->output : temporary;

	if (!err)
		err = view->other ? write_diff(view, path) : write_page(view->file, path);
	if (err)
		return view_status(err);
	address = realpath(path, NULL);
	if (address && !is_interrupted())
		open_browser(address);
	free(TAKE_PTR(temporary)); /* the file stays: it is what was asked for */
	return is_interrupted() ? STATUS_INTERRUPTED : STATUS_OK;
}

static int view_tui(const struct view_options *view)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err = decode(&decoded, view->file);

	return view_status(err ? err : tui_run(decoded_timeline(decoded)));
}

/* ---- Perfetto ---- */

/* What the viewer reads as it is. */
static bool is_trace(const char *file)
{
	static const char *const suffixes[] = {".fxt",	  ".pftrace",	 ".perfetto-trace", ".json",
					       ".fxt.gz", ".pftrace.gz", ".json.gz"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (path_ends_in(file, strlen(file), suffixes[i]))
			return true;
	return false;
}

/* When the last calls before the hit began, on its thread: what is seen first. */
static uint64_t shown_from(const struct timeline *timeline, const struct timeline_hit *hit)
{
	for (size_t i = 0; i < timeline->thread_cnt; i++) {
		const struct timeline_thread *thread = &timeline->threads[i];
		size_t at;

		if (thread->pid != (int32_t)hit->hit->pid || thread->tid != (int32_t)hit->hit->tid)
			continue;
		at = timeline_thread_begun(thread, hit->time_ns);
		if (at)
			return thread->slices[at > CALLS_SHOWN ? at - CALLS_SHOWN : 0].start_ns;
	}
	return hit->time_ns;
}

/*
 * "&visStart=...": the viewer shows these times, and selects the hit's slice, which has no length. Empty
 * without a hit.
 */
static int hit_keys(const struct timeline *timeline, char **ret_keys)
{
	const struct timeline_hit *hit = timeline->hits;
	uint64_t from, span;

	if (!timeline->hit_cnt)
		return (*ret_keys = strdup("")) ? 0 : -ENOMEM;
	from = shown_from(timeline, hit);
	span = hit->time_ns - from + 100;
	if (asprintf(ret_keys, "&visStart=%" PRIu64 "&visEnd=%" PRIu64 "&ts=%" PRIu64 "&dur=0", from,
		     hit->time_ns + span / 3, hit->time_ns) < 0)
		return -ENOMEM;
	return 0;
}

static int decode_to(const char *file, const char *path, char **ret_keys)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	CLEANUP(output_abortp) struct output *output = NULL;
	int err = decode(&decoded, file);

	if (!err)
		err = output_open(&output, path);
	if (!err)
		err = sink_fxt.write(decoded_timeline(decoded), output);
	if (!err)
		err = output_close(TAKE_PTR(output));
	return err ? err : hit_keys(decoded_timeline(decoded), ret_keys);
}

/* Of a trace that is served as it is. What can be shown but not read here is shown from its beginning. */
static int keys_of(const char *file, char **ret_keys)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;

	if (!path_ends_in(file, strlen(file), ".fxt") && !path_ends_in(file, strlen(file), ".fxt.gz"))
		return 0;
	return decode(&decoded, file) ? 0 : hit_keys(decoded_timeline(decoded), ret_keys);
}

/* The last part of a path as the end of a URL. */
static char *url_name(const char *path)
{
	char *name = strdup(path_name(path));

	for (char *at = name; at && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			*at = '_';
	return name;
}

static int serve_trace(int listen_fd, const char *path, const char *keys, bool *ret_interrupted)
{
	CLEANUP(freep) char *last = url_name(path);
	CLEANUP(freep) char *name = NULL;
	CLEANUP(freep) char *link = NULL;
	uint64_t secret; /* nobody else may fetch it */

	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		return fail_errno(-errno, "the kernel gives no random number for the link");
	if (!last || asprintf(&name, "%016" PRIx64 "/%s", secret, last) < 0 ||
	    asprintf(&link, SERVE_VIEWER "/#!/?url=" SERVE_ORIGIN "/%s%s", name, keys) < 0)
		return -ENOMEM;
	puts(link);
	fflush(stdout);
	log_say("open this link in a browser on this machine; trailcam serves the trace once, then ends "
		"(Ctrl-C ends it sooner)");
	open_browser(link);
	return serve_once(listen_fd, path, name, ret_interrupted);
}

static int view_perfetto(const struct view_options *view)
{
	CLEANUP(remove_temporary) char *temporary = NULL;
	CLEANUP(freep) char *keys = NULL;
	CLEANUP(closep) int listen_fd = -1;
	bool interrupted = false, as_it_is = is_trace(view->file);
	int err = access(view->file, R_OK) ? fail_errno(-errno, "cannot read %s", view->file)
					   : serve_listen(&listen_fd);

	if (!err && as_it_is)
		err = keys_of(view->file, &keys);
	else if (!err)
		err = temporary_path(view->file, ".fxt.gz", &temporary);
	if (!err && !as_it_is)
		err = decode_to(view->file, temporary, &keys);
	if (!err)
		err = serve_trace(listen_fd, as_it_is ? view->file : temporary, keys ? keys : "",
				  &interrupted);
	return interrupted ? STATUS_INTERRUPTED : view_status(err);
}

/* ---- the command ---- */

static const struct argp_option options[] = {
	{"output", 'o', "FILE.html", 0,
	 "Write the page there (default: in a new directory in $TMPDIR or /tmp)", 1},
	{"perfetto", OPT_PERFETTO, NULL, 0,
	 "Show it in " SERVE_VIEWER ": prints the link, and serves the trace to it once, at " SERVE_ORIGIN,
	 1},
	{"diff", OPT_DIFF, "OTHER", 0,
	 "Compare it with another recording or trace: FILE is A, OTHER is B, above each other at their hits",
	 1},
	{"tui", OPT_TUI, NULL, 0, "Show it in this terminal: the calls before the hit as a tree", 1},
	{0},
};

static const struct option_field fields[] = {
	OPTION_FIELD('o', struct view_options, output),
	OPTION_FIELD(OPT_PERFETTO, struct view_options, perfetto),
	OPTION_FIELD(OPT_DIFF, struct view_options, other),
	OPTION_FIELD(OPT_TUI, struct view_options, tui),
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct view_options *view = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (view->file)
			usage_error(state,
				    "one file at a time, please: '%s' is one too many (--diff compares two)",
				    arg);
		view->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!!view->output + view->perfetto + view->tui > 1)
			argp_error(state,
				   "give one of --output, --perfetto and --tui: only --output writes a page");
		if (view->other && (view->perfetto || view->tui))
			argp_error(state, "--diff makes a page: give neither --perfetto nor --tui");
		if (view->output && !path_ends_in(view->output, strlen(view->output), sink_html.suffix))
			usage_error(state, "--output: the name of a page must end in .html, unlike '%s'",
				    view->output);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no recording given (trailcam run --keep-recording DIR makes one)");
		return 0;
	default:
		return option_fields_set(fields, view, key, arg, state);
	}
}

static const struct argp_child children[] = {{.argp = &talk_argp}, {0}};

static const struct argp argp = {
	.children = children,
	.options = options,
	.parser = parse,
	.args_doc = "FILE",
	.doc = "  trailcam view rec\n"
	       "  trailcam view --diff fast slow\n"
	       "  trailcam view --perfetto trace.fxt.gz\n\n"
	       "Show a recording or a trace (.fxt, .fxt.gz), opened at the hit: as a page that needs no "
	       "network, in $BROWSER, or with xdg-open where there is a display. --perfetto also takes "
	       ".pftrace and .json.\v"
	       "Exit status: 0: written, or fetched by the viewer; 1: not a recording, damaged, or it cannot "
	       "be written or served; 2: wrong usage; 130: interrupted.",
};

int cmd_view(int argc, char **argv)
{
	struct view_options view = {0};

	options_parse(&argp, argc, argv, 0, &view);
	block_signals();
	return view.tui ? view_tui(&view) : view.perfetto ? view_perfetto(&view) : view_page(&view);
}
