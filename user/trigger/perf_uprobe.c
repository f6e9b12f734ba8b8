/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event attributes: kernel/events/core.c, perf_uprobe_event_init(); the bits are described in sysfs below the
 * PMU's format/.
 */
#include "trigger/perf_uprobe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/file/reading.h"

enum { RETPROBE_BIT = 0, REF_CTR_SHIFT = 32 };

static int open_event(const struct perf_uprobe *probe, uint32_t type)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = (uint64_t)probe->at_return << RETPROBE_BIT | probe->ref_ctr_offset << REF_CTR_SHIFT,
		.uprobe_path = (uintptr_t)probe->path,
		.probe_offset = probe->offset,
	};
	/* All processes: any one processor will do, since nothing is counted. */
	int fd = (int)syscall(SYS_perf_event_open, &attr, probe->pid ? probe->pid : -1, probe->pid ? -1 : 0,
			      -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_uprobe_open(int *ret_event, int *ret_link, const struct perf_uprobe *probe)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event = {.bpf_cookie = probe->cookie});
	CLEANUP(closep) int event = -1;
	int type, link;

	errno = 0;
	type = reading_number("/sys/bus/event_source/devices/uprobe/type", -1);
	if (type < 0)
		return errno == EMFILE || errno == ENFILE ? -errno : -ENODEV;
	event = open_event(probe, (uint32_t)type);
	if (event < 0)
		return event;
	link = bpf_link_create(probe->prog_fd, event, BPF_PERF_EVENT, &opts);
	if (link < 0)
		return -errno;
	*ret_event = TAKE_FD(event);
	*ret_link = link;
	return 0;
}
