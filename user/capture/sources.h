/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources that there are, and those of one recording, which run side by side. */
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

/* The i-th source that there is, best first; NULL: there are no more. */
const struct source *source_at(size_t i);

/* The one of that name that --source may name; NULL: there is none, or "none". */
const struct source *source_find(const char *name);

/* Adds a source, which is opened. -E2BIG; else as its open(). */
int sources_open(struct source_list *list, const struct source *source, const struct source_config *config);
void sources_close(struct source_list *list);

/* What --source named: "none" if that is nothing. */
const char *sources_name(const struct source_list *list);

/* The one driver among them, with the source's self; NULL: there is none. */
const struct session_driver *sources_driver(const struct source_list *list, void **ret_self);

/* Whether one of them has one of the traits. */
bool sources_can(const struct source_list *list, unsigned int traits);

/* Each of these does what struct source says with all that have it, in their order, up to the first error. */
int sources_add(const struct source_list *list, pid_t pid, bool at_exec);
int sources_newborn(const struct source_list *list, pid_t pid, pid_t tid);
void sources_drop(const struct source_list *list, pid_t pid);
int sources_start(const struct source_list *list);
int sources_take(const struct source_list *list, struct snapshot *snapshot);
int sources_describe(const struct source_list *list, struct snapshot *snapshot);
void sources_unpatch(const struct source_list *list, const struct sideband_mapping *mapping, uint64_t addr,
		     uint8_t *bytes, size_t size);

/* All of them, even if one fails: the last error. */
int sources_stop(const struct source_list *list, int cpu);
int sources_drain(const struct source_list *list);

/* How often that must be; -1: never. */
int sources_drain_ms(const struct source_list *list);

/* Readable when much waits to be drained, of the one source that has it; -1: none. */
int sources_fd(const struct source_list *list);

/* See struct source. NULL: probes are put on the code alone. */
const struct probe_mirror *sources_mirror(const struct source_list *list);
void sources_settle_hit(const struct source_list *list, struct caught_hit *hit);

bool sources_can_stop(const struct source_list *list);
/* Whether one of them ends the recording. */
bool sources_are_over(const struct source_list *list);

bool sources_pause(const struct source_list *list);
uint64_t sources_instruction_cnt(const struct source_list *list);
uint64_t sources_kept_bytes(const struct source_list *list);

/* Of the one source that has filters: how many; 0: none has. */
size_t sources_filter_max(const struct source_list *list);
int sources_set_filter(const struct source_list *list, const char *filter);
