/* SPDX-License-Identifier: BSD-2-Clause */
/* From the snapshot to the trace, with a line that says how the recording ended. */
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "capture/interrupt.h"
#include "cli/capture/capture_options.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "output/bytes/output.h"
#include "rebuild/code_files.h"
#include "recording/recording.h"
#include "timeline/parts.h"

/*
 * Whether the user asked for what leads up to a crash, and there was none: then no trace is written, so that
 * an earlier crash's trace is kept.
 */
static bool is_unwanted(const struct capture_options *options, enum capture_end end)
{
	const struct capture_until *until = &options->capture.until;

	return end == CAPTURE_EXITED && !options->capture.trigger_cnt &&
	       (until->signals || until->any_status);
}

/* A pattern does not say which of its functions it was. */
static void say_hits(const struct capture *capture, const struct snapshot *snapshot)
{
	const struct hit *last = snapshot->hits->hits[snapshot->hits->cnt - 1];
	const char *trigger = snapshot->triggers[last->trigger],
		   *function = capture_hit_function(capture, last);
	char of[512] = "";

	if (function)
		snprintf(of, sizeof(of), " ('%s')", trigger);
	if (snapshot->hits->cnt == 1)
		log_say("hit %s%s", function ? function : trigger, of);
	else
		log_say("%zu hits, the last of %s%s", snapshot->hits->cnt, function ? function : trigger, of);
}

static void say_exit(const struct capture_options *options, const char *hits, const char *targets,
		     int wait_status)
{
	const char *comma = options->capture.trigger_cnt ? ", " : "";
	const char *how = WIFSIGNALED(wait_status) ? "signal" : "exit status";
	int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);

	if (options->capture.source && !strcmp(options->capture.source, "none"))
		log_say("%s%s%s ended (%s %d)", hits, comma, targets, how, number);
	else
		log_say("%s%s%s ended (%s %d): the trace shows its end", hits, comma, targets, how, number);
}

/* To stop many threads, and to let them go, may take most of the time. */
static void say_stall(const struct capture_options *options, struct capture_stall stall, const char *hits)
{
	double held_ms = (double)stall.held_ns / 1e6, max_ms = (double)options->capture.max_stall_ns / 1e6;
	bool are_many = options->capture.pid_cnt > 1;
	const char *were = options->capture.path ? "program was"
			   : are_many		 ? "targets were"
						 : "target was",
		   *run = are_many ? "they run" : "it runs", *comma = hits[0] ? ", " : "";

	if (stall.is_cut)
		log_say("the %s held for %.4g ms (--max-stall: %.4g ms), too short a time to stop %zu "
			"threads and to let them go%s%s: nothing was traced, and %s on at full speed",
			were, held_ms, max_ms, stall.thread_cnt, comma, hits, run);
	else
		log_say("the %s held for %.4g ms (--max-stall: %.4g ms)%s%s: the trace ends here, and %s on "
			"at full speed",
			were, held_ms, max_ms, comma, hits, run);
}

/* wait_status: that of the end of the targets, if that ended the recording. */
static void say_end(const struct capture_options *options, const struct capture *capture,
		    const struct snapshot *snapshot, enum capture_end end, const char *targets,
		    int wait_status)
{
	char hits[48] = "";

	if (options->capture.trigger_cnt)
		snprintf(hits, sizeof(hits), snapshot->hits->cnt ? "only %zu hits" : "no hit",
			 snapshot->hits->cnt);
	progress_end();
	switch (end) {
	case CAPTURE_HIT:
		say_hits(capture, snapshot);
		break;
	case CAPTURE_INTERRUPTED:
		log_say("interrupted%s%s: the trace ends here", options->capture.trigger_cnt ? ", " : "",
			hits);
		break;
	case CAPTURE_TIMED_OUT:
		log_say("the time is up (--duration)%s%s: the trace ends here", hits[0] ? ", " : "", hits);
		break;
	case CAPTURE_STALLED:
		say_stall(options, capture_stall(capture), hits);
		break;
	case CAPTURE_CRAMPED:
		log_say("%s may soon need the memory that recording takes, since its cgroup limits it%s%s: "
			"the trace ends here, and it runs on at full speed",
			targets, hits[0] ? ", " : "", hits);
		break;
	case CAPTURE_EXITED:
		say_exit(options, hits, targets, wait_status);
		break;
	}
}

static void print_files(const struct outputs *outputs, const struct timeline *timeline, yajl_gen gen)
{
	size_t cnt = outputs->split ? timeline_part_cnt(timeline) : 0;

	json_text(gen, "files");
	yajl_gen_array_open(gen);
	for (size_t i = 0; i < outputs->cnt; i++) {
		if (!outputs->split)
			json_text(gen, outputs->paths[i]);
		for (size_t nth = 0; nth < cnt; nth++) {
			CLEANUP(freep) char *path = output_part_path(outputs, i, nth, cnt);

			json_text(gen, path);
		}
	}
	yajl_gen_array_close(gen);
}

static void print_result(const struct capture_options *options, const struct snapshot *snapshot,
			 const struct capture *capture, enum capture_end end, const struct decoded *decoded,
			 yajl_gen gen)
{
	static const char *const ends[] = {[CAPTURE_HIT] = "hit",
					   [CAPTURE_EXITED] = "exited",
					   [CAPTURE_INTERRUPTED] = "interrupted",
					   [CAPTURE_TIMED_OUT] = "duration",
					   [CAPTURE_STALLED] = "stall",
					   [CAPTURE_CRAMPED] = "memory"};
	const struct timeline *timeline = decoded_timeline(decoded);

	yajl_gen_map_open(gen);
	json_key_text(gen, "end", ends[end]);
	json_key_text(gen, "command", snapshot->command);
	json_key_text(gen, "source", snapshot->source);
	json_key_number(gen, "hits", snapshot->hits->cnt);
	if (snapshot->hits->cnt)
		json_key_text(gen, "trigger",
			      snapshot->triggers[snapshot->hits->hits[snapshot->hits->cnt - 1]->trigger]);
	json_key_number(gen, "snapshots", capture_snapshot_cnt(capture));
	json_key_number(gen, "threads", timeline->thread_cnt);
	json_key_number(gen, "calls", decoded_slice_cnt(decoded));
	json_key_number(gen, "gaps", decoded_gap_cnt(decoded));
	if (options->recording)
		json_key_text(gen, "recording", options->recording);
	print_files(&options->outputs, timeline, gen);
	yajl_gen_map_close(gen);
}

static void print_to_output(void *ctx, const char *text, size_t len)
{
	output_write(ctx, text, len);
}

static int write_result(const struct capture_options *options, const struct snapshot *snapshot,
			const struct capture *capture, enum capture_end end, const struct decoded *decoded)
{
	CLEANUP(output_abortp) struct output *output = NULL;
	CLEANUP(yajl_gen_freep) yajl_gen gen = yajl_gen_alloc(NULL);
	int err = gen ? output_open(&output, options->result) : -ENOMEM;

	if (!err) {
		yajl_gen_config(gen, yajl_gen_beautify, 1);
		yajl_gen_config(gen, yajl_gen_print_callback, print_to_output, output);
		print_result(options, snapshot, capture, end, decoded, gen);
		err = output_close(TAKE_PTR(output));
	}
	return err;
}

static int decode_and_write(const struct capture_options *options, struct snapshot *snapshot,
			    const struct capture *capture, enum capture_end end)
{
	struct decode_config config = {.source_lines = true, .stored = true, .progress = show_progress};
	CLEANUP(code_files_close) struct code_files copies = {0};
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err = code_files_open(&copies, snapshot);

	if (!err)
		err = decode_snapshot(&decoded, snapshot, &config);
	if (!err)
		err = outputs_write(&options->outputs, decoded);
	return err || !options->result ? err : write_result(options, snapshot, capture, end, decoded);
}

/* The trace is there still where there is no room for the recording. */
static int save_and_decode(const struct capture_options *options, struct snapshot *snapshot,
			   const struct capture *capture, enum capture_end end)
{
	struct first_failure failure = {0};
	struct capture_options done = *options;

	if (options->recording)
		first_failure_note(&failure, recording_save(snapshot, options->recording));
	done.recording = failure.err ? NULL : options->recording;
	first_failure_note(&failure, decode_and_write(&done, snapshot, capture, end));
	return first_failure_end(&failure);
}

/* The hit may have been there. */
static void say_others(const struct capture_options *options, const struct capture *capture)
{
	bool is_attached = !options->capture.path;
	pid_t parent = is_attached ? capture_parent_of_others(capture) : 0;

	if (parent)
		log_say("process %d has child processes that are not recorded: name them, too (-p, --comm or "
			"--cgroup); --follow-forks records those that it starts from then on",
			parent);
	else if (capture_has_others(capture))
		log_say("%s started other processes, which only --follow-forks records",
			is_attached ? "a target" : "the program");
}

int capture_and_write(const struct capture_options *options, const char *targets,
		      struct capture **ret_capture, bool *ret_exec_failed)
{
	CLEANUP(capture_freep) struct capture *capture = NULL;
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	enum capture_end end;
	int err = capture_new(&capture, &options->capture);

	*ret_exec_failed = false;
	if (!err) {
		if (!options->capture.path)
			log_debug("attached");
		err = capture_run(capture, &snapshot, &end, ret_exec_failed);
	}
	if (interrupt_orphaned())
		return err;
	interrupt_end_writing();
	*ret_capture = TAKE_PTR(capture);
	if (err)
		return err;
	if (is_unwanted(options, end)) {
		log_say("no hit: nothing is written");
		return 0;
	}
	say_end(options, *ret_capture, snapshot, end, targets,
		end == CAPTURE_EXITED ? capture_wait(*ret_capture) : 0);
	if (!snapshot->hits->cnt)
		say_others(options, *ret_capture);
	if (options->capture.until.multi_snapshot)
		log_say("%llu snapshots", (unsigned long long)capture_snapshot_cnt(*ret_capture));
	err = save_and_decode(options, snapshot, *ret_capture, end);
	return err ? err : 1;
}
