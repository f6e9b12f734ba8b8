/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A uprobe as a perf event of the "uprobe" PMU with a BPF program, for kernels before 6.6. Needs
 * CAP_SYS_ADMIN.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_uprobe {
	int prog_fd;
	const char *path;
	uint64_t offset, cookie, ref_ctr_offset;
	pid_t pid; /* 0: all processes */
	bool at_return;
};

/*
 * Attaches the probe, which lasts as long as *ret_event and *ret_link. A negative errno of perf_event_open(2)
 * or bpf(2); -ENODEV: no such PMU.
 */
int perf_uprobe_open(int *ret_event, int *ret_link, const struct perf_uprobe *probe);
