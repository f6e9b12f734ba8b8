/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a capture: capture.c runs it, capture_setup.c prepares it, capture_hits.c hears of what it waits for, capture_allocs.c of allocations. */
#pragma once

#include "capture/capture.h"
#include "capture/hit_stacks.h"
#include "capture/probe_map.h"
#include "probe/address_filters.h"
#include "process/launch.h"
#include "source/alloc/recorder.h"
#include "source/pt/pt.h"
#include "source/step/step.h"

/* The sampled allocations of one process. */
struct alloc_source {
	struct capture *capture;
	struct alloc_recorder *recorder;
	uint32_t first_function; /* its functions among the snapshot's */
};

struct capture {
	const struct capture_config *config;
	enum capture_source source; /* that was chosen: not AUTO */
	struct trigger *triggers;   /* the user's, then that of step_from */
	size_t trigger_cnt;
	struct hit_stacks *stacks;
	struct goid *goids;	 /* of the triggers */
	struct trigger_set *set; /* NULL without triggers */
	bool released;		 /* it has been told of a child that was let go */
	bool watching;		 /* the probes are in all processes, and the set is told which are targets */
	struct alloc_source *alloc_sources;
	size_t alloc_source_cnt, alloc_source_cap;
	unsigned int alloc_turn;
	struct launch launch;
	struct step *step;	/* holds the targets; the source of bytes unless `pt` is */
	struct pt *pt;		/* NULL: another source */
	struct filters filters; /* for `pt` */
	bool out_of_room;	/* config->max_bytes */
	bool trace_stops;	/* one of them stops the trace at the trigger */
	uint64_t stopped_ns;	/* when `pt` was stopped, CLOCK_MONOTONIC; 0: it runs */
	FILE *step_log;
	struct snapshot *snapshot; /* under construction: holds the hits so far */
	struct probe_map probes;
	uint64_t began_ns,
		told_ns; /* CLOCK_MONOTONIC: the recording began; config->progress() was called last */
	bool timed_out, stalled;
	bool warned;	  /* that stepping is slow */
	bool was_started; /* the start point was reached */
	bool hit;	  /* to be followed by a snapshot */
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

/* For struct step_config; ctx is the capture. */
bool capture_stop_wanted(void *ctx);
bool capture_start_wanted(void *ctx);
void capture_signalled(void *ctx, int signal, const struct hit *hit);
void capture_ended(void *ctx, pid_t pid, int wait_status);

/* ---- capture_allocs.c ---- */

/* Attaches the recorders, if allocations are to be sampled. Errors as alloc_recorder_new(). */
int capture_record_allocs(struct capture *capture);

/* As probe_map_unpatch(), for their probes. */
void capture_unpatch_allocs(const struct capture *capture, const struct sideband_mapping *mapping,
			    uint64_t addr, uint8_t *bytes, size_t size);

/* Reads what waits into the snapshot; the second one only now and then, for loops. */
void capture_take_allocs(struct capture *capture);
void capture_take_allocs_sometimes(struct capture *capture);

/* Removes the probes, takes the rest, and says what was lost. */
void capture_end_allocs(struct capture *capture);
void capture_release_allocs(struct capture *capture);

/* ---- capture_source.c ---- */

/* Whether the targets run at full speed, and are only watched. */
bool capture_is_free_running(const struct capture *capture);

/* Chooses the source and refuses options that it does not have. 0, or -errno with a sentence. */
int capture_choose_source(struct capture *capture);

/* Says what stepping does to the targets, where it is chosen: once, before they are stepped, and after all that may be refused. */
void capture_warn_of_stepping(struct capture *capture);

/* ---- capture_limits.c ---- */

/* The recording begins or has ended: time is to be looked at now and then, or no more. */
void capture_begin_limits(struct capture *capture);
void capture_end_limits(void);

/* Whether a limit of time is reached; tells of the progress. */
bool capture_is_over(struct capture *capture);

/* Milliseconds that may be slept until the next look at it; -1: for ever. */
int capture_patience_ms(const struct capture *capture);

/* ---- capture_setup.c ---- */

/* Resolves the triggers, opens the source, starts or takes hold of the targets, attaches the probes. 0, or -errno with a sentence. */
int capture_set_up(struct capture *capture);
