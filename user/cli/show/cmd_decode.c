/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/spill.h"
#include "cli/outputs.h"

struct decode_options {
	struct decode_config config;
	const char *recording;
	struct outputs outputs;
};

enum { OPT_THREADS = 256, OPT_SYMFS, OPT_NO_LINES, OPT_FROM, OPT_TO, OPT_INLINES, OPT_DECODER, OPT_MEMORY };

static const struct argp_option options[] = {
	{"threads", OPT_THREADS, "N", 0, "Decode on N threads (default: one for each processor)", 22},
	{"decoder", OPT_DECODER, "fast|reference", 0,
	 "\"fast\" (default): trailcam's own, with libipt for what it declines (-v says why); "
	 "\"reference\": libipt's block decoder",
	 22},
	{"symfs", OPT_SYMFS, "DIR", 0, "Look for the traced programs and libraries in DIR first", 22},
	{"no-lines", OPT_NO_LINES, NULL, 0, "Do not look up source files and lines", 22},
	{"inlines", OPT_INLINES, NULL, 0, "Also show inlined calls, from the debug information (slow)", 22},
	{"from", OPT_FROM, "FUNCTION", 0, "Keep only the time from calls of FUNCTION ...", 22},
	{"to", OPT_TO, "FUNCTION", 0, "... to the next call of this FUNCTION on the same thread", 22},
	{"memory", OPT_MEMORY, "SIZE", 0,
	 "Keep at most SIZE of a long timeline in memory (default: 256m), and the rest in a file in "
	 "$TMPDIR or /var/tmp",
	 22},
	{0},
};

static const struct option_field fields[] = {
	OPTION_FIELD(OPT_SYMFS, struct decode_options, config.symfs),
	OPTION_FIELD(OPT_INLINES, struct decode_options, config.inlines),
	OPTION_FIELD(OPT_FROM, struct decode_options, config.from),
	OPTION_FIELD(OPT_TO, struct decode_options, config.to),
	{0},
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = true;
}

static bool is_interrupted(void)
{
	return interrupted;
}

/* The first time what is done so far is written; the second time is meant. */
static void watch_interrupt(void)
{
	struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
	struct sigaction before;

	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

static int parse_decoder(const char *arg, enum decoder_kind *ret_kind)
{
	if (strcmp(arg, "fast") && strcmp(arg, "reference"))
		return fail(-EINVAL, "--decoder: there is no decoder '%s': use fast or reference", arg);
	*ret_kind = strcmp(arg, "fast") ? DECODER_REFERENCE : DECODER_FAST;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct decode_options *decode = state->input;
	uint64_t threads;
	size_t memory;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &decode->outputs;
		return 0;
	case OPT_THREADS:
		if (parse_count("--threads", arg, &threads))
			argp_error(state, "%s", fail_message(-EINVAL));
		decode->config.threads = (unsigned int)threads;
		return 0;
	case OPT_DECODER:
		if (parse_decoder(arg, &decode->config.decoder))
			argp_error(state, "%s", fail_message(-EINVAL));
		return 0;
	case OPT_MEMORY:
		if (parse_size(arg, &memory))
			argp_error(state, "%s", fail_message(-EINVAL));
		spill_set_memory(memory);
		return 0;
	case OPT_NO_LINES:
		decode->config.source_lines = false;
		return 0;
	case ARGP_KEY_ARG:
		if (decode->recording)
			usage_error(state, "one recording at a time, please: '%s' is one too many", arg);
		decode->recording = arg;
		return 0;
	case ARGP_KEY_END:
		if (!decode->config.from != !decode->config.to)
			argp_error(state, "--from and --to belong together: give both");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no recording given (trailcam run --keep-recording DIR makes one)");
		return 0;
	default:
		return option_fields_set(fields, decode, key, arg, state);
	}
}

static const struct argp_child children[] = {{.argp = &outputs_argp}, {.argp = &talk_argp}, {0}};

static const struct argp argp = {
	.children = children,
	.options = options,
	.parser = parse,
	.args_doc = "RECORDING",
	.doc = "  trailcam decode rec -o trace.fxt.gz\n"
	       "  trailcam decode --from parse --to reply rec\n"
	       "  trailcam decode rec -o - --format tree | less\n\n"
	       "Write the trace of a recording, of the text that perf script made of one, of an allocation "
	       "trace (.ctf), or of a trace that was written before. Needs neither the program running nor "
	       "any privilege.\v"
	       "Exit status: 0: written; 1: not a recording, damaged, or the trace cannot be written; 2: "
	       "wrong usage; 130: interrupted, and what was decoded so far is written.",
};

int cmd_decode(int argc, char **argv)
{
	struct decode_options decode = {.config = {.source_lines = true,
						   .stored = true,
						   .progress = show_progress,
						   .is_cancelled = is_interrupted}};
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err;

	options_parse(&argp, argc, argv, 0, &decode);
	err = outputs_check(&decode.outputs);
	if (!err)
		err = outputs_check_input(&decode.outputs, decode.recording);
	if (err)
		return print_failure(err, STATUS_USAGE);
	watch_interrupt();
	err = decode_file(&decoded, decode.recording, &decode.config);
	if (!err && interrupted)
		log_say("interrupted: the trace ends with what was decoded so far");
	if (!err)
		err = outputs_write(&decode.outputs, decoded);
	if (err)
		return print_failure(err, STATUS_FAILED);
	return interrupted ? STATUS_INTERRUPTED : STATUS_OK;
}
