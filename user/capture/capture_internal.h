/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a capture: capture.c runs it, capture_setup.c prepares it, capture_hits.c hears of what it
 * waits for, capture_targets.c of its targets.
 */
#pragma once

#include "capture/capture.h"
#include "capture/hit_stacks.h"
#include "capture/idle.h"
#include "capture/sources.h"
#include "probe/address_filters.h"
#include "probe/probe_map.h"
#include "process/launch.h"
#include "session/session.h"
#include "source/code_stores.h"

struct capture {
	const struct capture_config *config;
	struct source_list sources;
	struct trigger *triggers; /* the user's, then that of step_from */
	size_t trigger_cnt;
	struct hit_stacks *stacks;
	struct goid *goids;	 /* of the triggers */
	struct trigger_set *set; /* NULL without triggers */
	bool released;		 /* it has been told of a child that was let go */
	bool watching;		 /* the probes are in all processes, and the set is told which are targets */
	unsigned int drain_turn;
	bool drain_failed; /* that was said */
	struct launch launch;
	struct idle_signals signals;
	struct session *session;   /* holds the targets */
	struct code_stores *codes; /* what code they had */
	struct filters filters;	   /* of addresses: what is traced */
	bool out_of_room;	   /* config->max_bytes */
	bool trace_stops;	   /* one of them stops the trace at the trigger */
	uint64_t stopped_ns;	   /* when the sources were stopped, CLOCK_MONOTONIC; 0: they run */
	struct snapshot *snapshot; /* under construction: holds the hits so far */
	struct probe_map probes;
	uint64_t began_ns,
		told_ns; /* CLOCK_MONOTONIC: the recording began; config->progress() was called last */
	bool timed_out, stalled;
	bool said_source;
	bool was_started; /* the start point was reached */
	bool hit;	  /* to be followed by a snapshot */
	int err;	  /* what could not be kept: the recording ends with it */
	uint64_t hit_cnt;
	uint64_t snapshot_cnt;
	uint64_t aux_bytes; /* in the snapshots */
	bool hit_before;    /* an earlier snapshot has its hit */
	bool start_hit;
	bool target_gone; /* the program */
	int wait_status;
};

/* ---- capture_hits.c ---- */

/* See trigger_config.stop_at. */
uint64_t capture_stop_at(const struct capture_until *until);

/* Reads the hits that wait into the snapshot. */
void capture_take_hits(struct capture *capture);

/* For struct session_events; ctx is the capture. */
bool capture_stop_wanted(void *ctx);
bool capture_start_wanted(void *ctx);
void capture_signalled(void *ctx, int signal, struct caught_hit *hit);
void capture_ended(void *ctx, pid_t pid, int wait_status);

/* ---- capture_source.c ---- */

/* Whether the targets run at full speed, and are only watched. */
bool capture_is_free_running(const struct capture *capture);

/* Whether the hit itself stops the thread. */
bool capture_freezes(const struct capture *capture);

/*
 * Chooses the sources, refuses options that they do not have, and opens them. 0, or -errno with a sentence.
 */
int capture_open_sources(struct capture *capture);

/* Takes in what waits in the sources. Of failures the first one is said. */
void capture_drain(struct capture *capture);

/*
 * Says which source was chosen where the user named none, and what stepping does to the targets: once, before
 * they are recorded, and after all that may be refused.
 */
void capture_say_source(struct capture *capture);

/* ---- capture_targets.c ---- */

/* The one process whose probes hit; 0: there may be several. */
pid_t capture_only_target(const struct capture *capture);

/* What is to keep the targets' code. 0 or -ENOMEM. */
int capture_open_codes(struct capture *capture);

/* What is to hold the targets; there are none yet. 0, or -errno with a sentence. */
int capture_open_session(struct capture *capture);

/* ---- capture_limits.c ---- */

/* The recording begins or has ended: time is to be looked at now and then, or no more. */
void capture_begin_limits(struct capture *capture);
void capture_end_limits(void);

/* Whether a limit of time is reached; tells of the progress. */
bool capture_is_over(struct capture *capture);

/* Milliseconds that may be slept until the next look at it; -1: for ever. */
int capture_patience_ms(const struct capture *capture);

/* ---- capture_setup.c ---- */

/*
 * Resolves the triggers, opens the source, starts or takes hold of the targets, attaches the probes. 0, or
 * -errno with a sentence.
 */
int capture_set_up(struct capture *capture);
