/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach: like run, for running processes. They are not our children: no signal is forwarded to them, and
 * their exit status is not ours.
 */
#include <string.h>

#include "base/error.h"
#include "capture/interrupt.h"
#include "capture/targets.h"
#include "cli/capture/capture_options.h"
#include "cli/capture/pick.h"
#include "cli/cli.h"
#include "cli/front.h"
#include "cli/process_list.h"

struct attach_options {
	struct capture_options options;
	struct targets targets;
};

/* --max-stall: hardly noticeable for people, and enough to step some 7,000 instructions. */
enum { MAX_STALL_NS = 200000000 };

enum { OPT_COMM = 1024, OPT_CGROUP, OPT_CONTAINER };

static const struct argp_option table[] = {
	{"pid", 'p', "PID[,PID...]", 0, "Attach to these processes; ? picks one at the terminal", 0},
	{"comm", OPT_COMM, "NAME", 0, "Attach to all processes of this name", 0},
	{"cgroup", OPT_CGROUP, "PATH", 0, "Attach to all processes of a control group", 0},
	{"container", OPT_CONTAINER, "ID", 0,
	 "Attach to all processes of a container; the beginning of its id will do", 0},
	{0},
};

static int add_pids(struct targets *targets, const char *text)
{
	CLEANUP(process_list_release) struct process_list list = {0};
	size_t choice;
	int err;

	if (strcmp(text, "?"))
		return targets_add_list(targets, text);
	err = process_list_read(&list);
	if (!err)
		err = pick("process", list.lines, list.cnt, &choice);
	if (err)
		return err;
	*strchr(list.lines[choice], ']') = 0;
	return targets_add_list(targets, list.lines[choice] + 1);
}

static int add_targets(struct targets *targets, int key, const char *arg)
{
	switch (key) {
	case OPT_COMM:
		return targets_add_named(targets, arg);
	case OPT_CGROUP:
		return targets_add_cgroup(targets, arg);
	case OPT_CONTAINER:
		return targets_add_container(targets, arg);
	default:
		return add_pids(targets, arg);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct attach_options *attach = state->input;
	int err;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &attach->options;
		return 0;
	case 'p':
	case OPT_COMM:
	case OPT_CGROUP:
	case OPT_CONTAINER:
	case ARGP_KEY_ARG:
		err = add_targets(&attach->targets, key, arg);
		if (key == OPT_COMM || key == OPT_CGROUP || key == OPT_CONTAINER)
			attach->options.capture.skip_ended = true;
		if (err == -EINVAL)
			argp_error(state, "%s", fail_message(err));
		else if (err)
			exit(print_failure(err, STATUS_FAILED));
		return 0;
	case ARGP_KEY_END:
		if (!attach->targets.cnt)
			argp_error(state, "no process to attach to: give -p PID, --comm NAME, --cgroup PATH, "
					  "--container ID, or ?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{.argp = &capture_argp}, {0}};

static const struct argp argp = {
	.children = children,
	.options = table,
	.parser = parse,
	.args_doc = "[PID[,PID...]|?]",
	.doc = "  trailcam attach -p 4711 -t handle_request\n"
	       "  trailcam attach --comm nginx --follow-forks -t ngx_http_process_request\n"
	       "  trailcam attach ?\n\n"
	       "Trace running processes, wait for the first call of the trigger's function, and write what "
	       "led up to it: every function call, by Intel PT where there is one, else call stacks, a "
	       "thousand a second, and what threads wait for (--source). Ctrl-C ends the recording where it "
	       "is. The processes run on afterwards.\v"
	       "Exit status: 0: a trace was written; 1: none was: a failure, or the crash that was waited "
	       "for did not come; 2: wrong usage. A signal that comes before the recording begins ends "
	       "trailcam, and so does another one, a second later, while the trace is written.",
};

static int attach_to(void *ctx)
{
	const struct capture_options *options = ctx;
	const char *targets = options->capture.pid_cnt > 1 ? "the last target" : "the target";
	CLEANUP(capture_freep) struct capture *capture = NULL;
	bool exec_failed;
	int err = capture_and_write(options, targets, &capture, &exec_failed);

	if (err < 0)
		return print_failure(err, STATUS_FAILED);
	return err ? STATUS_OK : STATUS_FAILED;
}

int cmd_attach(int argc, char **argv)
{
	struct attach_options attach = {.options = CAPTURE_OPTIONS_DEFAULT};
	int err, status;

	interrupt_end_early();
	attach.options.capture.max_stall_ns = MAX_STALL_NS;
	options_parse(&argp, argc, argv, 0, &attach);
	attach.options.capture.pids = attach.targets.pids;
	attach.options.capture.pid_cnt = attach.targets.cnt;
	err = capture_options_check(&attach.options);
	if (!err)
		err = capture_options_pick(&attach.options);
	status = err ? print_failure(err, STATUS_FAILED) : front_run(attach_to, &attach.options);
	targets_release(&attach.targets);
	return status;
}
