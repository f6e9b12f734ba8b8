/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a capture: capture.c runs it, capture_setup.c prepares it, capture_hits.c hears of what it waits for. */
#pragma once

#include "pipeline/capture.h"
#include "pipeline/filters.h"
#include "pipeline/probe_map.h"
#include "source/launch.h"
#include "source/pt.h"
#include "source/step.h"

struct capture {
	const struct capture_config *config;
	struct trigger *triggers; /* the user's, then that of step_from */
	size_t trigger_cnt;
	struct goid *goids;	 /* of the triggers */
	struct trigger_set *set; /* NULL without triggers */
	bool watching;		 /* the probes are in all processes, and the set is told which are targets */
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
	bool hit; /* to be followed by a snapshot */
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

uint64_t capture_monotonic_ns(void);

/* Reads the hits that wait into the snapshot. */
void capture_take_hits(struct capture *capture);

/* For struct step_config; ctx is the capture. */
bool capture_stop_wanted(void *ctx);
bool capture_start_wanted(void *ctx);
void capture_signalled(void *ctx, int signal, const struct hit *hit);
void capture_ended(void *ctx, pid_t pid, int wait_status);

/* ---- capture_setup.c ---- */

/* Whether the targets run at full speed, and are only watched. */
bool capture_is_free_running(const struct capture *capture);

/* Resolves the triggers, opens the source, starts or takes hold of the targets, attaches the probes. 0, or -errno with a sentence. */
int capture_set_up(struct capture *capture);
