/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture: runs a program, or attaches to running ones, with probes and sources, up to the hit; then takes
 * the snapshot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/snapshot.h"
#include "source/source.h"
#include "trigger/trigger.h"

/* A trigger as the user gives it. The rules are those of struct trigger_rule. */
struct trigger_request {
	const char *spec;  /* as trigger_resolve() takes it */
	const char *from;  /* the same, of the first of two places; NULL: there is only one place */
	const char *when;  /* as condition_parse() takes it, or NULL */
	const char *print; /* as prints_parse() takes it, or NULL */
	uint64_t slower_than_ns, skip, every_ns;
};

/* What ends the recording, and how. All 0: the first hit does. */
struct capture_until {
	uint64_t signals;      /* bit N - 1: when signal N is about to be delivered */
	uint8_t statuses[256]; /* 1: when the program exits with this status */
	bool any_status;       /* there is a 1 among them */
	bool multi_snapshot;   /* each hit is followed by a snapshot, and the recording goes on */
	bool freeze;	       /* the probe stops the thread at the hit */
	bool spin;	       /* wait for hits in a busy loop */
	uint64_t max_hits;     /* which hit is the last; 0: 1, or with multi_snapshot 100 */
};

/* How far a recording has come. */
struct capture_progress {
	uint64_t elapsed_ns;
	uint64_t instructions; /* that were stepped; 0 with other sources */
	uint64_t hits;	       /* of triggers, so far */
	bool waits_for_start; /* the start point has not been reached, or not again since the last snapshot */
};

struct launch_signals;

struct capture_config {
	const char *path;   /* of the program to run (program_find()), with argv; NULL: ... */
	const char *binary; /* what that executes (program_binary()), where symbols are looked up */
	char *const *argv;
	const struct launch_signals *signals; /* what it is started with; NULL: as they are */
	const pid_t *pids;		      /* ... to attach to these */
	size_t pid_cnt;
	bool skip_ended;    /* those that have ended by now are left out, unless all have */
	const char *source; /* the name of one (capture_source_name()); NULL: the best that may be had */
	struct source_options options;
	const struct source *own_source; /* one more, that is in no table; or NULL */
	void *own;			 /* for its open() */
	/*
	 * The targets are not held: without triggers, and with sources that need no more than their number.
	 */
	bool untraced;
	const struct trigger_request *triggers;
	size_t trigger_cnt; /* below TRIGGER_MAX */
	struct capture_until until;
	struct trigger_request start; /* where stepping starts; spec NULL: with the program, or at once */
	uint64_t duration_ns;	      /* the recording ends after this time; 0: it has no limit */
	uint64_t max_stall_ns; /* it ends when the targets were held or stepped for so long; 0: no limit */
	bool asks_stall;       /* max_stall_ns is not a default */
	size_t max_bytes;      /* no further snapshot once they hold more than this */
	/* Called some ten times a second while the recording lasts; or NULL. */
	void (*progress)(void *ctx, const struct capture_progress *progress);
	void *progress_ctx;
};

/* The i-th name that --source accepts, "auto" first; NULL: there are no more. */
const char *capture_source_name(size_t i);

enum capture_end {
	CAPTURE_HIT,
	CAPTURE_EXITED,	     /* the program, or the last target, ended without a hit */
	CAPTURE_INTERRUPTED, /* Ctrl-C */
	CAPTURE_TIMED_OUT,   /* config.duration_ns */
	CAPTURE_STALLED,     /* config.max_stall_ns */
	CAPTURE_CRAMPED,     /* a target needs the memory that the recording takes */
};

struct capture;

/*
 * Resolves the triggers, starts the program (which executes nothing yet) or seizes the running targets, and
 * attaches the probes. Errors as trigger_resolve(), session_attach() and trigger_set_attach(); -ENOTSUP: the
 * source is not available here. After an error no new process is left, and no target is held.
 */
int capture_new(struct capture **ret_capture, const struct capture_config *config);

/*
 * Runs the targets until the recording ends, and takes the snapshot. Afterwards they run on, untraced and
 * without probes. 0, or -errno with a sentence; if the program could not be executed (-ENOENT, -EACCES,
 * -ENOEXEC) *ret_exec_failed is true.
 */
int capture_run(struct capture *capture, struct snapshot **ret_snapshot, enum capture_end *ret_end,
		bool *ret_exec_failed);

/*
 * Which of its trigger's functions a hit belongs to; NULL: the trigger has only one, or it is unknown. Valid
 * as long as the capture.
 */
const char *capture_hit_function(const struct capture *capture, const struct hit *hit);

/*
 * How many snapshots were taken. They are parts of the one that capture_run() returns, with a gap
 * (GAP_SNAPSHOT) between them.
 */
uint64_t capture_snapshot_cnt(const struct capture *capture);

/* How long the targets were held or stepped. */
struct capture_stall {
	uint64_t held_ns;
	size_t thread_cnt;
	bool is_cut; /* they could not be stopped and let go in time: nothing is traced */
};

struct capture_stall capture_stall(const struct capture *capture);

/* Whether the targets have started processes that are no targets (session_has_others()). */
bool capture_has_others(const struct capture *capture);

/* A target with a child that was there before and is none; 0: none has (session_parent_of_others()). */
pid_t capture_parent_of_others(const struct capture *capture);

/* Waits for the program to end, and returns its wait status (waitpid(2)). Only for launched programs. */
int capture_wait(struct capture *capture);

void capture_free(struct capture *capture);

DEFINE_CLEANUP(struct capture *, capture_free)
