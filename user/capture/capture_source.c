/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the sources. Single-stepping is chosen only for a program that we start, if an option requires it
 * or no other source works. It is never chosen for a running process, nor if a condition is about time: a
 * stepped program is always slow.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "capture/capture_internal.h"
#include "condition/condition.h"

/* Measured: tests/bench/bench.c. */
#define STEPPING "executes one instruction at a time, some 50,000 times slower than at full speed"

/* An option that only some sources support: how its refusal begins, and what follows the sources' names. */
static const struct {
	enum source_option option;
	const char *belongs, *why; /* NULL: what the source here is */
} owned[] = {
	{OPTION_STEPPING, "--step-log and --step-overflow belong", NULL},
	{OPTION_START, "--step-from belongs", NULL},
	{OPTION_FULL, "--full-execution belongs", "; the rings of others hold what --snapshot-size says"},
	{OPTION_CPU_WIDE, "--cpu-wide belongs", ""},
	{OPTION_KERNEL, "--kernel belongs", ": other sources see the branches of user code only"},
	{OPTION_PER_THREAD, "--per-thread belongs",
	 "; step and translate always have a ring for each thread"},
	{OPTION_FILTER, "--filter belongs", ""},
	{OPTION_SAMPLING, "--frequency, --last, --syscalls, --interrupts and --events belong", ""},
	{OPTION_TIMING, "--timer-resolution belongs", NULL},
	{OPTION_STALL, "--max-stall belongs", NULL},
};

/* Beside the options of sources: --multi-snapshot. */
enum { ASKS_MULTI = 1 << 30 };

/* No reason to choose a source. */
enum { CHOOSES_NONE = OPTION_ALLOCATIONS | ASKS_MULTI };

static const struct {
	unsigned int both;
	const char *text;
} excluded[] = {
	{OPTION_FULL | ASKS_MULTI,
	 "--full-execution and --multi-snapshot exclude each other: there is one trace"},
	{OPTION_CPU_WIDE | OPTION_PER_THREAD, "--per-thread and --cpu-wide exclude each other"},
	{OPTION_CPU_WIDE | OPTION_FILTER,
	 "--filter and --cpu-wide exclude each other: the kernel sets filters for targets only"},
	{OPTION_KERNEL | OPTION_FILTER,
	 "--filter and --kernel exclude each other: a filter cannot name functions of the kernel"},
};

/* The options that were given. */
static unsigned int asked(const struct capture_config *config)
{
	const struct source_options *options = &config->options;

	return (config->start.spec ? OPTION_START : 0) |
	       (options->step_log || options->step_overflow ? OPTION_STEPPING : 0) |
	       (options->full ? OPTION_FULL : 0) | (options->cpu_wide ? OPTION_CPU_WIDE : 0) |
	       (options->scope != PT_USER ? OPTION_KERNEL : 0) |
	       (options->per_thread ? OPTION_PER_THREAD : 0) | (options->filter_cnt ? OPTION_FILTER : 0) |
	       (options->frequency || options->last_ns || options->syscalls || options->interrupts ||
				options->events
			? OPTION_SAMPLING
			: 0) |
	       (options->timing.is_asked ? OPTION_TIMING : 0) |
	       (config->asks_stall && config->source ? OPTION_STALL : 0) |
	       (options->alloc_interval ? OPTION_ALLOCATIONS : 0) |
	       (config->until.multi_snapshot ? ASKS_MULTI : 0);
}

/* "translate or step" */
static const char *owners_of(enum source_option option, char *buffer, size_t size)
{
	const struct source *source;
	size_t used = 0;

	for (size_t i = 0; (source = source_at(i)) && used < size; i++)
		if (source->options & option)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? " or " : "",
						 source->name);
	return buffer;
}

/* Refuses options that no source of the recording supports. `chosen`: NULL: none. */
static int refuse(const struct capture_config *config, const struct source *chosen)
{
	unsigned int given = asked(config), others = given & ~(chosen ? chosen->options : 0);
	char owners[64] = "", here[64];

	snprintf(here, sizeof(here), "; the source here is %s", chosen ? chosen->name : "none");
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		if (others & owned[i].option)
			return fail(-EINVAL, "%s to --source %s%s", owned[i].belongs,
				    owners_of(owned[i].option, owners, sizeof(owners)),
				    owned[i].why ? owned[i].why : here);
	for (size_t i = 0; i < ARRAY_SIZE(excluded); i++)
		if ((given & excluded[i].both) == excluded[i].both)
			return fail(-EINVAL, "%s", excluded[i].text);
	return 0;
}

/* ---- which ---- */

/* The option that makes a condition about time, or NULL. */
static const char *timed_rule(const struct capture_config *config)
{
	for (size_t i = 0; i < config->trigger_cnt; i++) {
		const struct trigger_request *request = &config->triggers[i];
		CLEANUP(condition_freep) struct condition *condition = NULL;

		if (request->slower_than_ns)
			return "--slower-than";
		if (request->every_ns)
			return "--every";
		if (request->when && !condition_parse(&condition, request->when) &&
		    condition_asks_elapsed(condition))
			return "elapsed";
	}
	return NULL;
}

static bool records_anything(const struct capture_config *config)
{
	return config->trigger_cnt || config->until.signals || config->until.any_status ||
	       config->options.alloc_interval;
}

/* For running processes, if no source may be chosen. */
static int choose_none_for_attach(const struct capture_config *config)
{
	if (asked(config) & (OPTION_STEPPING | OPTION_START))
		return fail(
			-EINVAL,
			"--step-from, --step-log and --step-overflow need --source step, which attach never "
			"chooses by itself: the target then " STEPPING
			"; --step-from also goes with --source translate");
	if (!records_anything(config))
		return fail(-EINVAL, "this machine has no Intel PT, so attach records only hits: name a "
				     "trigger with -t, or give --source step: the target then " STEPPING);
	return 0;
}

/*
 * A program that does not execute its own code takes longer, each of its processes some milliseconds more,
 * and it passes the probes of allocators: that is not what these options are for.
 */
static bool needs_own_code(const struct capture_config *config, const char *timed)
{
	return timed || config->options.alloc_interval || config->options.follow_forks;
}

/* If a condition is about time, a source that slows needs an explicit option. */
static bool may_choose(const struct source *source, const struct capture_config *config, const char *timed)
{
	unsigned int automatic = config->path ? SOURCE_RUN_AUTO : SOURCE_ATTACH_AUTO;

	return source->can & automatic && (!source->is_here || source->is_here()) &&
	       !(source->can & SOURCE_PASSES_PROBES && needs_own_code(config, timed)) &&
	       !(timed && source->can & SOURCE_SLOWS && !(asked(config) & ~CHOOSES_NONE & source->options));
}

/*
 * The first source that may be chosen and supports the options; else the first that may be chosen, which will
 * refuse an option; NULL: none.
 */
static const struct source *find_best(const struct capture_config *config, const char *timed)
{
	unsigned int asked_of_sources = asked(config) & ~CHOOSES_NONE;
	const struct source *source, *first = NULL;

	for (size_t i = 0; (source = source_at(i)); i++) {
		if (!may_choose(source, config, timed))
			continue;
		if (!(asked_of_sources & ~source->options))
			return source;
		first = first ? first : source;
	}
	return first;
}

static int choose_best(const struct capture_config *config, const struct source **ret_source)
{
	const char *timed = timed_rule(config);

	*ret_source = find_best(config, timed);
	return *ret_source || config->path ? 0 : choose_none_for_attach(config);
}

/* What was chosen in place of Intel PT. */
static void say_choice(const struct capture_config *config, const char *name)
{
	if (!strcmp(name, source_translate.name))
		log_say("no Intel PT here: the program is translated%s (--source translate): every call is "
			"recorded, and it runs some 1.2 to 8 times slower; --source samples samples its "
			"stacks, at full speed; --source none records hits only",
			config->start.spec ? " from the start point on" : "");
	else if (!strcmp(name, source_samples.name))
		log_say("no Intel PT here: stacks are sampled (--source samples); --source none records "
			"hits only, --source translate every call, of a program some 1.2 to 8 times slower, "
			"--source step every call, but the %s then " STEPPING,
			config->path ? "program" : "target");
	else if (!strcmp(name, "none") && config->path)
		log_say("no Intel PT here: only hits are recorded, at full speed (--source none), since %s "
			"measures time",
			timed_rule(config));
	else if (!strcmp(name, "none"))
		log_say("no Intel PT here: only hits are recorded, at full speed (--source none); with "
			"--source step also the calls that led to them, but the target " STEPPING);
}

static void warn_of_stepping(const struct capture_config *config)
{
	char limit[64] = "";

	if (config->max_stall_ns)
		snprintf(limit, sizeof(limit), ", for about %.4g ms (--max-stall)",
			 (double)config->max_stall_ns / 1e6);
	log_warn("single-stepping%s: %s " STEPPING "%s%s",
		 config->source || asked(config) & (OPTION_STEPPING | OPTION_START)
			 ? ""
			 : ", since there is neither Intel PT nor the right to sample",
		 config->path ? "the program" : "the target",
		 config->start.spec ? ", from the start point on" : "", limit);
}

void capture_say_source(struct capture *capture)
{
	if (capture->said_source)
		return;
	capture->said_source = true;
	if (!capture->config->source)
		say_choice(capture->config, sources_name(&capture->sources));
	if (sources_can(&capture->sources, SOURCE_SLOWS))
		warn_of_stepping(capture->config);
	if (!capture->config->path && !strcmp(sources_name(&capture->sources), source_translate.name))
		log_say("the target is translated%s until the trace ends: some 1.2 to 8 times slower, and "
			"slowest at first, when a large server may hardly answer for some seconds",
			capture->config->start.spec ? " from the start point" : "");
}

static int check_time(const struct capture_config *config, const struct source *source)
{
	const char *timed = source && source->can & SOURCE_SLOWS ? timed_rule(config) : NULL;

	return timed ? fail(-EINVAL,
			    "%s measures time, and single-stepped code is always slow: use --source none, "
			    "or give it after --step-from, for the start point",
			    timed)
		     : 0;
}

static int check_probes(const struct capture_config *config, const struct source *source)
{
	return config->options.alloc_interval && source && source->can & SOURCE_PASSES_PROBES
		       ? fail(-EINVAL,
			      "--memtrace: not with --source %s, under which allocators are not watched; "
			      "--source step is exact, too, and --source samples runs at full speed",
			      source->name)
		       : 0;
}

/* Opens the chosen source, and those beside it whose options are given. */
static int open_all(struct capture *capture, const struct source *chosen)
{
	const struct capture_config *config = capture->config;
	const struct source_config source_config = {
		.options = &config->options,
		.codes = capture->codes,
		.own = config->own,
		.probes = &capture->probes,
		.waits_for_start = config->start.spec,
		.wants_lives = capture_wants_lives(config),
		.binary = config->path ? config->binary : NULL,
		/* The trace must continue between snapshots. */
		.pause = !config->until.multi_snapshot && config->trigger_cnt,
	};
	const struct source *source;
	int err = chosen ? sources_open(&capture->sources, chosen, &source_config) : 0;

	for (size_t i = 0; (source = source_at(i)) && !err; i++)
		if (source->can & SOURCE_IS_BESIDE && source->options & asked(config))
			err = sources_open(&capture->sources, source, &source_config);
	if (!err && config->own_source)
		err = sources_open(&capture->sources, config->own_source, &source_config);
	return err;
}

const char *capture_source_name(size_t i)
{
	const struct source *source;
	size_t named = 1;

	for (size_t j = 0; i && (source = source_at(j)); j++)
		if (!(source->can & SOURCE_IS_BESIDE) && named++ == i)
			return source->name;
	return !i ? "auto" : i == named ? "none" : NULL;
}

bool capture_is_free_running(const struct capture *capture)
{
	return !sources_can(&capture->sources, SOURCE_HOLDS);
}

bool capture_freezes(const struct capture *capture)
{
	return capture->config->until.freeze ||
	       (sources_can(&capture->sources, SOURCE_FREEZES) && capture->trigger_cnt);
}

void capture_drain(struct capture *capture)
{
	int err = sources_drain(&capture->sources);

	if (!err || capture->drain_failed)
		return;
	capture->drain_failed = true;
	log_warn("%s", fail_message(err));
}

int capture_open_sources(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	const struct source *chosen = config->source ? source_find(config->source) : NULL;
	int err = config->source ? 0 : choose_best(config, &chosen);

	if (!err)
		err = refuse(config, chosen);
	if (!err)
		err = check_time(config, chosen);
	if (!err)
		err = check_probes(config, chosen);
	return err ? err : open_all(capture, chosen);
}
