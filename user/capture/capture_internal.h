/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a capture: capture.c runs it, capture_setup.c prepares it, capture_hits.c handles hits and
 * other ends, capture_targets.c the targets.
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
	struct trigger *triggers; /* the user's, then that of --step-from */
	size_t trigger_cnt;
	struct hit_stacks *stacks;
	struct goid *goids;	 /* of the triggers */
	struct trigger_set *set; /* NULL without triggers */
	bool released;		 /* it was told that a child is no longer traced */
	bool left_out;		 /* it was told that of 32-bit programs little is recorded */
	bool hears;		 /* a source tells the session of threads */
	bool watching;		 /* the probes are in all processes, and the set knows which are targets */
	unsigned int drain_turn;
	bool drain_failed; /* and a warning said so */
	struct launch launch;
	struct rlimit files; /* what this process began with */
	struct idle_signals signals;
	struct session *session;   /* holds the targets */
	struct code_stores *codes; /* copies of their code */
	struct filters filters;	   /* address ranges that are traced */
	bool out_of_room;	   /* config->max_bytes */
	bool has_looked;	   /* at the targets' maps, for the hits that are being read */
	bool trace_stops;	   /* an address filter stops the trace at the trigger */
	/*
	 * CLOCK_MONOTONIC: when the sources were stopped (0: they run), and from when
	 * on they overwrote nothing
	 */
	uint64_t stopped_ns, held_ns;
	struct snapshot *snapshot; /* under construction: holds the hits so far */
	struct probe_map probes;
	/* CLOCK_MONOTONIC: when the recording began; when config->progress() was last called */
	uint64_t began_ns, told_ns;
	bool timed_out, stalled, cramped;
	bool said_source;
	bool executed, has_run; /* the launched program: its exec is over; its code may have run */
	bool was_started;	/* the start point was reached */
	bool heeds_soon;	/* hits are ignored until the sources are ready */
	bool hit;		/* to be followed by a snapshot */
	int err;		/* the first failure to store something; ends the recording */
	uint64_t hit_cnt;
	uint64_t snapshot_cnt;
	uint64_t aux_bytes; /* in the snapshots, of the first counted_cnt AUX traces */
	size_t counted_cnt;
	uint64_t sample_bytes; /* the same of samples */
	size_t counted_sample_cnt;
	bool hit_before; /* an earlier snapshot holds its hit */
	bool start_hit;
	bool let_go;	  /* the targets run on without us already */
	bool target_gone; /* the program has ended */
	int wait_status;
};

/* ---- capture_hits.c ---- */

/* See trigger_config.stop_at. */
uint64_t capture_stop_at(const struct capture_until *until);

/* Moves pending hits into the snapshot. */
void capture_take_hits(struct capture *capture);

/* For struct session_events; ctx is the capture. */
bool capture_stop_wanted(void *ctx);
bool capture_start_wanted(void *ctx);
void capture_signalled(void *ctx, int signal, struct caught_hit *hit);
void capture_ended(void *ctx, pid_t pid, int wait_status);

/* ---- capture_source.c ---- */

/* Whether the targets run at full speed. */
bool capture_is_free_running(const struct capture *capture);

/* Whether the probe stops the thread at the hit. */
bool capture_freezes(const struct capture *capture);

/*
 * Chooses the sources, refuses options that they do not support, and opens them. 0, or -errno with a
 * sentence.
 */
int capture_open_sources(struct capture *capture);

/* Drains the sources. Warns of the first failure. */
void capture_drain(struct capture *capture);

/*
 * Tells the user which source was chosen, if none was named, and what stepping does to the targets. To be
 * called once, after everything that may be refused and before the recording.
 */
void capture_say_source(struct capture *capture);

/* ---- capture_targets.c ---- */

/* The only process whose probes hit; 0: there may be several. */
pid_t capture_only_target(const struct capture *capture);

/* Whether a source's lives() suffices, so that only the first thread of each process needs ptrace. */
bool capture_wants_lives(const struct capture_config *config);

/* Creates capture->codes. 0 or -ENOMEM. */
int capture_open_codes(struct capture *capture);

/* Creates the session, without targets. 0, or -errno with a sentence. */
int capture_open_session(struct capture *capture);

/* Hits count from now on, or from when the sources are ready. */
void capture_heed_hits(struct capture *capture);

/* ---- capture_limits.c ---- */

/*
 * The recording begins, or has ended: starts or stops the timer that makes waits return to check the limits.
 */
void capture_begin_limits(struct capture *capture);
void capture_end_limits(void);

/* Whether a time limit is reached. Reports progress. */
bool capture_is_over(struct capture *capture);

/* Milliseconds to wait at most until the next check; -1: no limit. */
int capture_patience_ms(const struct capture *capture);

/* ---- capture_setup.c ---- */

/*
 * Resolves the triggers, opens the sources, starts or seizes the targets, attaches the probes. 0, or -errno
 * with a sentence.
 */
int capture_set_up(struct capture *capture);
