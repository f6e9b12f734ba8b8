/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run: captures and decodes. The program has the terminal, its exit status becomes ours, and a signal that
 * kills it kills us. Our messages go to stderr.
 */
#include "cli/cli.h"

#include "capture/interrupt.h"
#include "cli/capture/capture_options.h"
#include "cli/front.h"
#include "process/launch.h"

struct run_options {
	struct capture_options options;
	char **program;
	struct launch_signals signals;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_options *run = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &run->options;
		return 0;
	case ARGP_KEY_ARG:
		/* The first word that is not an option is the program; all that follows belongs to it. */
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

static const struct argp_child children[] = {{.argp = &capture_argp}, {0}};

static const struct argp argp = {
	.children = children,
	.parser = parse,
	.args_doc = "[--] PROGRAM [ARG...]",
	.doc = "  trailcam run -t main -- ls\n"
	       "  trailcam run -t libc.so.6:malloc -o malloc.fxt.gz -- ls\n"
	       "  trailcam run --step-from main -t libc.so.6:write -- ls\n\n"
	       "Run PROGRAM, wait for the first call of the trigger's function, and write what led up to it: "
	       "every function call, by Intel PT where there is one, else by translating PROGRAM, which then "
	       "runs some 1.2 to 8 times slower (--source). Without a hit the trace shows what came before "
	       "the program's end, or before Ctrl-C.\v"
	       "The exit status is PROGRAM's own. 125: trailcam itself failed, and PROGRAM did not; 126: "
	       "PROGRAM cannot be executed; 127: it was not found. A signal that comes before the recording "
	       "begins ends trailcam, and PROGRAM does not run. After PROGRAM's end another one, a second "
	       "later, ends trailcam while the trace is written.",
};

static int run_program(void *ctx)
{
	CLEANUP(capture_freep) struct capture *capture = NULL;
	bool exec_failed;
	int err = capture_and_write(ctx, "the program", &capture, &exec_failed), status;

	if (err < 0)
		print_failure(err, STATUS_RUN_FAILED);
	if (exec_failed)
		return front_exec_status(err);
	status = capture ? capture_wait(capture) : 0;
	return (err < 0 || !capture) && !status ? STATUS_RUN_FAILED : end_as(status);
}

int cmd_run(int argc, char **argv)
{
	struct run_options run = {.options = CAPTURE_OPTIONS_DEFAULT};
	struct capture_config *capture = &run.options.capture;
	CLEANUP(freep) char *path = NULL, *binary = NULL;
	int status, err;

	launch_note_signals(&run.signals);
	interrupt_end_early();
	capture->signals = &run.signals;
	argp_err_exit_status = STATUS_RUN_FAILED;
	options_parse(&argp, argc, argv, ARGP_IN_ORDER, &run);
	capture->argv = run.program;
	status = front_find_program(run.program[0], &path, &binary);
	if (status)
		return status;
	capture->path = path;
	capture->binary = binary;
	err = capture_options_check(&run.options);
	if (!err)
		err = capture_options_pick(&run.options);
	if (err)
		return print_failure(err, STATUS_RUN_FAILED);
	return front_run(run_program, &run.options);
}
