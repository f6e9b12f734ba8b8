/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the words before argp does, for those that argp would misread, or refuse without a hint.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "base/on_line.h"
#include "cli/cli.h"
#include "cli/complete.h"
#include "cli/option_table.h"

/*
 * magic-trace has long flags with one dash. Here, "-trigger main" would mean the trigger "rigger" and a
 * program "main". So such flags are refused, with a hint. docs/magic-trace.md has the same table in more
 * detail.
 */
static const struct {
	const char *flag, *ours;
} magic_trace_flags[] = {
	{"-trigger", "use --trigger=SYM or -t SYM"},
	{"-pid", "use --pid=PID or -p PID"},
	{"-output", "use --output=FILE or -o FILE"},
	{"-multi-snapshot", "use --multi-snapshot"},
	{"-multi-thread", "leave it out: all threads are traced"},
	{"-full-execution", "use --full-execution"},
	{"-snapshot-size", "use --snapshot-size=SIZE"},
	{"-trace-include-kernel", "use --kernel"},
	{"-trace-kernel-only", "use --kernel=only"},
	{"-timer-resolution", "use --timer-resolution=low|normal|high|custom:..."},
	{"-filter", "use --from=START --to=STOP of trailcam decode"},
	{"-duration-thresh", "use --slower-than=TIME"},
	{"-delay-thresh", "use --slower-than=TIME"},
	{"-immediate-stop", "use --freeze"},
	{"-working-directory", "use --keep-recording=DIR, and later trailcam decode DIR"},
	{"-executable",
	 "leave it out: a recording names its programs, and --symfs=DIR says where else they are"},
	{"-perf-map-file", "leave it out: a recording has the names of the code that was compiled in it"},
	{"-sampling", "use perf record, and trailcam decode for the text of perf script"},
	{"-callgraph-mode", "use perf record, and trailcam decode for the text of perf script"},
	{"-events", "use perf record, and trailcam decode for the text of perf script"},
	{"-help", "use --help"},
};

static const char *magic_trace_ours(const char *flag)
{
	for (size_t i = 0; i < ARRAY_SIZE(magic_trace_flags); i++)
		if (!strcmp(flag, magic_trace_flags[i].flag))
			return magic_trace_flags[i].ours;
	return NULL;
}

static void refuse_misspelled(const struct argp *argp, const char *word, const struct option_word *read)
{
	const char *ours = magic_trace_ours(word);
	const struct argp_option *similar;

	if (ours) {
		log_say("%s is magic-trace's spelling: %s", word, ours);
		exit(argp_err_exit_status);
	}
	if (read->option || strncmp(word, "--", 2))
		return;
	similar = option_table_similar(argp, word);
	if (!similar)
		return;
	log_say("there is no option %.*s; did you mean --%s?", (int)strcspn(word, "="), word, similar->name);
	exit(argp_err_exit_status);
}

void usage_error(const struct argp_state *state, const char *fmt, ...)
{
	char text[1024], shown[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	on_line_copy(shown, sizeof(shown), text);
	argp_error(state, "%s", shown);
}

static const char *option_name(const struct argp *argp, int key)
{
	const struct argp_option *options[OPTIONS_MAX];
	size_t cnt = option_table_list(argp, options);

	for (size_t i = 0; i < cnt; i++)
		if (options[i]->key == key)
			return options[i]->name;
	return "";
}

error_t option_fields_set(const struct option_field fields[], void *input, int key, char *arg,
			  const struct argp_state *state)
{
	const struct option_field *field = fields;
	char option[64];
	int err = 0;
	void *value;

	while (field->key && field->key != key)
		field++;
	if (!field->key)
		return ARGP_ERR_UNKNOWN;
	value = (char *)input + field->offset;
	snprintf(option, sizeof(option), "--%s", option_name(state->root_argp, key));
	switch (field->kind) {
	case OPTION_IS_SWITCH:
		*(bool *)value = true;
		break;
	case OPTION_IS_TEXT:
		*(const char **)value = arg;
		break;
	case OPTION_IS_COUNT:
		err = parse_count(option, arg, value);
		break;
	case OPTION_IS_TIME:
		err = parse_duration(option, arg, value);
		break;
	}
	if (err)
		argp_error(state, "%s", fail_message(err));
	return 0;
}

void options_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	if (argc > 1 && !strcmp(argv[1], COMPLETE_WORD)) {
		complete_options(argp, argc, argv, flags);
		exit(STATUS_OK);
	}
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		struct option_word read = option_word_read(argp, argv[i]);

		if (argv[i][0] == '-' && argv[i][1])
			refuse_misspelled(argp, argv[i], &read);
		else if (flags & ARGP_IN_ORDER)
			break; /* the program; all that follows belongs to it */
		if (read.takes_next)
			i++;
	}
	argp_parse(argp, argc, argv, flags, NULL, input);
}
