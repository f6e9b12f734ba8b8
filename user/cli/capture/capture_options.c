/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks values early, so that a mistake is found before any target is touched. */
#include "cli/capture/capture_options.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/array.h"
#include "base/error.h"
#include "base/progress.h"
#include "cli/capture/pick.h"
#include "cli/cli.h"
#include "output/bytes/output.h"
#include "recording/recording.h"
#include "source/pt/pt_caps.h"
#include "source/samples/events.h"

enum { RING_SIZE_MIN = 4096, RING_SIZE_MAX = 1 << 30, FREQUENCY_MAX = 50000 };

/* The default of --memtrace. */
#define ALLOC_INTERVAL "64k"

enum {
	OPT_SOURCE = 256,
	OPT_TIMER_RESOLUTION,
	OPT_FILTER,
	OPT_KERNEL,
	OPT_PER_THREAD,
	OPT_CPU_WIDE,
	OPT_FULL,
	OPT_SNAPSHOT_SIZE,
	OPT_KEEP,
	OPT_JSON,
	OPT_MAX_SIZE,
	OPT_FOLLOW_FORKS,
	OPT_DURATION,
	OPT_MAX_STALL,
	OPT_STEP_LOG,
	OPT_STEP_OVERFLOW,
	OPT_LINK,
	OPT_MEMTRACE,
	OPT_FREQUENCY,
	OPT_LAST,
	OPT_SYSCALLS,
	OPT_INTERRUPTS,
	OPT_EVENTS,
};

static const struct argp_option table[] = {
	{"keep-recording", OPT_KEEP, "DIR", 0, "Keep what was recorded, for trailcam decode and perf script",
	 22},
	{"json", OPT_JSON, "FILE", 0,
	 "Write how the recording ended, and what was written, to FILE, as JSON (\"-\": standard output)",
	 22},
	{"snapshot-size", OPT_SNAPSHOT_SIZE, "SIZE", 0,
	 "Bytes kept of the trace, a power of two: for each thread (intel_pt: each processor; samples: of "
	 "all together); default: 4M, translate 16M, samples 64M, or what this user may lock in memory",
	 23},
	{"max-size", OPT_MAX_SIZE, "SIZE", 0,
	 "With --multi-snapshot and --full-execution: end the recording at SIZE of trace (default: 1G, or "
	 "the free disk space)",
	 22},
	{"memtrace", OPT_MEMTRACE, "INTERVAL", OPTION_ARG_OPTIONAL,
	 "Also sample allocations, one for each INTERVAL bytes (default: 64k; 1: every allocation), and "
	 "show where they were made and freed",
	 22},
	{"source", OPT_SOURCE, "auto|intel_pt|samples|translate|step|none", 0,
	 "Where calls come from: Intel PT, stacks sampled by the clock, a translated program (every call, "
	 "1.2 to 8 times slower), single-stepping (every call, some 50,000 times slower), or none, for "
	 "hits only (default: auto, the first that works here)",
	 24},
	{"frequency", OPT_FREQUENCY, "HZ", 0,
	 "samples: stacks of each running thread a second (default: 1000)", 24},
	{"last", OPT_LAST, "TIME", 0,
	 "samples: keep about this much of the past, with eight threads that are always busy (default: 10s)",
	 24},
	{"syscalls", OPT_SYSCALLS, NULL, 0,
	 "samples: also record each system call; this slows the system calls of every process a little", 24},
	{"interrupts", OPT_INTERRUPTS, NULL, 0,
	 "samples: also record each interrupt that takes time of a target's thread", 24},
	{"events", OPT_EVENTS, "EVENT[,EVENT...]", 0,
	 "samples: count these, too, on the thread that made them: page-faults, context-switches, "
	 "branch-misses, ...",
	 24},
	{"timer-resolution", OPT_TIMER_RESOLUTION, "low|normal|high|custom:...", 0,
	 "intel_pt: how exactly branches are timed (default: normal); translate: high times each call and "
	 "return",
	 24},
	{"filter", OPT_FILTER, "FUNCTION", 0,
	 "intel_pt: trace only FUNCTION's own code; may be given as often as the processor has address "
	 "ranges",
	 24},
	{"full-execution", OPT_FULL, NULL, 0,
	 "intel_pt: keep the whole trace, up to --max-size, not only its last part", 24},
	{"kernel", OPT_KERNEL, "only", OPTION_ARG_OPTIONAL,
	 "intel_pt: trace the kernel, too, or only it; needs CAP_PERFMON and CAP_SYSLOG, or root", 24},
	{"per-thread", OPT_PER_THREAD, NULL, 0, "intel_pt: a ring for each thread, not for each processor",
	 24},
	{"cpu-wide", OPT_CPU_WIDE, NULL, 0, "intel_pt: trace everything that runs on every processor", 24},
	{"follow-forks", OPT_FOLLOW_FORKS, NULL, 0,
	 "Also trace forked children, and the programs that they execute", 24},
	{"duration", OPT_DURATION, "TIME", 0, "End the recording after TIME: 10s", 22},
	{"max-stall", OPT_MAX_STALL, "TIME|none", 0,
	 "step: end the recording when the targets have been held or stepped for TIME in total (default: "
	 "200ms with attach, none with run)",
	 25},
	{"step-log", OPT_STEP_LOG, "FILE", 0, "step: write each instruction's thread and address to FILE",
	 26},
	{"step-overflow", OPT_STEP_OVERFLOW, "N", 0,
	 "step: lose packets every N instructions, as an overflowing processor does", 27},
	{"attach-via", OPT_LINK, "auto|uprobe_multi|perf_uprobe", 0,
	 "How probes are attached (default: auto)", 28},
	{0},
};

static int parse_source(const char *text, const char **ret_source)
{
	const char *names[16];
	size_t cnt = 0;
	int choice = 0, err;

	while (cnt < ARRAY_SIZE(names) && (names[cnt] = capture_source_name(cnt)))
		cnt++;
	err = parse_choice("--source", text, names, cnt, &choice);
	if (!err)
		*ret_source = choice ? names[choice] : NULL;
	return err;
}

static int parse_link(const char *text, enum trigger_link *ret_link)
{
	static const char *const names[] = {"auto", "uprobe_multi", "perf_uprobe"};
	int choice = 0, err = parse_choice("--attach-via", text, names, ARRAY_SIZE(names), &choice);

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

static int parse_frequency(const char *text, uint32_t *ret_frequency)
{
	uint64_t frequency;
	int err = parse_count("--frequency", text, &frequency);

	if (err)
		return err;
	if (!frequency || frequency > FREQUENCY_MAX)
		return fail(-EINVAL, "--frequency: '%s' is not from 1 to %d samples a second", text,
			    FREQUENCY_MAX);
	*ret_frequency = (uint32_t)frequency;
	return 0;
}

static int add_filter(struct capture_options *options, const char *spec)
{
	struct capture_config *capture = &options->capture;

	if (capture->options.filter_cnt == ARRAY_SIZE(options->filters))
		return fail(-EINVAL, "--filter: no processor has more than %zu address ranges",
			    ARRAY_SIZE(options->filters));
	options->filters[capture->options.filter_cnt++] = spec;
	capture->options.filters = options->filters;
	return 0;
}

static int parse_kernel(struct capture_options *options, const char *text)
{
	if (text && strcmp(text, "only"))
		return fail(-EINVAL, "--kernel: '%s' is not 'only'; --kernel alone adds the kernel", text);
	options->capture.options.scope = text ? PT_KERNEL : PT_BOTH;
	return 0;
}

static int parse_value(struct capture_options *options, int key, char *arg)
{
	switch (key) {
	case OPT_SNAPSHOT_SIZE:
		return parse_ring_size(arg, &options->capture.options.ring_size);
	case OPT_MAX_SIZE:
		return parse_size(arg, &options->capture.max_bytes);
	case OPT_SOURCE:
		return parse_source(arg, &options->capture.source);
	case OPT_TIMER_RESOLUTION:
		return pt_timing_parse(&options->capture.options.timing, arg);
	case OPT_FILTER:
		return add_filter(options, arg);
	case OPT_KERNEL:
		return parse_kernel(options, arg);
	case OPT_LINK:
		return parse_link(arg, &options->capture.options.link);
	case OPT_MEMTRACE:
		return parse_alloc_interval("--memtrace", arg ? arg : ALLOC_INTERVAL,
					    &options->capture.options.alloc_interval);
	case OPT_FREQUENCY:
		return parse_frequency(arg, &options->capture.options.frequency);
	case OPT_EVENTS:
		options->capture.options.events = arg;
		return samples_events_parse(arg, &(struct samples_events){0});
	case OPT_MAX_STALL:
		options->capture.max_stall_ns = 0;
		options->capture.asks_stall = true;
		return strcmp(arg, "none")
			       ? parse_duration("--max-stall", arg, &options->capture.max_stall_ns)
			       : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct option_field fields[] = {
	OPTION_FIELD(OPT_KEEP, struct capture_options, recording),
	OPTION_FIELD(OPT_JSON, struct capture_options, result),
	OPTION_FIELD(OPT_FOLLOW_FORKS, struct capture_options, capture.options.follow_forks),
	OPTION_FIELD(OPT_PER_THREAD, struct capture_options, capture.options.per_thread),
	OPTION_FIELD(OPT_CPU_WIDE, struct capture_options, capture.options.cpu_wide),
	OPTION_FIELD(OPT_FULL, struct capture_options, capture.options.full),
	OPTION_FIELD(OPT_SYSCALLS, struct capture_options, capture.options.syscalls),
	OPTION_FIELD(OPT_INTERRUPTS, struct capture_options, capture.options.interrupts),
	OPTION_FIELD(OPT_STEP_LOG, struct capture_options, capture.options.step_log),
	OPTION_FIELD(OPT_STEP_OVERFLOW, struct capture_options, capture.options.step_overflow),
	OPTION_TIME(OPT_LAST, struct capture_options, capture.options.last_ns),
	OPTION_TIME(OPT_DURATION, struct capture_options, capture.duration_ns),
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct capture_options *options = state->input;
	int err;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->trigger;
		state->child_inputs[1] = &options->outputs;
		return 0;
	case ARGP_KEY_SUCCESS:
		options->capture.triggers = options->trigger.requests;
		options->capture.trigger_cnt = options->trigger.cnt;
		options->capture.until = options->trigger.until;
		options->capture.start = options->trigger.start;
		return 0;
	default:
		err = parse_value(options, key, arg);
		if (err == ARGP_ERR_UNKNOWN)
			return option_fields_set(fields, options, key, arg, state);
		if (err)
			argp_error(state, "%s", fail_message(err));
		return 0;
	}
}

static const struct argp_child children[] = {
	{.argp = &trigger_argp}, {.argp = &outputs_argp}, {.argp = &talk_argp}, {0}};

const struct argp capture_argp = {.options = table, .parser = parse, .children = children};

/* Picked triggers, freed at the end. */
int capture_options_pick(struct capture_options *options)
{
	const struct capture_config *capture = &options->capture;
	char exe[64];
	int err = 0;

	if (!capture->path)
		snprintf(exe, sizeof(exe), "/proc/%d/exe", capture->pids[0]);
	for (size_t i = 0; i < options->trigger.cnt && !err; i++) {
		struct trigger_request *request = &options->trigger.requests[i];
		char *spec;

		if (!pick_is_wanted(request->spec))
			continue;
		err = pick_trigger(request->spec, capture->path ? capture->binary : exe, &spec);
		if (!err)
			request->spec = spec;
	}
	return err;
}

/*
 * A trace is a few times smaller than its packets. If the packets would not fit, the trace might not either.
 */
static void limit_to_disk(struct capture_options *options, const char *dir)
{
	struct statvfs fs;
	uint64_t room;

	if (statvfs(dir, &fs))
		return;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room < options->capture.max_bytes)
		options->capture.max_bytes = room;
}

/* The program and the targets' executables. */
static int check_programs(const struct capture_config *capture, const char *path)
{
	char exe[32];
	int err = capture->path ? output_check_input(path, capture->path, "run") : 0;

	for (size_t i = 0; i < capture->pid_cnt && !err; i++) {
		snprintf(exe, sizeof(exe), "/proc/%d/exe", capture->pids[i]);
		err = output_check_input(path, exe, "run");
	}
	return err;
}

static int check_path(struct capture_options *options, const char *path)
{
	CLEANUP(freep) char *copy = strdup(path);
	int err = copy ? output_check(path) : -ENOMEM;

	if (!err)
		err = check_programs(&options->capture, path);
	if (!err)
		limit_to_disk(options, dirname(copy));
	return err;
}

static void tell_progress(void *ctx, const struct capture_progress *progress)
{
	const struct capture_options *options = ctx;
	char steps[PROGRESS_NUMBER_BYTES], hits[PROGRESS_NUMBER_BYTES];
	bool any =
		options->trigger.cnt || options->trigger.until.signals || options->trigger.until.any_status;

	if (!progress_is_due())
		return;
	progress_number(progress->instructions, steps);
	progress_number(progress->hits, hits);
	progress_tell("%s%s%.0f s%s%s%s", progress->instructions ? steps : "",
		      progress->instructions ? " instructions, " : "", (double)progress->elapsed_ns / 1e9,
		      progress->waits_for_start ? "; start point not reached"
		      : progress->hits		? "; hits: "
		      : any			? "; hit not reached"
						: "",
		      progress->hits && !progress->waits_for_start ? hits : "",
		      options->capture.path ? "" : "; Ctrl-C ends it");
}

static bool records_hits_only(const struct capture_config *capture)
{
	return capture->source && !strcmp(capture->source, "none");
}

int capture_options_check(struct capture_options *options)
{
	const struct capture_config *capture = &options->capture;
	int err = outputs_check(&options->outputs);

	if (progress_is_shown()) {
		options->capture.progress = tell_progress;
		options->capture.progress_ctx = options;
	}

	if (!err && records_hits_only(capture) && !capture->trigger_cnt && !capture->until.signals &&
	    !capture->until.any_status && !capture->options.alloc_interval)
		err = fail(-EINVAL, "--source none records only hits: name a trigger with -t, --on-signal or "
				    "--on-exit");
	for (size_t i = 0; i < options->outputs.cnt && !err; i++)
		err = check_path(options, options->outputs.paths[i]);
	if (!err && options->result)
		err = check_path(options, options->result);
	if (!err && options->capture.options.step_log)
		err = check_path(options, options->capture.options.step_log);
	if (!err && options->recording)
		err = recording_check_target(options->recording);
	return err;
}
