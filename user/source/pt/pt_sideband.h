/* SPDX-License-Identifier: BSD-2-Clause */
/* Records for the intel_pt source that the kernel does not provide, or not in a usable form. */
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include "model/record_list.h"

/*
 * The records of the process from before the recording: its mappings and its name. `now` is the records'
 * time. 0 or -errno with a sentence.
 */
int pt_sideband_tell(struct record_list *records, pid_t pid, uint64_t now);

/* The name of a thread other than the leader. */
int pt_sideband_name(struct record_list *records, pid_t pid, pid_t tid, uint64_t now);

/*
 * A PERF_RECORD_MMAP2: the kernel names files as the process does, which may have another root, and may end
 * soon. 0 or -ENOMEM.
 */
int pt_sideband_add_mapping(struct record_list *records, const struct perf_event_header *record);
