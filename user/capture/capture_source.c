/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which source records. Single-stepping is chosen only for a program that we start, never for a process that somebody relies on; and never where time is judged:
 * what is stepped is always slow.
 */
#include <errno.h>

#include "base/error.h"
#include "base/log.h"
#include "capture/capture_internal.h"
#include "condition/condition.h"

/* Measured: tests/bench/bench.c. */
#define STEPPING "executes one instruction at a time, some 50,000 times slower than at full speed"

bool capture_is_free_running(const struct capture *capture)
{
	return capture->pt || capture->source == CAPTURE_NONE;
}

static int open_pt(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	struct pt_config pt = {
		.sysfs = PT_SYSFS,
		.timing = config->timing,
		.ring_size = config->ring_size,
		.follow_forks = config->follow_forks,
		.scope = config->scope,
		.per_thread = config->per_thread,
		.full = config->full,
		/* Between snapshots the trace must go on. */
		.pause = !config->until.multi_snapshot && config->trigger_cnt,
	};

	return pt_new(&capture->pt, &pt);
}

/* Another source has nothing of what they ask for. */
static int refuse_pt_options(const struct capture_config *config)
{
	if (config->full)
		return fail(-EINVAL, "--full-execution belongs to --source intel_pt; the step source's rings "
				     "hold what --snapshot-size says");
	if (config->cpu_wide)
		return fail(-EINVAL, "--cpu-wide belongs to --source intel_pt");
	if (config->scope != PT_USER)
		return fail(-EINVAL,
			    "--kernel belongs to --source intel_pt: single-stepping sees user code only");
	if (config->per_thread)
		return fail(-EINVAL,
			    "--per-thread belongs to --source intel_pt; the step source always has a "
			    "ring for each thread");
	return config->filter_cnt ? fail(-EINVAL, "--filter belongs to --source intel_pt") : 0;
}

static int check_pt_options(const struct capture_config *config)
{
	if (config->full && config->until.multi_snapshot)
		return fail(-EINVAL,
			    "--full-execution and --multi-snapshot exclude each other: there is one trace");
	if (config->cpu_wide && config->per_thread)
		return fail(-EINVAL, "--per-thread and --cpu-wide exclude each other");
	if (config->cpu_wide && config->filter_cnt)
		return fail(-EINVAL, "--filter and --cpu-wide exclude each other: the kernel sets filters "
				     "for targets only");
	if (config->scope != PT_USER && config->filter_cnt)
		return fail(-EINVAL,
			    "--filter and --kernel exclude each other: functions of the kernel are not "
			    "among those that a filter can name");
	return 0;
}

/* ---- which ---- */

static bool asks_for_stepping(const struct capture_config *config)
{
	return config->start.spec || config->step_log || config->step_overflow;
}

/* What judges time: the option that does, or NULL. */
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
	       config->alloc_interval;
}

static int choose_for_attach(const struct capture_config *config, enum capture_source *ret_source)
{
	if (asks_for_stepping(config))
		return fail(
			-EINVAL,
			"--step-from, --step-log and --step-overflow need --source step, which attach never "
			"chooses by itself: the target then " STEPPING);
	if (!records_anything(config))
		return fail(-EINVAL, "without Intel PT, which this machine does not have, only hits are "
				     "recorded: name a trigger with -t; or give --source step: the target "
				     "then " STEPPING);
	log_say("no Intel PT here: only hits are recorded, at full speed (--source none); with --source step "
		"also "
		"the calls that led to them, but the target " STEPPING);
	*ret_source = CAPTURE_NONE;
	return 0;
}

static enum capture_source choose_for_run(const struct capture_config *config)
{
	const char *timed = timed_rule(config);

	if (!timed || asks_for_stepping(config))
		return CAPTURE_STEP;
	log_say("no Intel PT here: only hits are recorded, at full speed (--source none), since %s judges "
		"time",
		timed);
	return CAPTURE_NONE;
}

static int choose(const struct capture_config *config, enum capture_source *ret_source)
{
	if (config->source != CAPTURE_AUTO)
		*ret_source = config->source;
	else if (pt_is_here(PT_SYSFS))
		*ret_source = CAPTURE_INTEL_PT;
	else if (!config->path)
		return choose_for_attach(config, ret_source);
	else
		*ret_source = choose_for_run(config);
	return 0;
}

void capture_warn_of_stepping(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	char limit[64] = "";

	if (capture->source != CAPTURE_STEP || capture->warned)
		return;
	capture->warned = true;
	if (config->max_stall_ns)
		snprintf(limit, sizeof(limit), ", for %.4g ms at most (--max-stall)",
			 (double)config->max_stall_ns / 1e6);
	log_warn("single-stepping%s: %s " STEPPING "%s%s",
		 config->source == CAPTURE_AUTO ? ", for want of Intel PT" : "",
		 config->path ? "the program" : "the target",
		 config->start.spec ? ", from the start point on" : "", limit);
}

static int check_step_options(const struct capture_config *config)
{
	const char *timed = timed_rule(config);

	return timed ? fail(-EINVAL,
			    "%s judges time, and what is single-stepped is always slow: use --source none, "
			    "or give it for the start point, behind --step-from",
			    timed)
		     : 0;
}

int capture_choose_source(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	int err = choose(config, &capture->source);

	if (err)
		return err;
	if (capture->source != CAPTURE_STEP && asks_for_stepping(config))
		return fail(-EINVAL,
			    "--step-from, --step-log and --step-overflow belong to --source step; the source "
			    "here is %s",
			    capture->source == CAPTURE_NONE ? "none" : "intel_pt");
	err = capture->source == CAPTURE_INTEL_PT ? check_pt_options(config) : refuse_pt_options(config);
	if (!err && capture->source == CAPTURE_STEP)
		err = check_step_options(config);
	return err || capture->source != CAPTURE_INTEL_PT ? err : open_pt(capture);
}
