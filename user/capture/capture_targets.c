/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The callbacks of the session (session/session.h): passes events of the targets on to the probes, the stacks
 * of hits and the sources.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "capture/capture_internal.h"
#include "capture/idle.h"
#include "capture/interrupt.h"
#include "process/attach_check.h"

pid_t capture_only_target(const struct capture *capture)
{
	const struct capture_config *config = capture->config;

	if (config->options.follow_forks || config->pid_cnt > 1)
		return 0;
	return config->path ? capture->launch.pid : config->pids[0];
}

/* ---- targets ---- */

/* A child has become a target. */
static int adopted(void *ctx, pid_t pid)
{
	struct capture *capture = ctx;

	return capture->watching ? trigger_set_watch(capture->set, pid) : 0;
}

static void warn_of_32_bit(struct capture *capture, pid_t pid)
{
	int err = 0;

	if (!capture->left_out && sources_can(&capture->sources, SOURCE_ONLY_64_BIT))
		err = attach_check_machine(pid);
	if (err)
		log_warn("%s: of it, and of others of that kind, only waits are shown, without reasons",
			 fail_message(err));
	capture->left_out |= err != 0;
}

static int executed(void *ctx, pid_t pid, bool replaced)
{
	struct capture *capture = ctx;
	int err;

	capture_say_source(capture);
	capture->executed = true;
	warn_of_32_bit(capture, pid);
	if (!replaced || !capture->set || pid != capture_only_target(capture))
		return 0;
	err = trigger_set_follow(capture->set);
	if (!err && capture->hears)
		log_warn("a thread of process %d that is not its first has executed a program: hits in the "
			 "first moments of that were not seen",
			 (int)pid);
	return err;
}

static void released(void *ctx, pid_t pid)
{
	struct capture *capture = ctx;
	int err = code_stores_end(capture->codes, pid);

	if (!capture->err)
		capture->err = err;
	if (!capture->released)
		log_say("process %d is traced by the program itself: trailcam does not record it, nor "
			"others of that kind",
			(int)pid);
	capture->released = true;
	if (capture->watching)
		trigger_set_unwatch(capture->set, pid);
	sources_drop(&capture->sources, pid);
}

static int verify(struct capture *capture, pid_t pid, const struct sideband_mapping *mapping)
{
	/* Without attached probes there is nothing to verify. */
	int err = !capture->set ? 0 : probe_map_verify(&capture->probes, pid, mapping);

	if (!err || !sources_instruction_cnt(&capture->sources))
		return err;
	/* A library that was loaded late: the program is running, and is not stopped for this. */
	log_warn("%s", fail_message(err));
	return 0;
}

static int mapped(void *ctx, pid_t pid, const struct maps *before, const struct maps *now, bool all_new)
{
	struct capture *capture = ctx;
	int err = 0;

	for (size_t i = 0; i < now->cnt && !err; i++) {
		if (!all_new && maps_has(before, &now->items[i]))
			continue;
		err = hit_stacks_map(capture->stacks, pid, &now->items[i].mapping);
		if (!err)
			err = verify(capture, pid, &now->items[i].mapping);
	}
	return err ? err : code_stores_set_maps(capture->codes, pid, before, now);
}

static int leaving(void *ctx, pid_t pid)
{
	struct capture *capture = ctx;
	int err = code_stores_keep_private(capture->codes, pid, session_now(capture->session));

	return err ? err : code_stores_keep_files(capture->codes, pid, capture->snapshot);
}

static void unpatch(void *ctx, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
		    size_t size)
{
	const struct capture *capture = ctx;

	probe_map_unpatch(&capture->probes, mapping, addr, bytes, size);
	sources_unpatch(&capture->sources, mapping, addr, bytes, size);
}

/* ---- what sources tell the session ---- */

static int hear(void *ctx, const struct thread_life *life)
{
	const struct capture *capture = ctx;

	return session_hear(capture->session, life);
}

static void catch_up(void *ctx)
{
	struct capture *capture = ctx;
	int err = sources_lives(&capture->sources, hear, capture);

	if (err && err != -ENOTSUP && !capture->err)
		capture->err = err;
}

/* ---- waiting ---- */

static int sooner(int a_ms, int b_ms)
{
	return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

/* The rings must be drained in time, and what is mapped meanwhile must be known. */
static int idle_ms(struct capture *capture)
{
	enum { READY_MS = 20 };
	bool looks = sources_can(&capture->sources, SOURCE_LOOKS_BACK) &&
		     !sources_can(&capture->sources, SOURCE_RECORDS);
	int ms = sources_drain_ms(&capture->sources), next_ms = -1;
	int err = looks ? session_look_now_and_then(capture->session, &next_ms) : 0;

	if (err && !capture->err)
		capture->err = err;
	if (capture->heeds_soon)
		next_ms = sooner(next_ms, READY_MS);
	return sooner(ms >= 0 ? ms : capture_patience_ms(capture), next_ms);
}

static void heed_if_ready(struct capture *capture)
{
	if (!capture->heeds_soon || !sources_are_ready(&capture->sources))
		return;
	capture->heeds_soon = false;
	trigger_set_hold(capture->set, false);
}

void capture_heed_hits(struct capture *capture)
{
	capture->heeds_soon = capture->set;
	heed_if_ready(capture);
}

/* Only once, when the end is first noticed. */
static void stop_sources(struct capture *capture)
{
	const struct snapshot *snapshot = capture->snapshot;
	int err;

	if ((!capture->hit && !interrupt_pending()) || capture->stopped_ns)
		return;
	err = sources_stop(&capture->sources,
			   capture->hit ? (int)snapshot->hits->hits[snapshot->hits->cnt - 1]->cpu : -1);
	if (err)
		log_warn("%s", fail_message(err));
	capture->stopped_ns = clock_kernel_ns();
}

/* The targets run at full speed. What led to the hit must be stopped before it is overwritten. */
static void idle(void *ctx)
{
	struct capture *capture = ctx;

	heed_if_ready(capture);
	idle_wait(capture->set, sources_fd(&capture->sources), capture->config->until.spin, idle_ms(capture));
	if (sources_can_stop(&capture->sources)) {
		capture_take_hits(capture);
		stop_sources(capture);
	}
	capture_drain(capture);
	catch_up(capture);
	if (!capture->out_of_room && sources_kept_bytes(&capture->sources) > capture->config->max_bytes) {
		capture->out_of_room = true;
		log_warn("the trace has reached --max-size (%zu KiB): the recording ends here",
			 capture->config->max_bytes >> 10);
	}
}

/* ---- all of it ---- */

/* Hits before the start do not belong to the trace. */
static void started(void *ctx)
{
	struct capture *capture = ctx;

	capture->was_started = true;
	log_debug("all threads are held: the recording begins");
	capture_heed_hits(capture);
}

static int born(void *ctx, pid_t pid, pid_t tid)
{
	struct capture *capture = ctx;

	return sources_newborn(&capture->sources, pid, tid);
}

bool capture_wants_lives(const struct capture_config *config)
{
	return !config->options.follow_forks && !config->until.freeze && !config->start.spec &&
	       !config->until.signals && !config->untraced;
}

int capture_open_codes(struct capture *capture)
{
	const struct code_store_config config = {.unpatch = unpatch, .ctx = capture};

	return code_stores_new(&capture->codes, &config);
}

int capture_open_session(struct capture *capture)
{
	static const struct session_events events = {
		.idle = idle,
		.stop_wanted = capture_stop_wanted,
		.start_wanted = capture_start_wanted,
		.started = started,
		.mapped = mapped,
		.executed = executed,
		.adopted = adopted,
		.born = born,
		.leaving = leaving,
		.released = released,
		.ended = capture_ended,
		.signalled = capture_signalled,
		.catch_up = catch_up,
	};
	const struct capture_config *config = capture->config;
	struct session_config session = {
		.follow_forks = config->options.follow_forks,
		.hits_stop = capture_freezes(capture) || config->start.spec,
		.free_running = capture_is_free_running(capture),
		.untraced = config->untraced,
		.wait_for_start = config->start.spec,
		.signals = config->until.signals,
		.events = &events,
		.ctx = capture,
	};

	session.driver = sources_driver(&capture->sources, &session.self);
	session.leaders_only = capture_wants_lives(config) && !session.hits_stop && session.free_running &&
			       !session.driver && !sources_lives(&capture->sources, NULL, NULL);
	capture->hears = session.leaders_only;
	return session_new(&capture->session, &session);
}
