/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The samples source: stacks of the targets' threads by the clock, and when they stop running, run again, are
 * woken, call the kernel or touch memory that is not there. It goes into rings that are overwritten all the
 * time (bpf/samples.h); nothing is read before somebody asks. The targets are never stopped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "model/sideband.h"
#include "model/snapshot.h"
#include "source/samples/events.h"

/*
 * Of the stacks of busy programs a copy of 8 KiB held all as far as the outermost frame in Python, SQLite and
 * Node, and 29 % in Java; 16 KiB held 82 % there, 32 KiB 99 %, which a JVM gets. Since only what has changed
 * since the thread's last sample goes into the ring, a sample took some 130 to 220 bytes (RSA, SQLite, a
 * function that calls itself, redis, Python parsing JSON), 350 to 450 (Java, Go, Node) or 430 to 670 (a
 * compiler), however long the copy.
 */
enum {
	SAMPLES_FREQUENCY_DEFAULT = 1000, /* Hz */
	SAMPLES_RING_DEFAULT = 64 << 20,  /* bytes, of all processors */
};

struct samples_config {
	uint32_t frequency; /* Hz; 0: SAMPLES_FREQUENCY_DEFAULT, or what the kernel allows */
	size_t ring_bytes;  /* 0: SAMPLES_RING_DEFAULT */
	bool syscalls;	    /* each system call's begin and end, too; they cost each process of the machine */
	bool interrupts;    /* those that take a thread's time, too */
	bool page_faults;
	const struct samples_events
		*events;   /* counted beside the clock; NULL: none; lasts as long as `samples` */
	bool follow_forks; /* the children of processes that are added without BPF, too */
	bool lives;	   /* births and ends of threads are told: samples_lives() */
};

struct samples;

/*
 * What BPF programs, which see all, need and do not have here; NULL: nothing. Without it there is what
 * perf_samples.h says.
 */
const char *samples_lack(void);

/*
 * Loads the programs and opens the events; nothing is recorded yet. -EPERM with a sentence that names what is
 * missing; -EINVAL with one: no such frequency here; -ENOMEM.
 */
int samples_new(struct samples **ret_samples, const struct samples_config *config);
void samples_free(struct samples *samples);

/*
 * The threads of that process are recorded from now on (`at_exec`: once it has exec'd), or no more. 0, or
 * -errno with a sentence; -E2BIG: there are SAMPLES_TARGETS_MAX processes already.
 */
int samples_add(struct samples *samples, pid_t pid, bool at_exec);

/* The same of a child of such a process, which has run nothing yet. */
int samples_add_child(struct samples *samples, pid_t pid);

void samples_drop(struct samples *samples, pid_t pid);

/* Recording begins, or stops: what is in the rings stays. */
int samples_start(struct samples *samples);
void samples_stop(struct samples *samples);

/*
 * Reads the call stacks of threads that wait. To be called after samples_stop(), while the threads are still
 * undisturbed. May take some 20 us for each of them.
 */
void samples_settle(struct samples *samples);

/*
 * To be called every samples_drain_ms() milliseconds at least, unless that is -1. 0, or -errno with a
 * sentence.
 */
int samples_drain(struct samples *samples);
int samples_drain_ms(const struct samples *samples);

/*
 * Appends what is in the rings and was not taken before to snapshot->samples, in the order of time, and the
 * names of its events, the clock's first. The recording goes on meanwhile, unless it was stopped. 0,
 * or -errno with a sentence.
 */
int samples_take(struct samples *samples, struct snapshot *snapshot);

/*
 * Calls `tell` for what was not told yet of births and ends, as struct source's lives(); -ENOTSUP: without
 * BPF nothing is known of them.
 */
int samples_lives(struct samples *samples, int (*tell)(void *ctx, const struct thread_life *life), void *ctx);

/* Readable when there is much to tell; -1: never. */
int samples_lives_fd(const struct samples *samples);

/* Births and ends that were lost, because samples_lives() was not called in time. */
uint64_t samples_untold_cnt(const struct samples *samples);

/* Of the rings of all processors together. */
size_t samples_ring_bytes(const struct samples *samples);

/*
 * So often nothing is known of who had the processor while a thread could run, since more than
 * SAMPLES_THREADS_MAX others could, too.
 */
uint64_t samples_unready_cnt(const struct samples *samples);

/* "cycles" or "cpu-clock". */
const char *samples_event(const struct samples *samples);

DEFINE_CLEANUP(struct samples *, samples_free)
