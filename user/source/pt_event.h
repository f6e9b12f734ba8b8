/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's side of the intel_pt source: the system calls on perf events, and nothing else, so that a test can put others in their place
 * (perf_event_open(2); linux/perf_event.h; kernel/events/core.c for which error means what).
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor, or -errno without a sentence (pt_event_explain() has it). */
int pt_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* The event's records go to the ring of `to`, which is on the same processor. 0 or -errno, without a sentence. */
int pt_event_redirect(int fd, int to);

int pt_event_enable(int fd);
int pt_event_disable(int fd);

/* An event's memory: records, and the AUX area (NULL for none), which the kernel overwrites from the beginning when it is full. */
struct pt_event_map {
	struct perf_event_mmap_page *page;
	size_t data_size; /* the page is not counted */
	uint8_t *aux;
	size_t aux_size;
};

/* Sizes are powers of two and whole pages. 0 or -errno, without a sentence. */
int pt_event_map(int fd, size_t data_size, size_t aux_size, struct pt_event_map *ret_map);
void pt_event_unmap(struct pt_event_map *map);

/* What the error of opening or mapping means here, as a sentence with its remedy; returns `err`. */
int pt_event_explain(int err, size_t aux_size, int cpu_cnt);
