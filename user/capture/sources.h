/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of sources, and the list of those that run side by side in one recording. */
#pragma once

#include "source/source.h"

enum { SOURCES_MAX = 8 };

/* All 0: none, hits only. */
struct source_list {
	struct {
		const struct source *source;
		void *self;
	} items[SOURCES_MAX];
	size_t cnt;
};

/* The i-th row of the table, best first; NULL: there are no more. */
const struct source *source_at(size_t i);

/* The source that --source means by this name; NULL: "none", or no such source. */
const struct source *source_find(const char *name);

/* Opens a source and adds it. -E2BIG; else as its open(). */
int sources_open(struct source_list *list, const struct source *source, const struct source_config *config);
void sources_close(struct source_list *list);

/* The name of the recording's source; "none" if the list is empty. */
const char *sources_name(const struct source_list *list);

/* The list's only driver, with the self of its source; NULL: there is none. */
const struct session_driver *sources_driver(const struct source_list *list, void **ret_self);

/* Whether a source in the list has one of the traits. */
bool sources_can(const struct source_list *list, unsigned int traits);

/*
 * Each of these calls the function of struct source in every source that has it, in order, up to the first
 * error.
 */
int sources_add(const struct source_list *list, pid_t pid, bool at_exec);
int sources_newborn(const struct source_list *list, pid_t pid, pid_t tid);
void sources_drop(const struct source_list *list, pid_t pid);
void sources_end(const struct source_list *list);
int sources_start(const struct source_list *list);
int sources_take(const struct source_list *list, struct snapshot *snapshot);
int sources_describe(const struct source_list *list, struct snapshot *snapshot);
void sources_unpatch(const struct source_list *list, const struct sideband_mapping *mapping, uint64_t addr,
		     uint8_t *bytes, size_t size);

/* Of the first that can. -ENOTSUP: none can. */
int sources_lives(const struct source_list *list, int (*tell)(void *ctx, const struct thread_life *life),
		  void *ctx);

/* Whether all that stop can hold, too, so that what comes later is not recorded. */
bool sources_hold(const struct source_list *list);

/* The same, but in every source even if one fails. Returns the last error. */
int sources_stop(const struct source_list *list, int cpu);
int sources_drain(const struct source_list *list);

/* How often sources_drain() must be called, in milliseconds; -1: never. */
int sources_drain_ms(const struct source_list *list);

/* A descriptor that is readable when much must be drained; -1: no source has one. */
int sources_fd(const struct source_list *list);

/* See struct source. NULL: probes are set on the original code only. */
const struct probe_mirror *sources_mirror(const struct source_list *list);
void sources_settle_hit(const struct source_list *list, struct caught_hit *hit);

/* See struct source. */
bool sources_are_ready(const struct source_list *list);
bool sources_can_stop(const struct source_list *list);
/* Whether a source ends the recording. */
bool sources_are_over(const struct source_list *list);

bool sources_pause(const struct source_list *list);
uint64_t sources_instruction_cnt(const struct source_list *list);
uint64_t sources_kept_bytes(const struct source_list *list);

/* How many address filters the sources support; 0: none. */
size_t sources_filter_max(const struct source_list *list);
int sources_set_filter(const struct source_list *list, const char *filter);
