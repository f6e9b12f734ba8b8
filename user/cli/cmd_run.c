/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run: capture and decode in one go. The program has the terminal, its exit status becomes ours, and a signal that kills it kills us;
 * what we have to say goes to stderr.
 */
#include "cli/cli.h"

#include <libgen.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/front.h"
#include "cli/pick_trigger.h"
#include "cli/trigger_options.h"
#include "pipeline/capture.h"
#include "pipeline/copies.h"
#include "pipeline/interrupt.h"
#include "pipeline/program.h"
#include "recording/recording.h"
#include "sinks/sink.h"

enum { RING_SIZE_DEFAULT = 4 << 20, RING_SIZE_MIN = 4096, RING_SIZE_MAX = 1 << 30 };

struct run_options {
	struct capture_config capture;
	struct trigger_options trigger;
	const char *output;
	const char *recording; /* NULL: not kept */
	char **program;
};

enum {
	OPT_SOURCE = 256,
	OPT_SNAPSHOT_SIZE,
	OPT_KEEP,
	OPT_MAX_SIZE,
	OPT_FOLLOW_FORKS,
	OPT_STEP_FROM,
	OPT_STEP_LOG,
	OPT_STEP_OVERFLOW,
	OPT_LINK,
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write the trace to FILE (default: trace.fxt.gz)", 21},
	{"keep-recording", OPT_KEEP, "DIR", 0, "Keep what was recorded, for trailcam decode and perf script",
	 22},
	{"snapshot-size", OPT_SNAPSHOT_SIZE, "SIZE", 0,
	 "Trace bytes kept for each thread, a power of two (default: 4M)", 23},
	{"follow-forks", OPT_FOLLOW_FORKS, NULL, 0, "Trace child processes, too", 22},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "With --multi-snapshot: end once the snapshots hold SIZE of trace (default: 1G, or the free disk "
	 "space)",
	 22},
	{"source", OPT_SOURCE, "auto|intel_pt|step|none", 0,
	 "Where branches come from: the processor's Intel PT, single-stepping, or nowhere: hits only, at "
	 "full speed (default: auto)",
	 24},
	{"step-from", OPT_STEP_FROM, "SYMBOL", 0, "step: run at full speed up to the first call of SYMBOL",
	 25},
	{"step-log", OPT_STEP_LOG, "FILE", 0, "step: write each instruction's thread and address to FILE",
	 26},
	{"step-overflow", OPT_STEP_OVERFLOW, "N", 0,
	 "step: lose packets every N instructions, as an overflowing processor does", 27},
	{"attach-via", OPT_LINK, "auto|uprobe_multi|perf_uprobe", 0,
	 "How probes are attached (default: auto)", 28},
	{"verbose", 'v', NULL, 0, "Say what is being done", 29},
	{0},
};

static int choose(const char *option, const char *text, const char *const names[], size_t cnt,
		  int *ret_choice)
{
	char list[128] = "";

	for (size_t i = 0; i < cnt; i++) {
		if (!strcmp(text, names[i])) {
			*ret_choice = (int)i;
			return 0;
		}
		strcat(strcat(list, i ? ", " : ""), names[i]);
	}
	return fail(-EINVAL, "%s: '%s' is none of %s", option, text, list);
}

static int parse_source(const char *text, enum capture_source *ret_source)
{
	static const char *const names[] = {"auto", "intel_pt", "step", "none"};
	int choice = 0, err = choose("--source", text, names, ARRAY_SIZE(names), &choice);

	if (!err)
		*ret_source = (enum capture_source)choice;
	return err;
}

static int parse_link(const char *text, enum trigger_link *ret_link)
{
	static const char *const names[] = {"auto", "uprobe_multi", "perf_uprobe"};
	int choice = 0, err = choose("--attach-via", text, names, ARRAY_SIZE(names), &choice);

	if (!err)
		*ret_link = (enum trigger_link)choice;
	return err;
}

static int parse_ring_size(const char *text, size_t *ret_size)
{
	size_t size;
	int err = parse_size(text, &size);

	if (err)
		return err;
	if (size < RING_SIZE_MIN || size > RING_SIZE_MAX || (size & (size - 1)))
		return fail(-EINVAL, "--snapshot-size: '%s' is not a power of two from 4k to 1G", text);
	*ret_size = size;
	return 0;
}

static int parse_value(struct run_options *run, int key, char *arg)
{
	switch (key) {
	case OPT_SNAPSHOT_SIZE:
		return parse_ring_size(arg, &run->capture.ring_size);
	case OPT_MAX_SIZE:
		return parse_size(arg, &run->capture.max_bytes);
	case OPT_SOURCE:
		return parse_source(arg, &run->capture.source);
	case OPT_LINK:
		return parse_link(arg, &run->capture.link);
	case OPT_STEP_OVERFLOW:
		return parse_count("--step-overflow", arg, &run->capture.step_overflow);
	default:
		return 0;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_options *run = state->input;
	int err;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &run->trigger;
		return 0;
	case 'o':
		run->output = arg;
		return 0;
	case 'v':
		log_set_verbose(true);
		return 0;
	case OPT_FOLLOW_FORKS:
		run->capture.follow_forks = true;
		return 0;
	case OPT_KEEP:
		run->recording = arg;
		return 0;
	case OPT_STEP_FROM:
		run->capture.step_from = arg;
		return 0;
	case OPT_STEP_LOG:
		run->capture.step_log = arg;
		return 0;
	case OPT_SNAPSHOT_SIZE:
	case OPT_MAX_SIZE:
	case OPT_SOURCE:
	case OPT_LINK:
	case OPT_STEP_OVERFLOW:
		err = parse_value(run, key, arg);
		if (err)
			argp_error(state, "%s", fail_message(err));
		return 0;
	case ARGP_KEY_ARG:
		/* The first word that is no option is the program; all that follows is its own. */
		run->program = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program to run: trailcam run [OPTION...] -- PROGRAM [ARG...]");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{.argp = &trigger_argp}, {0}};

static const struct argp argp = {
	.children = children,
	.options = options,
	.parser = parse,
	.args_doc = "[--] PROGRAM [ARG...]",
	.doc = "  trailcam run -t compress_block -- gzip -c file > file.gz\n"
	       "  trailcam run -t libc.so.6:malloc -o malloc.fxt.gz -- ls\n"
	       "  trailcam run --step-from main -t write -- ./server\n\n"
	       "Run PROGRAM, wait for the first call of the trigger's function, and write every function "
	       "call that led up to "
	       "it. Without a hit the trace shows what came before the program's end, or before Ctrl-C.\v"
	       "The exit status is PROGRAM's own. 125: trailcam itself failed; 126: PROGRAM cannot be "
	       "executed; 127: it was not "
	       "found.",
};

/* A trace is a few times smaller than its packets; where they would not fit, it might not either. */
static void limit_to_disk(struct run_options *run, const char *dir)
{
	struct statvfs fs;
	uint64_t room;

	if (statvfs(dir, &fs))
		return;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room < run->capture.max_bytes)
		run->capture.max_bytes = room;
}

/* What can be refused is refused before the program runs. */
static int check_outputs(struct run_options *run)
{
	CLEANUP(freep) char *copy = strdup(run->output);

	if (!copy)
		return -ENOMEM;
	if (!sink_find(run->output))
		return -EINVAL;
	if (strcmp(run->output, "-") && access(run->output, W_OK) &&
	    (errno != ENOENT || access(dirname(copy), W_OK)))
		return fail_errno(-errno, "cannot write %s", run->output);
	limit_to_disk(run, dirname(copy));
	return run->recording ? recording_check_target(run->recording) : 0;
}

/* The user asked for what leads up to a crash, and there was none: the trace of the last one is not overwritten. */
static bool is_unwanted(const struct run_options *run, enum capture_end end)
{
	const struct capture_until *until = &run->capture.until;

	return end == CAPTURE_EXITED && !run->capture.trigger_cnt && (until->signals || until->any_status);
}

static void say_end(const struct run_options *run, const struct snapshot *snapshot, enum capture_end end,
		    int status)
{
	char hits[48] = "";

	if (run->capture.trigger_cnt)
		snprintf(hits, sizeof(hits), snapshot->hit_cnt ? "only %zu hits" : "no hit",
			 snapshot->hit_cnt);
	switch (end) {
	case CAPTURE_HIT:
		if (snapshot->hit_cnt == 1)
			log_say("hit %s", snapshot->triggers[snapshot->hits[0].trigger]);
		else
			log_say("%zu hits, the last of %s", snapshot->hit_cnt,
				snapshot->triggers[snapshot->hits[snapshot->hit_cnt - 1].trigger]);
		break;
	case CAPTURE_INTERRUPTED:
		log_say("interrupted%s%s: the trace ends here", run->capture.trigger_cnt ? ", " : "", hits);
		break;
	case CAPTURE_EXITED:
		log_say("%s%sthe program ended (%s %d): the trace shows its end", hits,
			run->capture.trigger_cnt ? ", " : "", WIFSIGNALED(status) ? "signal" : "exit status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		break;
	}
}

static int save_and_decode(const struct run_options *run, struct snapshot *snapshot)
{
	struct decode_config config = {.source_lines = true, .progress = show_progress};
	CLEANUP(copies_release) struct copies copies = {0};
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err = run->recording ? recording_save(snapshot, run->recording) : 0;

	if (!err)
		err = copies_init(&copies, snapshot);
	if (!err)
		err = decode_snapshot(&decoded, snapshot, &config);
	return err ? err : write_trace(decoded, run->output);
}

static int status_of(int err)
{
	return err == -ENOENT ? STATUS_RUN_NOT_FOUND : STATUS_RUN_CANNOT_EXECUTE;
}

static int run_program(void *ctx)
{
	const struct run_options *run = ctx;
	CLEANUP(capture_freep) struct capture *capture = NULL;
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	enum capture_end end;
	bool exec_failed;
	int err, status;

	err = capture_new(&capture, &run->capture);
	if (err)
		return report(err, STATUS_RUN_FAILED);
	err = capture_run(capture, &snapshot, &end, &exec_failed);
	if (err)
		return report(err, exec_failed ? status_of(err) : STATUS_RUN_FAILED);
	if (interrupt_orphaned())
		return STATUS_RUN_FAILED;
	if (is_unwanted(run, end)) {
		log_say("no hit: nothing is written");
		return end_as(capture_wait(capture));
	}
	say_end(run, snapshot, end, end == CAPTURE_EXITED ? capture_wait(capture) : 0);
	if (run->capture.until.multi_snapshot)
		log_say("%llu snapshots", (unsigned long long)capture_snapshot_cnt(capture));
	err = save_and_decode(run, snapshot);
	if (err)
		report(err, STATUS_RUN_FAILED);
	status = capture_wait(capture);
	return err ? STATUS_RUN_FAILED : end_as(status);
}

/* What is picked is kept until the end. */
static int pick_triggers(struct run_options *run)
{
	int err = 0;

	for (size_t i = 0; i < run->trigger.cnt && !err; i++) {
		char *spec;

		if (!pick_is_wanted(run->trigger.requests[i].spec))
			continue;
		err = pick_trigger(run->trigger.requests[i].spec, run->capture.path, &spec);
		if (!err)
			run->trigger.requests[i].spec = spec;
	}
	return err;
}

int cmd_run(int argc, char **argv)
{
	struct run_options run = {.output = "trace.fxt.gz",
				  .capture = {.ring_size = RING_SIZE_DEFAULT, .max_bytes = 1 << 30}};
	CLEANUP(freep) char *path = NULL;
	int err;

	argp_err_exit_status = STATUS_RUN_FAILED;
	argv[0] = (char *)"trailcam run";
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run);
	run.capture.triggers = run.trigger.requests;
	run.capture.trigger_cnt = run.trigger.cnt;
	run.capture.until = run.trigger.until;
	run.capture.argv = run.program;
	err = program_find(run.program[0], &path);
	if (err)
		return report(err, err == -ENOTSUP ? STATUS_RUN_FAILED : status_of(err));
	run.capture.path = path;
	err = pick_triggers(&run);
	if (err)
		return report(err, STATUS_RUN_FAILED);
	err = check_outputs(&run);
	if (err)
		return report(err, STATUS_RUN_FAILED);
	return front_run(run_program, &run);
}
