/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolves names to probes, seizes the targets, attaches the probes, and verifies the breakpoints in the
 * targets' memory as files are mapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "capture/capture_internal.h"
#include "capture/idle.h"
#include "capture/target_resolve.h"
#include "condition/condition_fields.h"
#include "condition/prints.h"
#include "process/attach_check.h"
#include "process/cgroup.h"
#include "process/proc_status.h"
#include "process/program.h"
#include "trigger/privilege.h"

/* Programs that include trailcam.h pass the beginning of what they mark. */
static bool is_mark(const struct trigger *trigger)
{
	for (size_t i = 0; i < trigger->probe_cnt; i++)
		if (!strcmp(trigger->probes[i].symbol, "trailcam_snapshot_indicator"))
			return true;
	return false;
}

static int resolve_place(const struct capture *capture, const char *spec, uint32_t action,
			 struct trigger *ret_trigger)
{
	const struct capture_config *config = capture->config;

	return config->path ? trigger_resolve(ret_trigger, spec, config->binary, action)
			    : target_resolve(ret_trigger, spec, config->pids, config->pid_cnt, action);
}

static int resolve_from(const struct capture *capture, const char *spec, struct trigger *trigger)
{
	struct trigger from = {0};
	int err = resolve_place(capture, spec, 0, &from);

	if (!err)
		err = trigger_set_from(trigger, &from);
	trigger_release(&from);
	return err;
}

static int resolve_trigger(struct capture *capture, const struct trigger_request *request, uint32_t action)
{
	struct trigger *trigger = &capture->triggers[capture->trigger_cnt];
	int err = resolve_place(capture, request->spec, action, trigger);

	if (err)
		return err;
	capture->trigger_cnt++;
	trigger->rule = (struct trigger_rule){
		.slower_than_ns = request->slower_than_ns,
		.skip = request->skip,
		.every_ns = request->every_ns,
	};
	if (is_mark(trigger))
		trigger->action |= HIT_MARK;
	err = request->from ? resolve_from(capture, request->from, trigger) : 0;
	if (!err)
		err = condition_parse_rule(trigger, request->when, request->print);
	return err ? err : trigger_apply_rule(trigger);
}

static int resolve_triggers(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	size_t cnt = config->trigger_cnt + (config->start.spec ? 1 : 0);
	int err = 0;

	capture->triggers = calloc(cnt + 1, sizeof(*capture->triggers));
	if (!capture->triggers)
		return -ENOMEM;
	for (size_t i = 0; i < config->trigger_cnt && !err; i++)
		err = resolve_trigger(capture, &config->triggers[i], HIT_STOP);
	if (!err && config->start.spec)
		err = resolve_trigger(capture, &config->start, HIT_START);
	capture->probes =
		(struct probe_map){.triggers = capture->triggers, .trigger_cnt = capture->trigger_cnt};
	return err;
}

static int resolve_filter(struct capture *capture, const char *spec)
{
	const struct capture_config *config = capture->config;
	struct trigger trigger = {0};
	int err = config->path ? trigger_resolve(&trigger, spec, config->binary, 0)
			       : target_resolve(&trigger, spec, config->pids, config->pid_cnt, 0);

	if (err)
		return err;
	err = filters_add_functions(&capture->filters, &trigger);
	trigger_release(&trigger);
	return err;
}

/*
 * If hits cannot pause the trace, the processor can stop it itself, at a trigger whose every firing is a hit.
 */
static int add_stops(struct capture *capture, size_t max)
{
	const struct capture_config *config = capture->config;
	const struct trigger *trigger = &capture->triggers[0];
	const struct trigger_rule *rule = &trigger->rule;

	if (!max || sources_pause(&capture->sources) || config->options.cpu_wide ||
	    capture->trigger_cnt != 1 || capture_stop_at(&config->until) != 1 || rule->condition ||
	    rule->slower_than_ns || (rule->prints && prints_ask_return(rule->prints)) || rule->skip ||
	    rule->every_ns || capture->filters.cnt + trigger->probe_cnt > max)
		return 0;
	capture->trace_stops = true;
	return filters_add_stops(&capture->filters, trigger);
}

/* After the events are there. */
static int set_filters(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	size_t max = sources_filter_max(&capture->sources);
	int err = 0;

	for (size_t i = 0; i < config->options.filter_cnt && !err; i++)
		err = resolve_filter(capture, config->options.filters[i]);
	if (!err && capture->filters.cnt > max)
		err = fail(-ENOTSUP, "--filter names %zu functions, but this processor can filter only %zu",
			   capture->filters.cnt, max);
	if (!err)
		err = add_stops(capture, max);
	if (err || !capture->filters.cnt)
		return err;
	capture->snapshot->filter = strdup(capture->filters.text);
	return capture->snapshot->filter ? sources_set_filter(&capture->sources, capture->filters.text)
					 : -ENOMEM;
}

static int start_program(struct capture *capture)
{
	const struct launch_program program = {.path = capture->config->path,
					       .argv = capture->config->argv,
					       .signals = capture->config->signals,
					       .files = &capture->files,
					       .is_untraced = capture->config->untraced};
	int err = launch_prepare(&capture->launch, &program);

	if (!err)
		err = session_launch(capture->session, capture->launch.pid);
	return err ? err : sources_add(&capture->sources, capture->launch.pid, true);
}

static int for_targets(struct capture *capture, int (*fn)(struct capture *capture, pid_t pid))
{
	const struct capture_config *config = capture->config;
	int err = 0, skipped = 0;
	size_t left = 0;

	for (size_t i = 0; i < config->pid_cnt && !err; i++) {
		err = fn(capture, config->pids[i]);
		if (!err || !config->skip_ended || !proc_is_ending(config->pids[i])) {
			left++;
			continue;
		}
		log_debug("left out: %s", fail_message(err));
		skipped = err;
		err = 0;
	}
	return err ? err : left ? 0 : skipped;
}

static int check_target(struct capture *capture, pid_t pid)
{
	(void)capture;
	return attach_check(pid);
}

static int seize_target(struct capture *capture, pid_t pid)
{
	int err = session_attach(capture->session, pid);

	return err ? err : sources_add(&capture->sources, pid, false);
}

static int seize_targets(struct capture *capture)
{
	capture_say_source(capture);
	return for_targets(capture, seize_target);
}

/*
 * From then on until they run, threads wait for us at their signals and births. Probes may take long to
 * attach; but the start point's must find the targets seized, and events of the processor come before it is
 * known what they can do.
 */
static bool seizes_late(const struct capture *capture)
{
	return !capture->config->path && !capture->config->start.spec && capture_is_free_running(capture) &&
	       !sources_can(&capture->sources, SOURCE_RECORDS);
}

static int watch_target(struct capture *capture, pid_t pid)
{
	return trigger_set_watch(capture->set, pid);
}

/* Verifies the probes in files that were mapped before. */
static int verify_probes(struct capture *capture, pid_t pid)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int err = maps_read(&maps, pid);

	for (size_t i = 0; i < maps.cnt && !err; i++)
		err = probe_map_verify(&capture->probes, pid, &maps.items[i].mapping);
	return err == -ENOENT || err == -ESRCH ? fail(-ESRCH, "process %d has ended just now", pid) : err;
}

static int watch_targets(struct capture *capture)
{
	int err = capture->config->path ? watch_target(capture, capture->launch.pid) : 0;

	capture->watching = true;
	return err ? err : for_targets(capture, watch_target);
}

static int attach_probes(struct capture *capture)
{
	struct trigger_config config = {
		.triggers = capture->triggers,
		.trigger_cnt = capture->trigger_cnt,
		.pid = capture_only_target(capture),
		.link = capture->config->options.link,
		.mirror = sources_mirror(&capture->sources),
		.stack_bytes = capture_stop_at(&capture->config->until) > 1 ? HIT_STACKS_BYTES_MANY
									    : HIT_STACKS_BYTES,
		.freeze = capture_freezes(capture) && capture_is_free_running(capture),
		.pause = sources_pause(&capture->sources),
		.stop_at = capture_stop_at(&capture->config->until),
		.hold = true,
	};
	int err;

	if (!capture->trigger_cnt)
		return 0;
	err = trigger_set_attach(&capture->set, &config);
	if (err)
		return err;
	log_debug("probes attached through %s", trigger_set_link_name(capture->set));
	return config.pid ? 0 : watch_targets(capture);
}

/* A single-stepped thread stops after the probed instruction anyway. */
static const char *stopped_by(const struct capture *capture)
{
	const struct capture_config *config = capture->config;

	if (!capture_is_free_running(capture))
		return "single-stepping";
	if (sources_pause(&capture->sources) && capture->trigger_cnt)
		return "AUX pause in the hit itself";
	if (capture->trace_stops)
		return "TraceStop at the probed instruction";
	if (capture_freezes(capture))
		return "SIGSTOP from BPF (--freeze)";
	return config->until.spin ? "a spinning reader (--spin)" : "a reader that was woken";
}

static int tell_stopped_by(struct capture *capture)
{
	capture->snapshot->stopped_by = strdup(stopped_by(capture));
	return capture->snapshot->stopped_by ? 0 : -ENOMEM;
}

static int describe_values(struct capture *capture)
{
	int err = 0;

	for (size_t i = 0; i < capture->trigger_cnt; i++) {
		const struct prints *prints = capture->triggers[i].rule.prints;

		for (size_t j = 0; prints && j < prints_cnt(prints) && !err; j++)
			err = snapshot_add_value_name(capture->snapshot, prints_name(prints, j));
	}
	return err;
}

/* Probes at the ends of calls are left out: they stand anywhere. */
static int describe_places(struct snapshot *snapshot, const struct trigger *trigger, uint32_t index)
{
	int err = 0;

	for (size_t i = 0; i < trigger->probe_cnt && !err; i++) {
		const struct probe *probe = &trigger->probes[i];
		const struct probe_place place = {.trigger = index,
						  .file_offset = probe->file_offset,
						  .path = probe->path,
						  .function = probe->function ? probe->function : (char *)""};

		err = probe->at == PROBE_CALL_END ? 0 : snapshot_add_place(snapshot, &place);
	}
	return err;
}

/* Triggers and the command line, for readers of the trace. */
static int describe(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	struct snapshot *snapshot = capture->snapshot;

	for (size_t i = 0; i < capture->trigger_cnt; i++) {
		char *name = strdup(capture->triggers[i].name);

		if (!name ||
		    ARRAY_PUSH(snapshot->triggers, snapshot->trigger_cnt, snapshot->trigger_cap, name) ||
		    describe_places(snapshot, &capture->triggers[i], (uint32_t)i))
			return -ENOMEM;
	}
	if (describe_values(capture))
		return -ENOMEM;
	return config->path ? command_line_of_argv(config->argv, &snapshot->command)
			    : command_line_of_pids(config->pids, config->pid_cnt, &snapshot->command);
}

/*
 * As many files as the hard limit allows, which is the administrator's: the usual soft one of 1024 is too few
 * for a file for each process, or for each thread on each processor. Programs that are started would inherit
 * it: they get *ret_before.
 */
static void raise_file_limit(struct rlimit *ret_before)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	getrlimit(RLIMIT_NOFILE, &limit);
	*ret_before = limit;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* For one thread, and for the files that are written at the end. Probes need more, and say so themselves. */
enum { MORE_DESCRIPTORS = 11 };

int capture_set_up(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	int err;

	raise_file_limit(&capture->files);
	err = for_targets(capture, check_target);
	if (!err)
		err = capture_open_codes(capture);
	if (!err)
		err = capture_open_sources(capture);
	if (!err && !config->trigger_cnt)
		err = privilege_check_descriptors(MORE_DESCRIPTORS, "a recording");
	if (!err && capture_is_free_running(capture))
		idle_prepare(&capture->signals);
	if (!err)
		err = resolve_triggers(capture);
	if (!err)
		err = snapshot_new(&capture->snapshot);
	if (!err)
		err = describe(capture);
	if (!err)
		err = hit_stacks_new(&capture->stacks);
	if (!err)
		err = capture_open_session(capture);
	if (!err && config->path)
		err = start_program(capture);
	else if (!err && !seizes_late(capture))
		err = seize_targets(capture);
	/* Not before: a program that is started would inherit it. */
	memory_give_way();
	if (!err)
		err = set_filters(capture);
	if (!err)
		err = tell_stopped_by(capture);
	if (!err)
		err = attach_probes(capture);
	if (!err)
		err = for_targets(capture, verify_probes);
	if (!err && seizes_late(capture))
		err = seize_targets(capture);
	if (!err)
		err = sources_start(&capture->sources);
	/* Else the session says when. */
	if (!err && capture->set && capture_is_free_running(capture) && !config->start.spec)
		capture_heed_hits(capture);
	return err;
}
