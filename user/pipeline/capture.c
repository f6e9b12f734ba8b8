/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order matters. The program's process is made first, so that probes can be attached for it alone, and seized by the source
 * before it execs, so that nothing of it runs untraced or unprobed:
 *
 *	resolve names -> fork -> seize -> attach probes -> exec -> verify breakpoints -> run -> hit -> hold -> snapshot
 *	-> remove probes -> let go
 *
 * Whatever fails before exec takes the waiting child with it; after the snapshot the program is none of our business but
 * for its exit status. Targets that run already are seized first, too, which stops them, so that no hit comes before the trace does:
 *
 *	resolve names -> seize -> attach probes -> verify breakpoints -> run -> ...
 */
#include "pipeline/capture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "pipeline/command_line.h"
#include "pipeline/idle.h"
#include "pipeline/interrupt.h"
#include "pipeline/probe_map.h"
#include "pipeline/target_resolve.h"
#include "source/attach_check.h"
#include "source/launch.h"
#include "source/step.h"
#include "trigger/condition.h"

enum { SNAPSHOTS_DEFAULT = 100 };

struct capture {
	const struct capture_config *config;
	struct trigger *triggers; /* the user's, then that of step_from */
	size_t trigger_cnt;
	struct trigger_set *set; /* NULL without triggers */
	bool watching;		 /* the probes are in all processes, and the set is told which are targets */
	struct launch launch;
	struct step *step;
	FILE *step_log;
	struct snapshot *snapshot; /* under construction: holds the hits so far */
	struct probe_map probes;
	bool hit; /* to be followed by a snapshot */
	uint64_t hit_cnt;
	uint64_t snapshot_cnt;
	uint64_t bytes;	 /* in the snapshots */
	bool hit_before; /* an earlier snapshot has its hit */
	bool start_hit;
	bool target_gone; /* the program */
	int wait_status;
};

/* See trigger_config.stop_at. */
static uint64_t stop_at(const struct capture_until *until)
{
	return until->multi_snapshot ? 0 : until->max_hits ? until->max_hits : 1;
}

/* ---- hits ---- */

static int take_hit(void *ctx, const struct hit *hit)
{
	struct capture *capture = ctx;

	if (hit->action & HIT_START) {
		capture->start_hit = true;
		return 0;
	}
	capture->hit_cnt++;
	if (hit->action & HIT_STOP)
		capture->hit = true;
	return ARRAY_PUSH(capture->snapshot->hits, capture->snapshot->hit_cnt, capture->snapshot->hit_cap,
			  *hit);
}

static void take_hits(struct capture *capture)
{
	if (capture->set && trigger_set_pending(capture->set))
		trigger_set_read(capture->set, take_hit, capture);
}

static bool stop_wanted(void *ctx)
{
	struct capture *capture = ctx;

	uint64_t before = capture->hit_cnt;

	take_hits(capture);
	/* Where it was hit may be in a library that came late. */
	if (capture->hit_cnt != before && !step_started(capture->step) && step_look_at_maps(capture->step))
		log_debug("%s", fail_message(-ESRCH));
	return capture->hit || interrupt_pending();
}

/* ---- triggers that are no probes ---- */

/* Such a hit's trigger is a name of its own, behind those of the probes. */
static int add_event(struct capture *capture, const char *name, struct hit *hit)
{
	struct snapshot *snapshot = capture->snapshot;
	uint64_t nth = capture->hit_cnt + 1, max = stop_at(&capture->config->until);
	char *copy;

	for (hit->trigger = 0; hit->trigger < snapshot->trigger_cnt; hit->trigger++)
		if (hit->trigger >= capture->trigger_cnt && !strcmp(snapshot->triggers[hit->trigger], name))
			break;
	if (hit->trigger == snapshot->trigger_cnt) {
		copy = strdup(name);
		if (!copy ||
		    ARRAY_PUSH(snapshot->triggers, snapshot->trigger_cnt, snapshot->trigger_cap, copy)) {
			free(copy);
			return -ENOMEM;
		}
	}
	hit->action = max && nth != max ? HIT_RECORD : HIT_STOP;
	return take_hit(capture, hit);
}

static void signalled(void *ctx, int signal, const struct hit *hit)
{
	struct capture *capture = ctx;
	struct hit event = *hit;
	char name[32];

	snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(signal));
	take_hits(capture);
	add_event(capture, name, &event);
}

/* A target's end as a trigger. It is gone, so the hit has no registers. */
static void ended(void *ctx, pid_t pid, int wait_status)
{
	struct capture *capture = ctx;
	struct hit event = {.pid = (uint32_t)pid, .tid = (uint32_t)pid};
	struct timespec now;
	char name[32];

	take_hits(capture);
	if (capture->watching)
		trigger_set_unwatch(capture->set, pid);
	if (!WIFEXITED(wait_status) || !capture->config->until.statuses[WEXITSTATUS(wait_status)])
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	event.time_ns = event.begin_ns = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
	snprintf(name, sizeof(name), "exit %d", WEXITSTATUS(wait_status));
	add_event(capture, name, &event);
}

/* A child has become a target. */
static int adopted(void *ctx, pid_t pid)
{
	struct capture *capture = ctx;

	return capture->watching ? trigger_set_watch(capture->set, pid) : 0;
}

static bool start_wanted(void *ctx)
{
	struct capture *capture = ctx;

	take_hits(capture);
	return capture->start_hit;
}

/* ---- probes in the target's memory ---- */

static int mapped(void *ctx, pid_t pid, const struct sideband_mapping *mapping)
{
	struct capture *capture = ctx;
	/* Before the probes are attached there is nothing to verify. */
	int err = !capture->set ? 0 : probe_map_verify(&capture->probes, pid, mapping);

	if (err && step_instruction_cnt(capture->step)) {
		/* A library that came late: the program has run, and is not stopped for that. */
		log_warn("%s", fail_message(err));
		return 0;
	}
	return err;
}

static void unpatch(void *ctx, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
		    size_t size)
{
	const struct capture *capture = ctx;

	probe_map_unpatch(&capture->probes, mapping, addr, bytes, size);
}

/* ---- set-up ---- */

/* Programs that include trailcam.h say when what they mark began. */
static bool is_mark(const struct trigger *trigger)
{
	for (size_t i = 0; i < trigger->probe_cnt; i++)
		if (!strcmp(trigger->probes[i].symbol, "trailcam_snapshot_indicator"))
			return true;
	return false;
}

static int resolve_trigger(struct capture *capture, const struct trigger_request *request, uint32_t action)
{
	struct trigger *trigger = &capture->triggers[capture->trigger_cnt];
	const struct capture_config *config = capture->config;
	int err = config->path
			  ? trigger_resolve(trigger, request->spec, config->path, action)
			  : target_resolve(trigger, request->spec, config->pids, config->pid_cnt, action);

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
	err = request->when ? condition_parse(&trigger->rule.condition, request->when) : 0;
	return err ? err : trigger_check_rule(trigger);
}

static int resolve_triggers(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	size_t cnt = config->trigger_cnt + (config->step_from ? 1 : 0);
	int err = 0;

	capture->triggers = calloc(cnt + 1, sizeof(*capture->triggers));
	if (!capture->triggers)
		return -ENOMEM;
	for (size_t i = 0; i < config->trigger_cnt && !err; i++)
		err = resolve_trigger(capture, &config->triggers[i], HIT_STOP);
	if (!err && config->step_from) {
		struct trigger_request start = {.spec = config->step_from};

		err = resolve_trigger(capture, &start, HIT_START);
	}
	capture->probes =
		(struct probe_map){.triggers = capture->triggers, .trigger_cnt = capture->trigger_cnt};
	return err;
}

static int check_source(enum capture_source source)
{
	static const char pmu[] = "/sys/bus/event_source/devices/intel_pt/type";
	struct stat st;
	bool here = !stat(pmu, &st);

	if (source != CAPTURE_INTEL_PT)
		return 0;
	if (!here)
		return fail(-ENOTSUP,
			    "this machine has no Intel PT (%s is missing: another processor, a virtual "
			    "machine, or the "
			    "kernel lacks the driver); use --source step",
			    pmu);
	return fail(-ENOTSUP, "the intel_pt source is not part of this version; use --source step");
}

static int open_step_log(struct capture *capture)
{
	if (!capture->config->step_log)
		return 0;
	capture->step_log = fopen(capture->config->step_log, "we");
	if (!capture->step_log)
		return fail_errno(-errno, "cannot write the step log %s", capture->config->step_log);
	return 0;
}

/* Without a source the targets run at full speed, and the hit has to be heard of. */
static void idle(void *ctx)
{
	struct capture *capture = ctx;

	idle_wait(capture->set, capture->config->until.spin);
}

static int open_source(struct capture *capture)
{
	struct step_config config = {
		.signals = capture->config->until.signals,
		.signalled = signalled,
		.ring_size = capture->config->ring_size,
		.follow_forks = capture->config->follow_forks,
		.wait_for_start = capture->config->step_from || capture->config->source == CAPTURE_NONE,
		.idle = capture->config->source == CAPTURE_NONE ? idle : NULL,
		.overflow_every = capture->config->step_overflow,
		.log = capture->step_log,
		.code = {.unpatch = unpatch, .ctx = capture},
		.start_wanted = start_wanted,
		.stop_wanted = stop_wanted,
		.mapped = mapped,
		.adopted = adopted,
		.ended = ended,
		.ctx = capture,
	};

	return step_new(&capture->step, &config);
}

static int start_program(struct capture *capture)
{
	int err = launch_prepare(&capture->launch, capture->config->path, capture->config->argv);

	return err ? err : step_launch(capture->step, capture->launch.pid);
}

static int for_targets(struct capture *capture, int (*fn)(struct capture *capture, pid_t pid))
{
	int err = 0;

	for (size_t i = 0; i < capture->config->pid_cnt && !err; i++)
		err = fn(capture, capture->config->pids[i]);
	return err;
}

static int check_target(struct capture *capture, pid_t pid)
{
	(void)capture;
	return attach_check(pid);
}

static int seize_target(struct capture *capture, pid_t pid)
{
	return step_attach(capture->step, pid);
}

static int watch_target(struct capture *capture, pid_t pid)
{
	return trigger_set_watch(capture->set, pid);
}

/* What was mapped before the probes were there. */
static int verify_probes(struct capture *capture, pid_t pid)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int err = maps_read(&maps, pid);

	for (size_t i = 0; i < maps.cnt && !err; i++)
		err = probe_map_verify(&capture->probes, pid, &maps.items[i].mapping);
	return err;
}

/* The one process whose probes hit; 0: there may be several. */
static pid_t only_target(const struct capture *capture)
{
	const struct capture_config *config = capture->config;

	if (config->follow_forks || config->pid_cnt > 1)
		return 0;
	return config->path ? capture->launch.pid : config->pids[0];
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
		.pid = only_target(capture),
		.link = capture->config->link,
		.freeze = capture->config->until.freeze && capture->config->source == CAPTURE_NONE,
		.stop_at = stop_at(&capture->config->until),
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

/* A thread that is single-stepped stops behind the probed instruction anyway. */
static const char *stopped_by(const struct capture_config *config)
{
	if (config->source != CAPTURE_NONE)
		return "single-stepping";
	if (config->until.freeze)
		return "SIGSTOP from BPF (--freeze)";
	return config->until.spin ? "a spinning reader (--spin)" : "a reader that was woken";
}

/* Trigger names and the command line: what people want to read in the trace. */
static int describe(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	struct snapshot *snapshot = capture->snapshot;

	for (size_t i = 0; i < capture->trigger_cnt; i++) {
		char *name = strdup(capture->triggers[i].name);

		if (!name ||
		    ARRAY_PUSH(snapshot->triggers, snapshot->trigger_cnt, snapshot->trigger_cap, name))
			return -ENOMEM;
	}
	snapshot->stopped_by = strdup(stopped_by(config));
	if (!snapshot->stopped_by)
		return -ENOMEM;
	return config->path ? command_line_of_argv(config->argv, &snapshot->command)
			    : command_line_of_pids(config->pids, config->pid_cnt, &snapshot->command);
}

int capture_new(struct capture **ret_capture, const struct capture_config *config)
{
	CLEANUP(capture_freep) struct capture *capture = calloc(1, sizeof(*capture));
	int err;

	if (!capture)
		return -ENOMEM;
	capture->config = config;
	if (config->source == CAPTURE_NONE)
		idle_prepare();
	capture->launch = (struct launch){.go_fd = -1, .err_fd = -1};
	err = check_source(config->source);
	if (!err)
		err = for_targets(capture, check_target);
	if (!err)
		err = resolve_triggers(capture);
	if (!err)
		err = snapshot_new(&capture->snapshot);
	if (!err)
		err = describe(capture);
	if (!err)
		err = open_step_log(capture);
	if (!err)
		err = open_source(capture);
	if (!err)
		err = config->path ? start_program(capture) : for_targets(capture, seize_target);
	if (!err)
		err = attach_probes(capture);
	if (!err)
		err = for_targets(capture, verify_probes);
	if (err)
		return err;
	*ret_capture = TAKE_PTR(capture);
	return 0;
}

/* ---- the run ---- */

/* The program could not be run, or a probe cannot work: nothing of it has run yet, so nothing is lost by ending it. Others go on. */
static int abandon(struct capture *capture, int err)
{
	if (capture->set)
		trigger_set_detach(capture->set);
	if (!capture->config->path) {
		step_detach(capture->step);
		return err;
	}
	kill(capture->launch.pid, SIGKILL);
	step_detach(capture->step);
	if (!capture->target_gone)
		waitpid(capture->launch.pid, NULL, __WALL);
	capture->target_gone = true;
	return err;
}

/* Nothing is overwritten any more: says so in the hits that this is for. */
static void mark_stopped(struct capture *capture)
{
	struct snapshot *snapshot = capture->snapshot;
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
	for (size_t i = snapshot->hit_cnt; i-- && !snapshot->hits[i].stopped_ns;) {
		struct hit *hit = &snapshot->hits[i];

		if (!(hit->action & HIT_STOP))
			continue;
		hit->stopped_ns = ns;
		log_debug("hit %s: the trace was stopped by %s, %llu ns after it",
			  snapshot->triggers[hit->trigger], snapshot->stopped_by,
			  (unsigned long long)(ns - hit->time_ns));
	}
}

/* One more snapshot; *ret_more: the recording goes on. */
static int take_snapshot(struct capture *capture, bool *ret_more)
{
	const struct capture_until *until = &capture->config->until;
	struct snapshot *snapshot = capture->snapshot;
	size_t first = snapshot->aux_cnt;
	uint64_t max = until->max_hits ? until->max_hits : SNAPSHOTS_DEFAULT;
	int err;

	mark_stopped(capture);
	err = step_snapshot(capture->step, snapshot);
	if (err)
		return err;
	for (size_t i = first; i < snapshot->aux_cnt; i++)
		capture->bytes += snapshot->aux[i].size;
	capture->snapshot_cnt++;
	*ret_more =
		until->multi_snapshot && capture->hit && !interrupt_pending() && capture->snapshot_cnt < max;
	if (*ret_more && capture->bytes > capture->config->max_bytes) {
		log_warn("%llu snapshots have filled the room of %zu MiB there is for them: the recording "
			 "ends here",
			 (unsigned long long)capture->snapshot_cnt, capture->config->max_bytes >> 20);
		*ret_more = false;
	}
	return 0;
}

/* Runs the program from snapshot to snapshot. */
static int run(struct capture *capture, enum step_end *ret_end)
{
	bool more = true;

	while (more) {
		int err = step_run(capture->step, ret_end);

		if (err)
			return err;
		take_hits(capture);
		if (*ret_end == STEP_EXITED)
			return take_snapshot(capture, &more);
		err = take_snapshot(capture, &more);
		if (err)
			return err;
		if (more) {
			capture->hit = false;
			capture->hit_before = true;
		}
	}
	return 0;
}

static int finish(struct capture *capture, bool exited)
{
	int err = step_describe(capture->step, capture->snapshot);

	/* Hits after the one that ended the recording are no part of it; there are none, the thread was held. */
	trigger_set_free(capture->set);
	capture->set = NULL;
	step_detach(capture->step);
	if (exited) {
		capture->target_gone = true;
		capture->wait_status = step_wait_status(capture->step);
		interrupt_target_gone();
	}
	if (capture->step_log && (fflush(capture->step_log) || ferror(capture->step_log)))
		return fail_errno(-errno, "cannot write the step log %s", capture->config->step_log);
	return err;
}

/* What a user would otherwise wonder about. */
static void report_counts(const struct capture *capture)
{
	uint64_t lost = capture->set ? trigger_set_lost(capture->set) : 0;

	if (lost)
		log_warn("%llu hits were lost: they came faster than they could be read",
			 (unsigned long long)lost);
	for (size_t i = 0; capture->set && i < capture->trigger_cnt; i++) {
		struct trigger_counts counts = trigger_set_counts(capture->set, i);

		if (counts.unreadable)
			log_warn("%llu times the condition of %s could not be judged: it reads memory that "
				 "is not there",
				 (unsigned long long)counts.unreadable, capture->triggers[i].name);
		if (counts.limited)
			log_say("%llu hits of %s were left out: they came within --every of another",
				(unsigned long long)counts.limited, capture->triggers[i].name);
	}
}

int capture_run(struct capture *capture, struct snapshot **ret_snapshot, enum capture_end *ret_end,
		bool *ret_exec_failed)
{
	enum step_end end;
	int err;

	*ret_exec_failed = false;
	interrupt_watch(capture->launch.pid);
	if (capture->config->path)
		launch_go(&capture->launch);
	err = run(capture, &end);
	if (err)
		return abandon(capture, err);
	capture->target_gone = end == STEP_EXITED;
	err = end == STEP_EXITED && capture->config->path
		      ? launch_error(&capture->launch, capture->config->path)
		      : 0;
	if (err) {
		*ret_exec_failed = true;
		return abandon(capture, err);
	}
	report_counts(capture);
	err = finish(capture, end == STEP_EXITED);
	if (err)
		return err;
	if (capture->config->step_from && !step_started(capture->step))
		log_warn("the start point %s was never reached: nothing was traced",
			 capture->config->step_from);
	log_debug("%llu instructions stepped", (unsigned long long)step_instruction_cnt(capture->step));
	*ret_end = capture->hit || capture->hit_before ? CAPTURE_HIT
		   : end == STEP_EXITED		       ? CAPTURE_EXITED
						       : CAPTURE_INTERRUPTED;
	*ret_snapshot = TAKE_PTR(capture->snapshot);
	return 0;
}

uint64_t capture_snapshot_cnt(const struct capture *capture)
{
	return capture->snapshot_cnt;
}

int capture_wait(struct capture *capture)
{
	while (!capture->target_gone) {
		pid_t pid = waitpid(capture->launch.pid, &capture->wait_status, __WALL);

		if (pid < 0 && errno == EINTR)
			continue;
		capture->target_gone = true;
		interrupt_target_gone();
	}
	return capture->wait_status;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	trigger_set_free(capture->set);
	step_free(capture->step);
	launch_release(&capture->launch);
	for (size_t i = 0; i < capture->trigger_cnt; i++)
		trigger_release(&capture->triggers[i]);
	free(capture->triggers);
	snapshot_free(capture->snapshot);
	fclosep(&capture->step_log);
	free(capture);
}
