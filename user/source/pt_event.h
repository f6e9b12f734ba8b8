/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls of the intel_pt source on perf events, and nothing else, so that a test can replace them
 * (perf_event_open(2); linux/perf_event.h; kernel/events/core.c for which error means what).
 */
#pragma once

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A descriptor, or -errno without a sentence (pt_explain() has one). `group` is the leader's descriptor, or
 * -1.
 */
int pt_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group);

/*
 * The same. Kernels before 5.13 cannot inherit to threads only: then this changes *attr, and the event counts
 * children, too.
 */
static inline int pt_event_open_inherited(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = pt_event_open(attr, tid, cpu, -1);

	if (fd == -EINVAL && attr->inherit_thread) {
		attr->inherit_thread = 0;
		fd = pt_event_open(attr, tid, cpu, -1);
	}
	return fd;
}

/* The number of the tracepoint that bpf_printk() fires, or -errno (no tracefs here). */
int pt_event_printk_id(void);

/*
 * linux/perf_event.h since Linux 6.13, "aux_pause" in the union of aux_action, which headers before that
 * reserve: each overflow of the event pauses the trace of its group's leader.
 */
enum { PT_EVENT_AUX_PAUSE = 1 << 1 };

/*
 * Redirects the event's records to the ring of `to`, which is on the same processor. 0 or -errno, without a
 * sentence.
 */
int pt_event_redirect(int fd, int to);

/* What PERF_SAMPLE_IDENTIFIER says of the event. 0 or -errno, without a sentence. */
int pt_event_id(int fd, uint64_t *ret_id);

/* 0 or -errno, without a sentence. */
int pt_event_set_filter(int fd, const char *filter);

int pt_event_enable(int fd);
int pt_event_disable(int fd);

/*
 * An event's memory: records, and the AUX area (NULL: none). When the area is full, the kernel overwrites it
 * from its beginning; if it is mapped `to_be_read`, the kernel stops until aux_tail moves on.
 */
struct pt_event_map {
	struct perf_event_mmap_page *page;
	size_t data_size; /* without the page */
	uint8_t *aux;
	size_t aux_size;
};

/* Sizes are powers of two, in bytes, and whole pages. 0 or -errno, without a sentence. */
int pt_event_map(int fd, size_t data_size, size_t aux_size, bool to_be_read, struct pt_event_map *ret_map);
void pt_event_unmap(struct pt_event_map *map);
