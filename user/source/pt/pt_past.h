/* SPDX-License-Identifier: BSD-2-Clause */
/* Records for the intel_pt source that the kernel does not give, or not so that we could use them. */
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include "model/record_list.h"

/*
 * What the kernel would have told of the process if it had been asked earlier: its mappings and its name.
 * `now` is the records' time. 0 or -errno with a sentence.
 */
int pt_past_tell(struct record_list *records, pid_t pid, uint64_t now);

/* The name of a thread that is not its process's first. */
int pt_past_name(struct record_list *records, pid_t pid, pid_t tid, uint64_t now);

/*
 * A PERF_RECORD_MMAP2: the kernel names files as the process does, which may live in another file system
 * tree, and end soon. 0 or -ENOMEM.
 */
int pt_past_add_mapping(struct record_list *records, const struct perf_event_header *record);
