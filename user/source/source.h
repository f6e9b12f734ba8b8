/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source records what the targets do: branches, calls, samples, allocations. It fills rings until a hit,
 * and gives what they hold to a snapshot. A capture has a list of sources that run side by side; with an
 * empty list it records hits only. To add one: implement this table in a folder of source/, declare it below,
 * and put it into the list in capture/sources.c.
 *
 *	open -> add each target -> start -> drain now and then -> stop -> take -> (start -> ... -> take)
 *	-> describe -> close
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
 * How exactly branches are timed: the choices of magic-trace. Each field of `custom` is a value, or -1 for
 * what the processor does best.
 */
enum pt_resolution { PT_RESOLUTION_NORMAL, PT_RESOLUTION_LOW, PT_RESOLUTION_HIGH, PT_RESOLUTION_CUSTOM };

struct pt_timing {
	enum pt_resolution resolution;
	struct {
		int cyc, cyc_thresh, mtc, mtc_period, noretcomp, psb_period;
	} custom;
};

/* What users ask of sources. All 0: the defaults. */
struct source_options {
	size_t ring_size;  /* bytes of each ring; 0: the source's default */
	bool follow_forks; /* children are targets, too */
	bool full;	   /* everything is kept, not only what comes before the end */
	bool per_thread;   /* a ring for each thread, not for each processor */
	bool cpu_wide;	   /* whatever runs is traced, not only the targets */
	enum pt_scope { PT_USER, PT_KERNEL, PT_BOTH } scope; /* which code is traced */
	struct pt_timing timing;
	const char *const *filters; /* only these functions are traced (specs); none: all */
	size_t filter_cnt;
	/* file for a line "TID IP SP" (SP: behind it) of each instruction; or NULL */
	const char *step_log;
	/* test aid: an overflow after every so many instructions, which loses some; 0: none */
	uint64_t step_overflow;
	uint32_t frequency;	 /* samples a second; 0: the default */
	uint64_t last_ns;	 /* how far back samples should reach; 0: the default */
	bool syscalls;		 /* each system call beside samples, too */
	const char *events;	 /* counted beside samples (source/samples/events.h); NULL: none */
	uint64_t alloc_interval; /* allocations are sampled, one for so many bytes; 0: no */
	enum trigger_link link;	 /* how probes are attached */
};

/* Options that belong to some sources only: struct source has a set of them. */
enum source_option {
	OPTION_STEPPING = 1 << 0,    /* --step-from, --step-log, --step-overflow */
	OPTION_FULL = 1 << 1,	     /* --full-execution */
	OPTION_CPU_WIDE = 1 << 2,    /* --cpu-wide */
	OPTION_KERNEL = 1 << 3,	     /* --kernel */
	OPTION_PER_THREAD = 1 << 4,  /* --per-thread */
	OPTION_FILTER = 1 << 5,	     /* --filter */
	OPTION_ALLOCATIONS = 1 << 6, /* --memtrace */
	OPTION_SAMPLING = 1 << 7,    /* --frequency, --last, --syscalls, --events */
};

/* What a source can do, or needs. */
enum source_trait {
	/* The targets are held, or run under its hands; else they run at full speed. */
	SOURCE_HOLDS = 1 << 0,
	/* So much that conditions on time mean nothing. */
	SOURCE_SLOWS = 1 << 1,
	/* take() gives the sideband, too, and describe() the clock; else the session does. */
	SOURCE_RECORDS = 1 << 2,
	/* It has probes of its own in the targets, until describe(). */
	SOURCE_PROBES = 1 << 3,
	/* --source does not name it: it runs beside, where one of its options is given. */
	SOURCE_IS_BESIDE = 1 << 4,
	/* --source auto may choose it for a program that is started, or for processes that run. */
	SOURCE_RUN_AUTO = 1 << 5,
	SOURCE_ATTACH_AUTO = 1 << 6,
	/* The targets do not execute their own code: other sources' probes in it are not reached. */
	SOURCE_PASSES_PROBES = 1 << 7,
	/* A hit stops the thread, as with --freeze: else it would soon overwrite what led up to the hit. */
	SOURCE_FREEZES = 1 << 8,
};

struct caught_hit;
struct code_stores;
struct probe_map;
struct session_driver;

/* What a capture says of itself. Good until close(). */
struct source_config {
	const struct source_options *options;
	struct code_stores *codes; /* of all targets; they get to know of mappings before a driver does */
	const char *binary;	   /* of the program that is started; NULL: the targets run already */
	bool pause;		   /* hits should pause the trace themselves, if that can be had */
	void *own;		   /* capture_config.own */
	const struct probe_map *probes; /* of the triggers; they are there when targets execute a program */
};

/*
 * Each function may be NULL where there is nothing to do. `self` is what open() made. They return 0, or
 * -errno with a sentence.
 */
struct source {
	const char *name;      /* "intel_pt": what --source takes, and a recording tells */
	unsigned int can;      /* set of enum source_trait */
	unsigned int options;  /* set of enum source_option */
	bool (*is_here)(void); /* NULL: everywhere */
	/* How the targets run under its hands (session/driver.h); NULL: at full speed. */
	const struct session_driver *driver;
	int (*open)(void **ret_self, const struct source_config *config);

	/*
	 * The process is a target from now on, with all threads it has, which may run. `at_exec`: it is a
	 * child that will exec, and is recorded from there. -ESRCH: it is gone.
	 */
	int (*add)(void *self, pid_t pid, bool at_exec);

	/* A thread of a target, or a child that is one (tid is pid), has been born and has not run yet. */
	int (*newborn)(void *self, pid_t pid, pid_t tid);

	/* The process is no target any more: it has ended, or was let go. */
	void (*drop)(void *self, pid_t pid);

	/*
	 * How many address filters there can be, and setting them (probe/address_filters.h): after add(),
	 * before start().
	 */
	size_t (*filter_max)(void *self);
	int (*set_filter)(void *self, const char *filter);

	/* After add(), and again after a snapshot. Those that were added `at_exec` start by themselves. */
	int (*start)(void *self);

	/* Nothing is overwritten any more. `cpu` is the processor to begin with, or -1. */
	int (*stop)(void *self, int cpu);

	/*
	 * After add(): whether the wish for a pause came true. A hit then stops this source at once, where it
	 * is.
	 */
	bool (*pauses)(void *self);

	/*
	 * Takes in what waits; to be called every drain_ms() milliseconds at least, and when fd() is readable
	 * (poll(2)); -1: there is none.
	 */
	int (*drain)(void *self);
	int (*drain_ms)(void *self);
	int (*fd)(void *self);

	/* Whether the recording is to end, for want of more that could be recorded. */
	bool (*is_over)(void *self);

	/* How many instructions were executed under its hands. */
	uint64_t (*instruction_cnt)(void *self);

	/* With OPTION_FULL: bytes that drain() has put aside so far. */
	uint64_t (*kept_bytes)(void *self);

	/* After stop(): appends what was recorded since the last time. */
	int (*take)(void *self, struct snapshot *snapshot);

	/*
	 * After the last take(): fills in what the snapshot needs to be understood. Own probes are removed.
	 */
	int (*describe)(void *self, struct snapshot *snapshot);

	/*
	 * Where probes must be put, too, for the targets do not execute their own code; and what a hit there
	 * tells is made what it would be in their own code.
	 */
	const struct probe_mirror *(*mirror)(void *self);
	void (*settle_hit)(void *self, struct caught_hit *hit);

	/*
	 * `bytes` are `size` bytes of a target's code at addr, in `mapping`: puts back what own probes hide
	 * there.
	 */
	void (*unpatch)(void *self, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
			size_t size);

	void (*close)(void *self);
};

extern const struct source source_intel_pt; /* every branch, by the processor */
extern const struct source source_samples;  /* stacks by the clock, and where threads wait */
extern const struct source
	source_translate;		 /* every branch, by a program that runs from a copy of its code */
extern const struct source source_step;	 /* every branch, by single-stepping */
extern const struct source source_alloc; /* sampled allocations */
