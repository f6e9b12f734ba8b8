/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks values, so that a mistake is found before anything runs. The capture applies them to a program.
 */
#include "cli/capture/trigger_options.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "condition/condition.h"
#include "condition/prints.h"

enum {
	OPT_WHEN = 512,
	OPT_SLOWER_THAN,
	OPT_FROM,
	OPT_TO,
	OPT_SKIP,
	OPT_EVERY,
	OPT_PRINT,
	OPT_MAX_HITS,
	OPT_ON_SIGNAL,
	OPT_ON_EXIT,
	OPT_MULTI_SNAPSHOT,
	OPT_FREEZE,
	OPT_SPIN,
	OPT_STEP_FROM,
};

static const struct argp_option options[] = {
	{"trigger", 't', "PLACE", 0,
	 "Take the snapshot at PLACE: a function (SYM, FILE:SYM, SYM@VERSION, SYM+OFF), SOURCE.c:LINE, "
	 "FILE:0xADDR, 'pattern*', usdt:PROVIDER:NAME, . (the program's marks), ? (pick one at the "
	 "terminal); may be given several times",
	 1},
	{"when", OPT_WHEN, "CONDITION", 0, "... only where CONDITION holds: 'arg0 > 4096 && ret < 0'", 2},
	{"slower-than", OPT_SLOWER_THAN, "TIME", 0, "... only for calls that take at least TIME: 5ms, 10us",
	 3},
	{"skip", OPT_SKIP, "N", 0, "... but not for the first N such calls", 4},
	{"every", OPT_EVERY, "TIME", 0, "... and at most once in TIME", 5},
	{"print", OPT_PRINT, "VALUES", 0,
	 "... and record these values with each hit: 'arg0, str(arg1), *(int *)(arg2 + 8)', or none "
	 "(default: the parameters, where there is debug information)",
	 5},
	{"from", OPT_FROM, "PLACE", 0,
	 "With --to: take it when a thread (Go: a goroutine) that passed this PLACE reaches that one; "
	 "--slower-than is then the time between them",
	 6},
	{"to", OPT_TO, "PLACE", 0, "The second of the two places; the hit is there", 6},
	{"on-signal", OPT_ON_SIGNAL, "SIGNAL,...", 0,
	 "Take it when one of these signals is about to be delivered", 7},
	{"on-exit", OPT_ON_EXIT, "STATUS,...", 0,
	 "Take it when the program exits with one of these statuses (nonzero: any but 0)", 7},
	{"max-hits", OPT_MAX_HITS, "N", 0, "End the recording with hit number N (default: 1)", 8},
	{"multi-snapshot", OPT_MULTI_SNAPSHOT, NULL, 0,
	 "Take a snapshot at each hit, up to --max-hits (default: 100), and go on", 9},
	{"freeze", OPT_FREEZE, NULL, 0, "The hit stops the program (SIGSTOP) until the snapshot is taken",
	 10},
	{"step-from", OPT_STEP_FROM, "PLACE", 0,
	 "step, translate: run at full speed up to PLACE, and record from there; --when, --slower-than, "
	 "--skip and --every after it apply to PLACE",
	 25},
	{"spin", OPT_SPIN, NULL, 0, "Wait for hits in a busy loop: faster, but uses a whole processor", 11},
	{0},
};

/* The trigger that a rule is for. */
static struct trigger_request *request_of(struct trigger_options *trigger)
{
	if (trigger->at_start)
		return &trigger->start;
	return trigger->cnt ? &trigger->requests[trigger->cnt - 1] : &trigger->for_all;
}

static int add_trigger(struct trigger_options *trigger, const char *spec)
{
	/* Reserves one for --step-from. */
	if (trigger->cnt == TRIGGER_MAX - 1)
		return fail(-EINVAL, "too many triggers: at most %d", TRIGGER_MAX - 1);
	trigger->at_start = false;
	trigger->requests[trigger->cnt++] = (struct trigger_request){.spec = spec};
	return 0;
}

/* The two may come in either order. */
static int add_place(struct trigger_options *trigger, int key, const char *spec)
{
	const char **place = key == OPT_FROM ? &trigger->from : &trigger->to;
	int err;

	if (*place)
		return fail(-EINVAL, "--from and --to belong together: give each once");
	*place = spec;
	if (!trigger->from || !trigger->to)
		return 0;
	err = add_trigger(trigger, trigger->to);
	if (!err)
		trigger->requests[trigger->cnt - 1].from = trigger->from;
	trigger->from = trigger->to = NULL;
	return err;
}

static int check_condition(const char *text)
{
	CLEANUP(condition_freep) struct condition *condition = NULL;
	int err = condition_parse(&condition, text);

	return err ? fail_prefix(err, "--when") : 0;
}

static int check_prints(const char *text)
{
	CLEANUP(prints_freep) struct prints *prints = NULL;
	int err = prints_parse(&prints, text);

	return err ? fail_prefix(err, "--print") : 0;
}

static int signal_number(const char *name)
{
	if (isdigit((unsigned char)*name))
		return atoi(name);
	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (int i = 1; i < NSIG; i++)
		if (sigabbrev_np(i) && !strcmp(sigabbrev_np(i), name))
			return i;
	return 0;
}

static int parse_signals(const char *text, struct capture_until *until)
{
	CLEANUP(freep) char *copy = strdup(text);
	char *rest = copy;

	if (!copy)
		return -ENOMEM;
	for (char *name; (name = strsep(&rest, ","));) {
		int number = signal_number(name);

		if (number < 1 || number >= NSIG)
			return fail(-EINVAL,
				    "--on-signal: there is no signal '%s': give a name or a number, such "
				    "as SIGSEGV or 11",
				    name);
		if (number == SIGKILL || number == SIGSTOP || number == SIGTRAP)
			return fail(-EINVAL,
				    "--on-signal: trailcam cannot wait for SIG%s: give another signal",
				    sigabbrev_np(number));
		until->signals |= 1ull << (number - 1);
	}
	return 0;
}

static int parse_statuses(const char *text, struct capture_until *until)
{
	CLEANUP(freep) char *copy = strdup(text);
	char *rest = copy;

	if (!copy)
		return -ENOMEM;
	for (char *word; (word = strsep(&rest, ","));) {
		uint64_t status;

		if (!strcmp(word, "nonzero")) {
			memset(until->statuses + 1, 1, sizeof(until->statuses) - 1);
			continue;
		}
		if (parse_count("--on-exit", word, &status) || status >= sizeof(until->statuses))
			return fail(-EINVAL,
				    "--on-exit: '%s' is not an exit status: give 0 to 255, or nonzero", word);
		until->statuses[status] = 1;
	}
	until->any_status = true;
	return 0;
}

static int parse_rule(struct trigger_options *trigger, int key, char *arg)
{
	struct trigger_request *request = request_of(trigger);

	if (key == OPT_WHEN) {
		request->when = arg;
		return check_condition(arg);
	}
	request->print = arg;
	return check_prints(arg);
}

static const struct option_field rule_fields[] = {
	OPTION_TIME(OPT_SLOWER_THAN, struct trigger_request, slower_than_ns),
	OPTION_FIELD(OPT_SKIP, struct trigger_request, skip),
	OPTION_TIME(OPT_EVERY, struct trigger_request, every_ns),
	{0},
};

static const struct option_field until_fields[] = {
	OPTION_FIELD(OPT_MULTI_SNAPSHOT, struct capture_until, multi_snapshot),
	OPTION_FIELD(OPT_FREEZE, struct capture_until, freeze),
	OPTION_FIELD(OPT_SPIN, struct capture_until, spin),
	{0},
};

static int parse_max_hits(const char *arg, uint64_t *ret_max)
{
	int err = parse_count("--max-hits", arg, ret_max);

	return !err && !*ret_max ? fail(-EINVAL, "--max-hits: 0 hits would record nothing; give 1 or more")
				 : err;
}

static void apply_to_all(struct trigger_options *trigger)
{
	const struct trigger_request *rule = &trigger->for_all;

	for (size_t i = 0; i < trigger->cnt; i++) {
		struct trigger_request *request = &trigger->requests[i];

		request->when = request->when ? request->when : rule->when;
		request->print = request->print ? request->print : rule->print;
		request->slower_than_ns =
			request->slower_than_ns ? request->slower_than_ns : rule->slower_than_ns;
		request->skip = request->skip ? request->skip : rule->skip;
		request->every_ns = request->every_ns ? request->every_ns : rule->every_ns;
	}
}

/* Rules without a trigger would silently mean nothing. */
static int check(struct trigger_options *trigger)
{
	const struct trigger_request *rule = &trigger->for_all;
	const struct capture_until *until = &trigger->until;
	bool any = trigger->cnt || until->signals || until->any_status;

	if (trigger->from || trigger->to)
		return fail(-EINVAL, "--from and --to belong together: give both");
	if (!trigger->cnt &&
	    (rule->when || rule->print || rule->slower_than_ns || rule->skip || rule->every_ns))
		return fail(-EINVAL, "--when, --slower-than, --skip, --every and --print need a trigger: "
				     "name one with -t");
	if (!any && (until->max_hits || until->multi_snapshot || until->freeze || until->spin))
		return fail(-EINVAL,
			    "--max-hits, --multi-snapshot, --freeze and --spin need a trigger: name one "
			    "with -t, --on-signal or --on-exit");
	apply_to_all(trigger);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct trigger_options *trigger = state->input;
	int err = 0;

	switch (key) {
	case 't':
		err = add_trigger(trigger, arg);
		break;
	case OPT_STEP_FROM:
		trigger->at_start = true;
		trigger->start = (struct trigger_request){.spec = arg};
		break;
	case OPT_FROM:
	case OPT_TO:
		err = add_place(trigger, key, arg);
		break;
	case OPT_WHEN:
	case OPT_PRINT:
		err = parse_rule(trigger, key, arg);
		break;
	case OPT_MAX_HITS:
		err = parse_max_hits(arg, &trigger->until.max_hits);
		break;
	case OPT_ON_SIGNAL:
		err = parse_signals(arg, &trigger->until);
		break;
	case OPT_ON_EXIT:
		err = parse_statuses(arg, &trigger->until);
		break;
	case ARGP_KEY_END:
		err = check(trigger);
		break;
	default:
		if (option_fields_set(until_fields, &trigger->until, key, arg, state) == ARGP_ERR_UNKNOWN)
			return option_fields_set(rule_fields, request_of(trigger), key, arg, state);
	}
	if (err)
		argp_error(state, "%s", fail_message(err));
	return 0;
}

const struct argp trigger_argp = {.options = options, .parser = parse};
