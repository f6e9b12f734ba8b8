/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order matters. The program's process is created first, so that probes can be attached to it alone. It
 * is seized before its exec, so that none of its code runs untraced or without probes:
 *
 * 	resolve names -> fork -> seize -> attach probes -> exec -> verify breakpoints -> run -> hit -> hold ->
 * 	snapshot -> remove probes -> let go
 *
 * A failure before the exec also ends the waiting child. After the snapshot only the program's exit status
 * matters. Running targets are seized first, too, and their hits are ignored until the sources record, so
 * that no hit comes before the trace:
 *
 * 	resolve names -> seize -> attach probes -> verify breakpoints -> record -> heed hits -> run -> ...
 */
#include "capture/capture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "capture/capture_internal.h"
#include "capture/interrupt.h"
#include "image/binaries.h"
#include "process/vdso.h"
#include "source/encoder_snapshot.h"

enum { SNAPSHOTS_DEFAULT = 100 };

int capture_new(struct capture **ret_capture, const struct capture_config *config)
{
	CLEANUP(capture_freep) struct capture *capture = calloc(1, sizeof(*capture));
	int err;

	if (!capture)
		return -ENOMEM;
	capture->config = config;
	capture->launch = (struct launch){.go_fd = -1, .err_fd = -1};
	err = capture_set_up(capture);
	if (err)
		return err;
	*ret_capture = TAKE_PTR(capture);
	return 0;
}

/* ---- the run ---- */

/*
 * The program could not be executed, or a probe cannot work: it has not run yet, so nothing is lost by ending
 * it. What has run goes on, without us.
 */
static int abandon(struct capture *capture, int err)
{
	bool kills = capture->config->path && !capture->has_run;

	if (capture->set)
		trigger_set_detach(capture->set);
	if (kills)
		kill(capture->launch.pid, SIGKILL);
	else if (capture->config->path)
		log_warn("the recording ends here: %s", fail_message(err));
	session_detach(capture->session);
	if (capture->config->path)
		capture_wait(capture);
	if (kills)
		capture->wait_status = 0;
	return err;
}

/*
 * Whether the hit itself, or the processor, ended the trace, so that no instruction follows it. Hits by
 * signals and exits cannot do that.
 */
static bool is_paused(const struct capture *capture, const struct hit *hit)
{
	return (sources_pause(&capture->sources) || capture->trace_stops) &&
	       hit->trigger < capture->trigger_cnt;
}

/*
 * The rings are frozen: marks the hits that caused it. Where the source goes on meanwhile, hits that came
 * since belong to the same snapshot.
 */
static void mark_stopped(struct capture *capture)
{
	struct snapshot *snapshot = capture->snapshot;
	size_t cnt = snapshot->hits->cnt;
	uint64_t ns = capture->held_ns	    ? capture->held_ns
		      : capture->stopped_ns ? capture->stopped_ns
					    : clock_kernel_ns();

	if (cnt && !snapshot->hits->hits[cnt - 1]->stopped_ns && snapshot->hits->hits[cnt - 1]->time_ns > ns)
		ns = snapshot->hits->hits[cnt - 1]->time_ns;
	for (size_t i = cnt; i-- && !snapshot->hits->hits[i]->stopped_ns;) {
		struct hit *hit = snapshot->hits->hits[i];

		if (!(hit->action & HIT_STOP))
			continue;
		hit->stopped_ns = is_paused(capture, hit) || ns < hit->time_ns ? hit->time_ns : ns;
		log_debug("hit %s: the trace was stopped by %s, %llu ns after it",
			  snapshot->triggers[hit->trigger], snapshot->stopped_by,
			  (unsigned long long)(hit->stopped_ns - hit->time_ns));
	}
}

/* The bytes that are held in memory and written at the end. */
static uint64_t snapshot_bytes(const struct capture *capture)
{
	const struct snapshot *snapshot = capture->snapshot;

	return capture->aux_bytes + capture->counted_cnt * sizeof(*snapshot->aux) + capture->sample_bytes +
	       stack_pool_bytes(&snapshot->stacks) + hit_list_bytes(snapshot->hits) + snapshot->sideband_size;
}

static int keep_code(struct capture *capture)
{
	bool is_driven = session_started(capture->session) && !capture_is_free_running(capture);
	uint64_t now = is_driven ? 0 : session_now(capture->session);
	int err = code_stores_export(capture->codes, now, capture->snapshot);

	return err ? err : code_stores_keep_files(capture->codes, 0, capture->snapshot);
}

static int take_session(struct capture *capture)
{
	return sources_can(&capture->sources, SOURCE_RECORDS)
		       ? 0
		       : session_take(capture->session, capture->snapshot);
}

/*
 * Targets that run freely are let go before what was recorded is read, which may take a second: until then
 * their signals and births wait for us. Allocators keep their probes until describe().
 */
static int let_go_early(struct capture *capture)
{
	int err;

	if (!capture_is_free_running(capture) || sources_can(&capture->sources, SOURCE_PROBES))
		return 0;
	err = take_session(capture);
	if (!err)
		err = session_look_at_maps(capture->session);
	if (!err)
		err = keep_code(capture);
	if (err)
		return err;
	if (capture->set)
		trigger_set_silence(capture->set);
	session_detach(capture->session);
	capture->let_go = true;
	return 0;
}

/* What the targets have mapped and the code they run, as they are now. */
static int keep_last(struct capture *capture)
{
	int err = session_look_at_maps(capture->session);

	return err ? err : keep_code(capture);
}

/*
 * Held targets are let go as soon as nothing is left to be read of them, and do not wait until the kernel has
 * removed the probes; running ones might still be stopped by one.
 */
static int let_held_go(struct capture *capture)
{
	int err;

	if (capture_is_free_running(capture) || sources_can(&capture->sources, SOURCE_PROBES))
		return 0;
	err = keep_last(capture);
	if (capture->set)
		trigger_set_silence(capture->set);
	session_detach(capture->session);
	capture->let_go = true;
	return err;
}

/* Whether one more snapshot is wanted. */
static bool goes_on(struct capture *capture)
{
	const struct capture_until *until = &capture->config->until;
	uint64_t max = until->max_hits ? until->max_hits : SNAPSHOTS_DEFAULT;

	return until->multi_snapshot && capture->hit && !interrupt_pending() && !capture_is_over(capture) &&
	       capture->snapshot_cnt < max;
}

/* Those that are there. */
static void count_aux(struct capture *capture)
{
	const struct snapshot *snapshot = capture->snapshot;

	while (capture->counted_cnt < snapshot->aux_cnt)
		capture->aux_bytes += snapshot->aux[capture->counted_cnt++].size;
	while (capture->counted_sample_cnt < snapshot->sample_cnt) {
		const struct stack_sample *sample = &snapshot->samples[capture->counted_sample_cnt++];

		capture->sample_bytes += sizeof(*sample) + sample->ip_cnt * sizeof(*sample->ips) +
					 (sample->regs ? HIT_REG_CNT * sizeof(*sample->regs) : 0) +
					 (sample->pool ? 0 : sample->stack_size);
	}
}

/* One more snapshot; *ret_more: the recording goes on. */
static int take_snapshot(struct capture *capture, bool exited, bool *ret_more)
{
	struct snapshot *snapshot = capture->snapshot;
	bool took_session;
	int err;

	err = capture->stopped_ns ? 0 : sources_stop(&capture->sources, -1);
	count_aux(capture);
	mark_stopped(capture);
	capture->snapshot_cnt++;
	*ret_more = !exited && goes_on(capture);
	if (!*ret_more)
		sources_end(&capture->sources);
	if (!err && !exited && !*ret_more)
		err = let_go_early(capture);
	if (!err)
		err = sources_take(&capture->sources, snapshot);
	took_session = capture->let_go;
	if (!err && !exited && !*ret_more)
		err = let_held_go(capture);
	if (!err && !took_session)
		err = take_session(capture);
	if (err)
		return err;
	if (!sources_can(&capture->sources, SOURCE_TAKES_ON))
		count_aux(capture);
	if (*ret_more && snapshot_bytes(capture) > capture->config->max_bytes) {
		log_warn("%llu snapshots have reached --max-size (%zu KiB): the recording ends here",
			 (unsigned long long)capture->snapshot_cnt, capture->config->max_bytes >> 10);
		*ret_more = false;
	}
	return 0;
}

/* The start point is armed again; until it is reached the targets run at full speed. */
static void wait_for_start(struct capture *capture)
{
	if (!capture->config->start.spec)
		return;
	trigger_set_hold(capture->set, true);
	capture_take_hits(capture);
	capture->hit = capture->start_hit = false;
	session_rest(capture->session);
}

/* Runs the program from snapshot to snapshot. */
static int run(struct capture *capture, enum session_end *ret_end)
{
	bool more = true;

	while (more) {
		int err = session_run(capture->session, ret_end);

		if (err)
			return err;
		capture_take_hits(capture);
		if (capture->err)
			return capture->err;
		err = take_snapshot(capture, *ret_end == SESSION_EXITED, &more);
		if (err || *ret_end == SESSION_EXITED)
			return err;
		if (more) {
			capture->hit = false;
			capture->hit_before = true;
			capture->stopped_ns = capture->held_ns = 0;
			wait_for_start(capture);
			err = sources_start(&capture->sources);
			if (err)
				return err;
		}
	}
	return 0;
}

static bool any_stopped(const struct hit_list *hits)
{
	for (size_t i = 0; i < hits->cnt; i++)
		if (hits->hits[i]->stopped_ns)
			return true;
	return false;
}

/* The hit that stops the trace is told of; something else may have ended it, or what came after hits. */
static int tell_what_ended(const struct capture *capture, bool exited)
{
	struct snapshot *snapshot = capture->snapshot;
	const char *end = exited		? "the end of the targets"
			  : interrupt_pending() ? "a signal to trailcam"
			  : capture->timed_out	? "--duration"
			  : capture->stalled	? "--max-stall"
			  : capture->cramped	? "the memory limit of a target"
						: "--max-size";
	char *both;

	if (!any_stopped(snapshot->hits)) {
		snapshot->stopped_by[0] = '\0';
		return 0;
	}
	if (capture->hit)
		return 0;
	if (asprintf(&both, "%s at each hit, then %s", snapshot->stopped_by, end) < 0)
		return -ENOMEM;
	free(snapshot->stopped_by);
	snapshot->stopped_by = both;
	return 0;
}

static int describe(struct capture *capture, bool exited)
{
	struct snapshot *snapshot = capture->snapshot;
	int err = 0;

	if (!sources_can(&capture->sources, SOURCE_RECORDS)) {
		encoder_describe(snapshot, session_now(capture->session));
		err = vdso_add_own(snapshot);
	}
	if (!err)
		err = sources_describe(&capture->sources, snapshot);
	if (!err)
		err = tell_what_ended(capture, exited);
	if (!err && !snapshot->source)
		snapshot->source = strdup(sources_name(&capture->sources));
	return err || snapshot->source ? err : -ENOMEM;
}

static int finish(struct capture *capture, bool exited)
{
	int err = capture->let_go ? 0 : let_held_go(capture);

	if (!err)
		err = describe(capture, exited);
	if (!err && !capture->let_go)
		err = keep_last(capture);
	if (!err)
		err = binaries_note_build_ids(capture->snapshot);
	if (!capture->let_go) {
		trigger_set_free(capture->set);
		capture->set = NULL;
	}
	session_detach(capture->session);
	if (exited) {
		capture->target_gone = true;
		capture->wait_status = session_wait_status(capture->session);
		interrupt_target_gone();
	}
	return err;
}

/* Warnings about what the user would otherwise have to guess. */
static void report_counts(const struct capture *capture)
{
	uint64_t lost = capture->set ? trigger_set_lost(capture->set) : 0,
		 forgotten = session_forgotten_cnt(capture->session);

	if (forgotten)
		log_warn("%llu threads and processes ended so early that their names and code are not kept: "
			 "what is left of their samples is [unknown]",
			 (unsigned long long)forgotten);
	if (lost)
		log_warn("%llu hits were lost: they came faster than trailcam reads them; --every, --skip "
			 "or a stricter --when lets fewer through",
			 (unsigned long long)lost);
	for (size_t i = 0; capture->set && i < capture->trigger_cnt; i++) {
		struct trigger_counts counts = trigger_set_counts(capture->set, i);

		if (counts.unreadable)
			log_warn("%llu times the condition of %s could not be evaluated: it reads memory "
				 "that is not there; test the pointer first, as in 'arg0 && *arg0 == 1'",
				 (unsigned long long)counts.unreadable, capture->triggers[i].name);
		if (counts.without_result)
			log_warn("%llu calls of %s ended in a tail call that trailcam cannot follow: their "
				 "return value is unknown, so the condition was not evaluated",
				 (unsigned long long)counts.without_result, capture->triggers[i].name);
		if (counts.without_call)
			log_say("%llu call%s of %s began before trailcam watched the function: how long "
				"they took is unknown",
				(unsigned long long)counts.without_call, counts.without_call == 1 ? "" : "s",
				capture->triggers[i].name);
		if (counts.limited)
			log_say("%llu hits of %s were left out: they came within --every of another",
				(unsigned long long)counts.limited, capture->triggers[i].name);
	}
}

int capture_run(struct capture *capture, struct snapshot **ret_snapshot, enum capture_end *ret_end,
		bool *ret_exec_failed)
{
	enum session_end end;
	int err;

	*ret_exec_failed = false;
	interrupt_watch(capture->launch.pid);
	if (capture->config->path)
		launch_go(&capture->launch);
	capture_begin_limits(capture);
	err = run(capture, &end);
	capture_end_limits();
	if (err)
		return abandon(capture, err);
	err = end == SESSION_EXITED && capture->config->path
		      ? launch_error(&capture->launch, capture->config->path)
		      : 0;
	if (err) {
		*ret_exec_failed = true;
		return abandon(capture, err);
	}
	report_counts(capture);
	err = finish(capture, end == SESSION_EXITED);
	if (err)
		return err;
	if (capture->config->start.spec && !capture->was_started)
		log_warn("the start point %s was never reached: nothing was traced",
			 capture->config->start.spec);
	if (!capture_is_free_running(capture))
		log_debug("%llu instructions stepped",
			  (unsigned long long)sources_instruction_cnt(&capture->sources));
	*ret_end = capture->hit || capture->hit_before ? CAPTURE_HIT
		   : end == SESSION_EXITED	       ? CAPTURE_EXITED
		   : capture->stalled		       ? CAPTURE_STALLED
		   : capture->timed_out		       ? CAPTURE_TIMED_OUT
		   : capture->cramped		       ? CAPTURE_CRAMPED
						       : CAPTURE_INTERRUPTED;
	*ret_snapshot = TAKE_PTR(capture->snapshot);
	return 0;
}

bool capture_has_others(const struct capture *capture)
{
	return session_has_others(capture->session);
}

pid_t capture_parent_of_others(const struct capture *capture)
{
	return session_parent_of_others(capture->session);
}

struct capture_stall capture_stall(const struct capture *capture)
{
	const struct session *session = capture->session;

	return (struct capture_stall){.held_ns = session_stalled_ns(session),
				      .thread_cnt = session_gathered_cnt(session),
				      .is_cut = session_is_cut(session)};
}

uint64_t capture_snapshot_cnt(const struct capture *capture)
{
	return capture->snapshot_cnt;
}

int capture_wait(struct capture *capture)
{
	if (!capture->target_gone) {
		capture->wait_status = session_wait_end(capture->session);
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
	session_free(capture->session);
	sources_close(&capture->sources);
	code_stores_free(capture->codes);
	idle_restore(&capture->signals);
	launch_release(&capture->launch);
	for (size_t i = 0; i < capture->trigger_cnt; i++)
		trigger_release(&capture->triggers[i]);
	free(capture->triggers);
	filters_release(&capture->filters);
	free(capture->goids);
	hit_stacks_free(capture->stacks);
	snapshot_free(capture->snapshot);
	free(capture);
}
