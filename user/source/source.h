/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source records what the targets do: branches, calls, samples, allocations. It writes into rings until a
 * hit, and then copies them to a snapshot. A capture has a list of sources that run side by side; with an
 * empty list it records hits only. To add one: implement this table in a folder of source/, declare it below,
 * and add it to the table in capture/sources.c.
 *
 * 	open -> add each target -> start -> drain now and then -> stop -> take -> (start -> ... -> take)
 * 	-> describe -> close
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/sideband.h"
#include "model/snapshot.h"
#include "model/trigger.h"

/*
 * How precisely branches are timed: the choices of magic-trace. Each field of `custom` is a value, or -1 for
 * the best that the processor supports.
 */
enum pt_resolution { PT_RESOLUTION_NORMAL, PT_RESOLUTION_LOW, PT_RESOLUTION_HIGH, PT_RESOLUTION_CUSTOM };

struct pt_timing {
	bool is_asked; /* --timer-resolution was given */
	enum pt_resolution resolution;
	struct {
		int cyc, cyc_thresh, mtc, mtc_period, noretcomp, psb_period;
	} custom;
};

/* The user's options for sources. All 0: the defaults. */
struct source_options {
	size_t ring_size;  /* bytes of each ring; 0: the source's default */
	bool follow_forks; /* children are targets, too */
	bool full;	   /* keep everything, not only what leads up to the end */
	bool per_thread;   /* one ring per thread instead of one per processor */
	bool cpu_wide;	   /* trace everything that runs, not only the targets */
	enum pt_scope { PT_USER, PT_KERNEL, PT_BOTH } scope; /* which code to trace */
	struct pt_timing timing;
	const char *const *filters; /* trace only these functions (specs); none: all */
	size_t filter_cnt;
	/* file for a line "TID IP SP" of each instruction (SP: after it); or NULL */
	const char *step_log;
	/* test aid: the number of instructions between overflows, which lose some; 0: no overflows */
	uint64_t step_overflow;
	uint32_t frequency; /* samples a second; 0: the default */
	uint64_t last_ns;   /* how far back samples should reach; 0: the default */
	bool syscalls;	    /* record each system call beside the samples */
	bool interrupts;    /* ... and each interrupt */
	const char *events; /* events to count beside the samples (source/samples/events.h); NULL: none */
	uint64_t alloc_interval; /* mean number of bytes between sampled allocations; 0: none are sampled */
	enum trigger_link link;	 /* how probes are attached */
};

/* Options that only some sources support: struct source has a set of them. */
enum source_option {
	OPTION_STEPPING = 1 << 0,    /* --step-log, --step-overflow */
	OPTION_FULL = 1 << 1,	     /* --full-execution */
	OPTION_CPU_WIDE = 1 << 2,    /* --cpu-wide */
	OPTION_KERNEL = 1 << 3,	     /* --kernel */
	OPTION_PER_THREAD = 1 << 4,  /* --per-thread */
	OPTION_FILTER = 1 << 5,	     /* --filter */
	OPTION_ALLOCATIONS = 1 << 6, /* --memtrace */
	OPTION_SAMPLING = 1 << 7,    /* --frequency, --last, --syscalls, --interrupts, --events */
	OPTION_START = 1 << 8,	     /* --step-from */
	OPTION_TIMING = 1 << 9,	     /* --timer-resolution */
	OPTION_STALL = 1 << 10,	     /* --max-stall */
};

/* What a source can do, or needs. */
enum source_trait {
	/* It controls the targets with ptrace; else they run at full speed. */
	SOURCE_HOLDS = 1 << 0,
	/* It slows the targets so much that conditions on time are meaningless. */
	SOURCE_SLOWS = 1 << 1,
	/* take() appends the sideband, and describe() the clock; else the session does. */
	SOURCE_RECORDS = 1 << 2,
	/* It has its own probes in the targets, until describe(). */
	SOURCE_PROBES = 1 << 3,
	/* --source does not accept its name: it runs beside another source if one of its options is given. */
	SOURCE_IS_BESIDE = 1 << 4,
	/* --source auto may choose it for a program that `run` starts, or for processes that run already. */
	SOURCE_RUN_AUTO = 1 << 5,
	SOURCE_ATTACH_AUTO = 1 << 6,
	/* The targets do not execute their own code: probes of other sources in it do not fire. */
	SOURCE_PASSES_PROBES = 1 << 7,
	/*
	 * A hit stops the thread, as with --freeze: else the thread would soon overwrite what led up to the
	 * hit.
	 */
	SOURCE_FREEZES = 1 << 8,
	/* It has moments of the past: what the targets map while they run is to be known soon. */
	SOURCE_LOOKS_BACK = 1 << 9,
	/* After take(), AUX traces are added to the snapshot until the next stop() or describe(). */
	SOURCE_TAKES_ON = 1 << 10,
	/* Of 32-bit programs it shows when they run and wait, but neither calls nor system calls. */
	SOURCE_ONLY_64_BIT = 1 << 11,
};

struct caught_hit;
struct code_stores;
struct probe_map;
struct session_driver;

/* What a capture tells its sources. Valid until close(). */
struct source_config {
	const struct source_options *options;
	struct code_stores *codes; /* of all targets; they learn of mappings before a driver does */
	const char *binary;	   /* of the program that `run` starts; NULL: the targets run already */
	bool waits_for_start;	   /* the targets run by themselves up to a start point (session/driver.h) */
	bool pause;		   /* a hit should pause the trace by itself, if the source supports that */
	void *own;		   /* capture_config.own */
	bool wants_lives;	   /* lives() is to tell of births and ends, if the source has it */
	const struct probe_map *probes; /* of the triggers; complete when targets execute a program */
};

/*
 * A function may be NULL if it has nothing to do. `self` is what open() made. Functions that return int
 * return 0, or -errno with a sentence, unless they say otherwise.
 */
struct source {
	const char *name;      /* "intel_pt": as --source accepts it and a recording stores it */
	unsigned int can;      /* set of enum source_trait */
	unsigned int options;  /* set of enum source_option */
	bool (*is_here)(void); /* NULL: everywhere */
	/* Decides how the targets run (session/driver.h); NULL: they run at full speed. */
	const struct session_driver *driver;
	int (*open)(void **ret_self, const struct source_config *config);

	/*
	 * The process is a target from now on, with all its threads, which may run. `at_exec`: it is a child
	 * that will exec; the recording begins there. -ESRCH: it is gone.
	 */
	int (*add)(void *self, pid_t pid, bool at_exec);

	/* A target has a new thread, or a new child that is a target (tid is pid). It has not run yet. */
	int (*newborn)(void *self, pid_t pid, pid_t tid);

	/*
	 * Calls `tell` for new code of the targets since the last call; with source_config.wants_lives also
	 * for births and ends of their threads, and for execs by another thread than the leader. `tell`
	 * returns 0 or an error, which ends it and is returned. NULL for `tell`: only whether the source can:
	 * 0 or -ENOTSUP.
	 */
	int (*lives)(void *self, int (*tell)(void *ctx, const struct thread_life *life), void *ctx);

	/* The process is no longer a target: it has ended, or was detached. */
	void (*drop)(void *self, pid_t pid);

	/*
	 * How many address filters are supported; sets them (probe/address_filters.h). After add(), before
	 * start().
	 */
	size_t (*filter_max)(void *self);
	int (*set_filter)(void *self, const char *filter);

	/* After add(), and again after a snapshot. Targets that were added `at_exec` start by themselves. */
	int (*start)(void *self);

	/* Whether all that ran before start() is recorded. Hits before that are ignored. NULL: it is. */
	bool (*is_ready)(void *self);

	/*
	 * A hit is about to be read, and stop() follows: what is recorded should not be overwritten before.
	 * Whether it is not. May be called several times.
	 */
	bool (*hold)(void *self);

	/* Stops recording: nothing more is overwritten. `cpu` is the processor to stop first, or -1. */
	int (*stop)(void *self, int cpu);

	/*
	 * The next take() is the last: what the targets do from now on, and what we
	 * do to them, is not wanted.
	 */
	void (*end)(void *self);

	/*
	 * After add(): whether source_config.pause is in effect: a hit then stops this source at once.
	 */
	bool (*pauses)(void *self);

	/*
	 * Reads pending records. To be called at least every drain_ms() milliseconds, and when fd() is
	 * readable (poll(2)); each may be -1: none.
	 */
	int (*drain)(void *self);
	int (*drain_ms)(void *self);
	int (*fd)(void *self);

	/* Whether the recording should end, because it takes memory that a target needs. */
	bool (*is_over)(void *self);

	/* How many instructions it has executed. */
	uint64_t (*instruction_cnt)(void *self);

	/* With OPTION_FULL: bytes that drain() has stored so far. */
	uint64_t (*kept_bytes)(void *self);

	/* After stop(): appends what was recorded since the last take(). */
	int (*take)(void *self, struct snapshot *snapshot);

	/*
	 * After the last take(): adds what is needed to interpret the snapshot. Removes its own probes.
	 */
	int (*describe)(void *self, struct snapshot *snapshot);

	/*
	 * For targets that do not execute their own code: mirror() says where else probes must be set.
	 * settle_hit() converts a hit there to what it would be in the target's own code.
	 */
	const struct probe_mirror *(*mirror)(void *self);
	void (*settle_hit)(void *self, struct caught_hit *hit);

	/*
	 * Restores the instructions that this source's own probes replace in `bytes`, a copy of `size` bytes
	 * of a target's code at addr, in `mapping`.
	 */
	void (*unpatch)(void *self, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
			size_t size);

	void (*close)(void *self);
};

extern const struct source source_intel_pt; /* every branch, recorded by the processor */
extern const struct source source_samples;  /* stacks at regular times, and where threads wait */
extern const struct source
	source_translate; /* every branch, recorded by a program that runs from a copy of its code */
extern const struct source source_step;	 /* every branch, by single-stepping */
extern const struct source source_alloc; /* sampled allocations */
