/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memtrace record: the allocations of a program that is started, or of a process that runs. Nothing is
 * stopped. A program that it starts has the terminal, and its exit status becomes ours, as with run; a
 * running process is left as it was.
 */
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file/path.h"
#include "base/log.h"
#include "base/progress.h"
#include "bpf/alloc_probe.h"
#include "capture/capture.h"
#include "capture/interrupt.h"
#include "cli/cli.h"
#include "cli/front.h"
#include "cli/memtrace/memtrace.h"
#include "cli/outputs.h"
#include "ctf/reader.h"
#include "heap/recording.h"
#include "process/attach_check.h"
#include "process/launch.h"
#include "process/program.h"
#include "source/alloc/preload.h"

enum {
	INTERVAL = 512 << 10,
	STACK_BYTES = 32 << 10,
	LIVE_MAX = 1 << 20,
	POLL_MS = 20, /* records are read at least this often */
};

enum {
	OPT_INTERVAL = 1024,
	OPT_ALLOCATOR,
	OPT_CALL_GRAPH,
	OPT_LIVE_MAX,
	OPT_DURATION,
	OPT_LINK,
	OPT_SAMPLER,
	OPT_MMAP,
};

struct record_options {
	struct alloc_recorder_config recorder;
	char **program; /* NULL: recorder.pid */
	struct launch_signals signals;
	bool preload; /* --sampler preload */
	char *output;
	uint64_t duration_ns; /* 0: until it ends */
};

/* The recorder as a source of a capture. */
struct record {
	struct record_options *options;
	char *command;
	struct output *output;
	struct alloc_recording *recording;
	int err; /* the error of the first drain that failed */
};

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0, "Record a process that runs, until it ends or Ctrl-C", 0},
	{"output", 'o', "FILE", 0, "Write to FILE (default: the program's name and .ctf)", 0},
	{"interval", OPT_INTERVAL, "SIZE", 0,
	 "Mean distance of samples in allocated bytes (default: 512k); 1: record every allocation", 1},
	{"call-graph", OPT_CALL_GRAPH, "dwarf[,SIZE]|fp", 0,
	 "How to find call stacks: from SIZE bytes of the stack (default: dwarf,32k), or by frame pointers",
	 1},
	{"allocator", OPT_ALLOCATOR, "NAME|LIBRARY", 0,
	 "Which allocator to probe: jemalloc, tcmalloc, mimalloc, or a file (default: the one that the "
	 "program calls)",
	 1},
	{"sampler", OPT_SAMPLER, "auto|uprobes|usdt|preload", 0,
	 "Who samples. uprobes: probes on every call of the allocator, about a microsecond each; usdt: the "
	 "allocator, if it has the USDT probes otel_memory:alloc and otel_memory:free; preload: a "
	 "preloaded library that has them, at nanoseconds (default: auto: usdt where that library is "
	 "loaded, else uprobes)",
	 1},
	{"live-max", OPT_LIVE_MAX, "N", 0,
	 "Follow at most N live sampled allocations to their end (default: 1048576)", 1},
	{"mmap", OPT_MMAP, NULL, 0,
	 "Also record memory that the program maps for itself (mmap, mremap: arenas)", 1},
	{"duration", OPT_DURATION, "TIME", 0, "Stop after this time: 10s", 1},
	{"attach-via", OPT_LINK, "auto|uprobe_session|uprobe_multi|perf_uprobe", 0,
	 "How probes are attached (default: auto)", 2},
	{0},
};

/* ---- options ---- */

static int parse_call_graph(const char *text, uint32_t *ret_stack_bytes)
{
	size_t bytes = STACK_BYTES;
	int err = 0;

	if (!strcmp(text, "fp")) {
		*ret_stack_bytes = 0;
		return 0;
	}
	if (!strncmp(text, "dwarf,", 6))
		err = parse_size(text + 6, &bytes);
	else if (strcmp(text, "dwarf"))
		return fail(-EINVAL, "--call-graph: '%s' is none of dwarf, dwarf,SIZE, fp", text);
	if (err || !bytes || bytes > ALLOC_STACK_MAX || bytes % ALLOC_STACK_STEP)
		return fail(-EINVAL,
			    "--call-graph: give a stack size that is a multiple of %d bytes, up to %dk",
			    ALLOC_STACK_STEP, ALLOC_STACK_MAX >> 10);
	*ret_stack_bytes = (uint32_t)bytes;
	return 0;
}

static int parse_link(const char *text, enum alloc_link *ret_link)
{
	static const char *const names[] = {"auto", "uprobe_session", "uprobe_multi", "perf_uprobe"};
	int choice = 0, err = parse_choice("--attach-via", text, names, ARRAY_SIZE(names), &choice);

	if (!err)
		*ret_link = (enum alloc_link)choice;
	return err;
}

static int parse_sampler(const char *text, struct record_options *options)
{
	static const char *const names[] = {"auto", "uprobes", "usdt", "preload"};
	static const enum alloc_sampler samplers[] = {ALLOC_SAMPLER_AUTO, ALLOC_SAMPLER_UPROBES,
						      ALLOC_SAMPLER_USDT, ALLOC_SAMPLER_USDT};
	int choice = 0, err = parse_choice("--sampler", text, names, ARRAY_SIZE(names), &choice);

	options->recorder.sampler = samplers[choice];
	options->preload = !strcmp(names[choice], "preload");
	return err;
}

static int parse_live_max(const char *text, uint32_t *ret_max)
{
	uint64_t max;
	int err = parse_count("--live-max", text, &max);

	if (!err && (!max || max > 1 << 28))
		err = fail(-EINVAL, "--live-max: give a number from 1 to %d", 1 << 28);
	if (!err)
		*ret_max = (uint32_t)max;
	return err;
}

static int parse_option(struct record_options *options, int key, char *arg)
{
	struct alloc_recorder_config *recorder = &options->recorder;

	switch (key) {
	case 'p':
		return parse_pid(arg, &recorder->pid);
	case 'o':
		options->output = arg;
		return 0;
	case OPT_INTERVAL:
		return parse_alloc_interval("--interval", arg, &recorder->interval_bytes);
	case OPT_CALL_GRAPH:
		return parse_call_graph(arg, &recorder->stack_bytes);
	case OPT_SAMPLER:
		return parse_sampler(arg, options);
	case OPT_LIVE_MAX:
		return parse_live_max(arg, &recorder->live_max);
	case OPT_LINK:
		return parse_link(arg, &recorder->link);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct option_field fields[] = {
	OPTION_FIELD(OPT_ALLOCATOR, struct record_options, recorder.allocator),
	OPTION_FIELD(OPT_MMAP, struct record_options, recorder.mappings),
	OPTION_TIME(OPT_DURATION, struct record_options, duration_ns),
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_options *options = state->input;
	int err;

	switch (key) {
	case ARGP_KEY_ARG:
		/* The first word that is no option is the program; all that follows is its own. */
		options->program = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!options->program == !options->recorder.pid)
			argp_error(state, "give either a program to run, behind --, or -p PID");
		if (options->preload && options->recorder.pid)
			argp_error(state,
				   "--sampler preload needs a program to run: trailcam cannot preload a "
				   "library into a running one");
		if (options->preload && options->recorder.allocator)
			argp_error(state,
				   "--sampler preload intercepts every allocator: leave out --allocator");
		return 0;
	default:
		err = parse_option(options, key, arg);
		if (err == ARGP_ERR_UNKNOWN)
			return option_fields_set(fields, options, key, arg, state);
		if (err)
			argp_error(state, "%s", fail_message(err));
		return 0;
	}
}

static const struct argp_child children[] = {{.argp = &talk_argp}, {0}};

static const struct argp argp = {
	.children = children,
	.options = table,
	.parser = parse,
	.args_doc = "-- PROGRAM [ARG...]\n-p PID",
	.doc = "  trailcam memtrace record -- ./server\n"
	       "  trailcam memtrace record --interval 64k -o parse.ctf -- ./parse big.xml\n"
	       "  trailcam memtrace record -p 4711 --duration 30s\n\n"
	       "Sample what a program allocates: where, how much, and until when it lives. The trace is one "
	       "of memtrace, for the other commands of 'trailcam memtrace' and for OCaml's viewer.\v"
	       "The exit status is PROGRAM's own; 125: trailcam itself failed, and PROGRAM did not; 126: "
	       "PROGRAM cannot be executed; 127: it was not found. With -p: 0: a trace was written; 1: none "
	       "was.",
};

/* ---- recording ---- */

static int open_record(void **ret_self, const struct source_config *config)
{
	*ret_self = config->own;
	return 0;
}

static int add_target(void *self, pid_t pid, bool at_exec)
{
	struct alloc_recorder_config *recorder = &((struct record *)self)->options->recorder;

	recorder->pid = pid;
	recorder->is_running = !at_exec;
	return 0;
}

static int start(void *self)
{
	struct record *record = self;

	return alloc_recording_new(&record->recording, &record->options->recorder, record->command,
				   record->output);
}

/* Much may be pending; the end of the recording must not wait for all of it. */
static int drain(void *self)
{
	enum { TURNS = 16 };
	struct record *record = self;
	int cnt = record->err ? 0 : 1;

	for (int i = 0; i < TURNS && cnt > 0; i++)
		cnt = alloc_recording_take(record->recording);
	record->err = cnt < 0 ? cnt : record->err;
	return 0;
}

static int drain_ms(void *self)
{
	(void)self;
	return POLL_MS;
}

static int drain_fd(void *self)
{
	return alloc_recording_fd(((struct record *)self)->recording);
}

static bool is_over(void *self)
{
	return ((struct record *)self)->err;
}

static int finish_trace(void *self, struct snapshot *snapshot)
{
	struct record *record = self;

	(void)snapshot;
	progress_end();
	return record->err ? record->err : alloc_recording_finish(record->recording);
}

static const struct source source_record = {
	.name = "memtrace",
	.can = SOURCE_IS_BESIDE,
	.open = open_record,
	.add = add_target,
	.start = start,
	.drain = drain,
	.drain_ms = drain_ms,
	.fd = drain_fd,
	.is_over = is_over,
	.describe = finish_trace,
};

static void tell_progress(void *ctx, const struct capture_progress *progress)
{
	const struct record *record = ctx;
	char samples[PROGRESS_NUMBER_BYTES];

	(void)progress;
	if (progress_is_due())
		progress_tell("%s samples, %.0f s; Ctrl-C ends it",
			      progress_number(alloc_recording_counts(record->recording).allocs, samples),
			      progress_seconds());
}

static void say_counts(const struct record_options *options, const struct alloc_recording *recording)
{
	struct alloc_recording_counts counts = alloc_recording_counts(recording);

	if (counts.recorder.is_estimated)
		log_say("%llu samples stand for %llu bytes; %llu of them are in %s, %llu with their end",
			(unsigned long long)counts.recorder.calls, (unsigned long long)counts.recorder.bytes,
			(unsigned long long)counts.allocs, options->output, (unsigned long long)counts.ends);
	else
		log_say("the program made %llu allocations of %llu bytes; %llu of them are in %s, %llu "
			"with their end",
			(unsigned long long)counts.recorder.calls, (unsigned long long)counts.recorder.bytes,
			(unsigned long long)counts.allocs, options->output, (unsigned long long)counts.ends);
	if (counts.recorder.lost)
		log_say("%llu records were lost: they came faster than trailcam writes them; the trace "
			"shows their samples as [lost records]; use a larger --interval, or --call-graph fp",
			(unsigned long long)counts.recorder.lost);
	if (counts.recorder.forgotten)
		log_say("the ends of %llu sampled allocations are missing: more were alive than --live-max "
			"allows",
			(unsigned long long)counts.recorder.forgotten);
}

static int choose_output(struct record_options *options, const char *program)
{
	if (options->output)
		return output_check_input(options->output, program, "run");
	if (asprintf(&options->output, "%s.ctf", path_name(program)) < 0)
		return -ENOMEM;
	return outputs_check_default(options->output, memtrace_reader_is(options->output));
}

static void record_release(struct record *record)
{
	alloc_recording_free(record->recording);
	if (record->output)
		output_abort(record->output);
	free(record->command);
}

/* Opens the trace, sets the probes, and records until the target ends or the user stops it. */
static int record_targets(struct record *record, const struct capture_config *config, const char *program,
			  struct capture **ret_capture, bool *ret_exec_failed)
{
	struct record_options *options = record->options;
	struct capture_config capture_config = *config;
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	enum capture_end end;
	int err = choose_output(options, program);

	capture_config.source = "none";
	capture_config.own_source = &source_record;
	capture_config.own = record;
	capture_config.untraced = true;
	capture_config.duration_ns = options->duration_ns;
	if (progress_is_shown()) {
		capture_config.progress = tell_progress;
		capture_config.progress_ctx = record;
	}
	if (!err)
		err = output_open(&record->output, options->output);
	if (!err)
		err = capture_new(ret_capture, &capture_config);
	if (err)
		return err;
	log_debug("attached");
	err = capture_run(*ret_capture, &snapshot, &end, ret_exec_failed);
	if (!err)
		err = output_close(TAKE_PTR(record->output));
	if (!err)
		say_counts(options, record->recording);
	return err;
}

static int attach(struct record_options *options)
{
	CLEANUP(record_release) struct record record = {.options = options};
	CLEANUP(capture_freep) struct capture *capture = NULL;
	const pid_t pid = options->recorder.pid;
	const struct capture_config config = {.pids = &pid, .pid_cnt = 1};
	char exe[64], path[4096] = "";
	bool exec_failed;
	int err = attach_check(pid);

	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	options->recorder.exe = exe;
	if (!err)
		err = command_line_of_pids(&pid, 1, &record.command);
	if (!err && readlink(exe, path, sizeof(path) - 1) < 0)
		err = fail_errno(-errno, "cannot read %s", exe);
	return err ? err : record_targets(&record, &config, path, &capture, &exec_failed);
}

/* ---- a program ---- */

/* The preloaded library samples at the interval of the recording. */
static int preload(struct record_options *options, char **ret_library)
{
	int err = options->preload ? alloc_preload(options->recorder.exe, options->recorder.interval_bytes,
						   ret_library)
				   : 0;

	if (!err && options->preload)
		options->recorder.allocator = *ret_library;
	return err ? fail_prefix(err, "--sampler preload") : 0;
}

static int run_program(struct record_options *options, const char *path)
{
	CLEANUP(record_release) struct record record = {.options = options};
	CLEANUP(capture_freep) struct capture *capture = NULL;
	CLEANUP(freep) char *library = NULL;
	const struct capture_config config = {.path = path,
					      .binary = options->recorder.exe,
					      .argv = options->program,
					      .signals = &options->signals};
	bool exec_failed = false;
	int wait_status, err = preload(options, &library);

	if (!err)
		err = command_line_of_argv(options->program, &record.command);
	if (!err)
		err = record_targets(&record, &config, path, &capture, &exec_failed);
	if (err)
		print_failure(err, exec_failed ? front_exec_status(err) : STATUS_RUN_FAILED);
	if (exec_failed)
		return front_exec_status(err);
	wait_status = capture ? capture_wait(capture) : 0;
	return err && !wait_status ? STATUS_RUN_FAILED : end_as(wait_status);
}

static int run(struct record_options *options)
{
	CLEANUP(freep) char *path = NULL, *binary = NULL;
	int status = front_find_program(options->program[0], &path, &binary);

	options->recorder.exe = binary;
	return status ? status : run_program(options, path);
}

int memtrace_record(int argc, char **argv)
{
	struct record_options options = {
		.recorder = {.interval_bytes = INTERVAL, .stack_bytes = STACK_BYTES, .live_max = LIVE_MAX},
	};
	int err;

	launch_note_signals(&options.signals);
	interrupt_end_early();
	argp_err_exit_status = STATUS_RUN_FAILED;
	options_parse(&argp, argc, argv, ARGP_IN_ORDER, &options);
	if (options.program)
		return run(&options);
	err = attach(&options);
	return err ? print_failure(err, STATUS_FAILED) : STATUS_OK;
}
