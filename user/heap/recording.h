/* SPDX-License-Identifier: BSD-2-Clause */
/* Records a process's allocations as a trace: probes, records, call stacks, memtrace's format. */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "output/bytes/output.h"
#include "source/alloc/recorder.h"

struct alloc_recording;

/*
 * Probes the process, and begins a trace in `output`, which stays the caller's; the trace calls the program
 * `program`. Errors as alloc_recorder_new(); -errno with a sentence: the mappings cannot be followed.
 */
int alloc_recording_new(struct alloc_recording **ret_recording, const struct alloc_recorder_config *config,
			const char *program, struct output *output);

/* A descriptor that is readable when many records are pending. */
int alloc_recording_fd(const struct alloc_recording *recording);

/* Writes the pending records. Returns how many, or -errno with a sentence. */
int alloc_recording_take(struct alloc_recording *recording);

/* Removes the probes and writes the rest. 0 or -errno with a sentence. */
int alloc_recording_finish(struct alloc_recording *recording);

struct alloc_recording_counts {
	struct alloc_recorder_counts recorder;
	uint64_t allocs, ends; /* events written */
};

struct alloc_recording_counts alloc_recording_counts(const struct alloc_recording *recording);
void alloc_recording_free(struct alloc_recording *recording);

DEFINE_CLEANUP(struct alloc_recording *, alloc_recording_free)
