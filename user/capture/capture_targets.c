/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of the targets while they are held or watched: who holds them (source/step/step.h) tells it,
 * and it goes on to the probes, the stacks of hits and the sources.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "capture/capture_internal.h"
#include "capture/idle.h"
#include "capture/interrupt.h"

enum { RING_SIZE_DEFAULT = 4 << 20 };

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

static int executed(void *ctx, pid_t pid, bool replaced)
{
	struct capture *capture = ctx;

	capture_warn_of_stepping(capture);
	return replaced && capture->set && pid == capture_only_target(capture)
		       ? trigger_set_follow(capture->set)
		       : 0;
}

static void released(void *ctx, pid_t pid)
{
	struct capture *capture = ctx;

	if (!capture->released)
		log_say("process %d is traced by the program itself: trailcam does not record it, nor "
			"others of that kind",
			(int)pid);
	capture->released = true;
	if (capture->watching)
		trigger_set_unwatch(capture->set, pid);
	sources_drop(&capture->sources, pid);
}

static int mapped(void *ctx, pid_t pid, const struct sideband_mapping *mapping)
{
	struct capture *capture = ctx;
	int err = hit_stacks_map(capture->stacks, pid, mapping);

	if (err)
		return err;
	/* Before the probes are attached there is nothing to verify. */
	err = !capture->set ? 0 : probe_map_verify(&capture->probes, pid, mapping);
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
	sources_unpatch(&capture->sources, mapping, addr, bytes, size);
}

/* ---- waiting ---- */

/* What fills has to be fetched in time. */
static int idle_ms(const struct capture *capture)
{
	int ms = sources_drain_ms(&capture->sources);

	return ms >= 0 ? ms : capture_patience_ms(capture);
}

/* At the first sign of the end. */
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
	capture->stopped_ns = clock_ns(CLOCK_MONOTONIC);
}

/* The targets run at full speed, and the hit has to be heard of. What led to it must not be overwritten. */
static void idle(void *ctx)
{
	struct capture *capture = ctx;

	idle_wait(capture->set, capture->config->until.spin, idle_ms(capture));
	if (sources_can_stop(&capture->sources)) {
		capture_take_hits(capture);
		stop_sources(capture);
	}
	capture_drain(capture);
	if (!capture->out_of_room && sources_kept_bytes(&capture->sources) > capture->config->max_bytes) {
		capture->out_of_room = true;
		log_warn("the trace has reached --max-size (%zu KiB): the recording ends here",
			 capture->config->max_bytes >> 10);
	}
}

/* ---- all of it ---- */

/* What comes before is no part of the trace. */
static void started(void *ctx)
{
	struct capture *capture = ctx;

	capture->was_started = true;
	if (capture->set)
		trigger_set_hold(capture->set, false);
}

static int born(void *ctx, pid_t pid, pid_t tid)
{
	struct capture *capture = ctx;

	return sources_newborn(&capture->sources, pid, tid);
}

int capture_open_session(struct capture *capture)
{
	const struct source_options *options = &capture->config->options;
	bool free_running = capture_is_free_running(capture);
	struct step_config config = {
		.signals = capture->config->until.signals,
		.signalled = capture_signalled,
		.ring_size = options->ring_size ? options->ring_size : RING_SIZE_DEFAULT,
		.follow_forks = options->follow_forks,
		.hits_stop = capture->config->until.freeze || capture->config->start.spec,
		.wait_for_start = capture->config->start.spec || free_running,
		.idle = free_running ? idle : NULL,
		.overflow_every = options->step_overflow,
		.log = capture->step_log,
		.code = {.unpatch = unpatch, .ctx = capture},
		.start_wanted = capture_start_wanted,
		.started = started,
		.stop_wanted = capture_stop_wanted,
		.mapped = mapped,
		.adopted = adopted,
		.executed = executed,
		.released = released,
		.born = born,
		.ended = capture_ended,
		.ctx = capture,
	};

	return step_new(&capture->step, &config);
}
