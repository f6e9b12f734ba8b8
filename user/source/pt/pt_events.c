/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On each processor the first event owns the memory, and all others write there (PERF_EVENT_IOC_SET_OUTPUT).
 * An event that is inherited must be bound to a processor (kernel/events/core.c, perf_mmap()), hence threads
 * times processors. With --per-thread each thread has an event that follows it and is not inherited: a new
 * thread gets its own (pt_born()). Records come from a second, dummy event, because the trace's event is off
 * at times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "model/sideband.h"
#include "source/pt/pt_internal.h"

/* How many threads' rings are kept: more only while that many threads live. */
enum { AREAS_MAX = 64 };

/* Events of a processor, and those with memory of a thread's own, are not inherited. */
static bool inherits(const struct pt_area *area, pid_t tid)
{
	return area->cpu >= 0 && tid >= 0;
}

static struct perf_event_attr base_attr(const struct pt *pt, bool inherit)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.sample_type = SIDEBAND_SAMPLE_TYPE,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = inherit,
		.inherit_thread = inherit && !pt->config.follow_forks,
	};
}

static struct perf_event_attr trace_attr(const struct pt *pt, bool inherit, bool at_exec)
{
	struct perf_event_attr attr = base_attr(pt, inherit);

	attr.type = pt->caps.type;
	attr.config = pt->pt_config;
	attr.exclude_kernel = pt->config.scope == PT_USER;
	attr.exclude_user = pt->config.scope == PT_KERNEL;
	attr.disabled = 1;
	attr.enable_on_exec = at_exec;
	return attr;
}

static struct perf_event_attr record_attr(const struct pt *pt, bool inherit)
{
	struct perf_event_attr attr = base_attr(pt, inherit);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.mmap = attr.mmap2 = 1;
	attr.comm = attr.comm_exec = 1;
	attr.task = 1;
	attr.context_switch = 1;
	return attr;
}

/*
 * In the group of a trace: what fires it pauses the trace, on this processor and at once
 * (kernel/events/core.c, __perf_event_overflow()).
 */
static struct perf_event_attr pause_attr(const struct pt *pt, bool inherit)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(struct perf_event_attr),
		.config = (uint64_t)pt->printk_id,
		.sample_period = 1,
		.inherit = inherit,
		.inherit_thread = inherit && !pt->config.follow_forks,
		.__reserved_3 = PT_EVENT_AUX_PAUSE,
	};
}

/* Takes over the descriptor. */
static int keep_fd(struct pt *pt, const struct pt_area *area, int fd, bool is_trace)
{
	const struct pt_fd kept = {fd, area->cpu, area->tid, is_trace};

	if (!ARRAY_PUSH(pt->fds, pt->fd_cnt, pt->fd_cap, kept))
		return 0;
	close(fd);
	return -ENOMEM;
}

/* The event writes to its processor's memory, which is made if this is the first. */
static int place_event(struct pt *pt, struct pt_area *area, int fd)
{
	int err;

	if (area->owner >= 0)
		return pt_event_redirect(fd, area->owner);
	err = pt_event_map(fd, DATA_SIZE, pt->config.ring_size, pt->config.full, &area->map);
	if (err)
		return err;
	area->owner = fd;
	area->stream = pt->config.full ? tmpfile() : NULL;
	return pt->config.full && !area->stream ? -errno : 0;
}

/* If the kernel or the driver does not support it, hits stop the trace without it. */
static int add_pause(struct pt *pt, const struct pt_area *area, pid_t tid, int leader)
{
	struct perf_event_attr attr = pause_attr(pt, inherits(area, tid));
	int fd = pt_event_open(&attr, tid, area->cpu, leader);

	if (fd < 0) {
		log_debug("the trace cannot be paused by a hit: %s", strerror(-fd));
		pt->printk_id = fd;
		return 0;
	}
	return keep_fd(pt, area, fd, false);
}

static int add_event(struct pt *pt, struct pt_area *area, pid_t tid, struct perf_event_attr *attr,
		     bool is_trace)
{
	int fd = pt_event_open_inherited(attr, tid, area->cpu),
	    err = fd < 0 ? fd : keep_fd(pt, area, fd, is_trace);

	if (!err)
		err = place_event(pt, area, fd);
	return err || !is_trace || pt->printk_id < 0 ? err : add_pause(pt, area, tid, fd);
}

static int add_to_area(struct pt *pt, struct pt_area *area, pid_t tid, bool at_exec)
{
	bool inherit = inherits(area, tid);
	struct perf_event_attr trace = trace_attr(pt, inherit, at_exec), records = record_attr(pt, inherit);
	int err = add_event(pt, area, tid, &trace, true);

	return err ? err : add_event(pt, area, tid, &records, false);
}

/* On each processor; tid -1: whoever runs there */
static int add_to_processors(struct pt *pt, pid_t tid, bool at_exec)
{
	int err = 0;

	for (size_t i = 0; i < pt->area_cnt && !err; i++) {
		err = add_to_area(pt, &pt->areas[i], tid, at_exec);
		if (err == -ENODEV) /* the processor is off */
			err = 0;
	}
	return err;
}

static void close_events(struct pt *pt, const struct pt_area *area)
{
	size_t kept = 0;

	for (size_t i = 0; i < pt->fd_cnt; i++) {
		if (pt->fds[i].cpu == area->cpu && pt->fds[i].area_tid == area->tid)
			close(pt->fds[i].fd);
		else
			pt->fds[kept++] = pt->fds[i];
	}
	pt->fd_cnt = kept;
}

static void area_release(struct pt_area *area)
{
	pt_event_unmap(&area->map);
	fclosep(&area->stream);
	free(area->losses);
}

void pt_events_give_up_ended(struct pt *pt, size_t max)
{
	for (size_t i = 0; i < pt->area_cnt && pt->area_cnt > max && !pt->config.full;) {
		if (!pt->areas[i].ended) {
			i++;
			continue;
		}
		close_events(pt, &pt->areas[i]);
		area_release(&pt->areas[i]);
		memmove(&pt->areas[i], &pt->areas[i + 1], (--pt->area_cnt - i) * sizeof(*pt->areas));
	}
}

int pt_events_add(struct pt *pt, pid_t pid, pid_t tid, bool at_exec)
{
	const struct pt_area own = {.cpu = -1, .pid = pid, .tid = tid, .owner = -1};
	int err;

	if (!pt->config.per_thread || tid < 0)
		return add_to_processors(pt, tid, at_exec);
	pt_events_give_up_ended(pt, AREAS_MAX);
	err = ARRAY_PUSH(pt->areas, pt->area_cnt, pt->area_cap, own);
	if (!err)
		err = add_to_area(pt, &pt->areas[pt->area_cnt - 1], tid, at_exec);
	if (err == -ESRCH) {
		close_events(pt, &own);
		area_release(&pt->areas[--pt->area_cnt]);
	}
	return err;
}

int pt_events_filter(const struct pt *pt, size_t first)
{
	for (size_t i = first; i < pt->fd_cnt && pt->filter; i++) {
		int err = pt->fds[i].is_trace ? pt_event_set_filter(pt->fds[i].fd, pt->filter) : 0;

		if (err)
			return fail_errno(err, "the kernel does not take the address filter '%s'",
					  pt->filter);
	}
	return 0;
}

int pt_events_enable(const struct pt *pt, size_t first)
{
	for (size_t i = first; i < pt->fd_cnt; i++) {
		int err = pt->fds[i].is_trace ? pt_event_enable(pt->fds[i].fd) : 0;

		if (err)
			return fail_errno(err, "cannot start the trace");
	}
	return 0;
}

int pt_set_filter(struct pt *pt, const char *filter)
{
	free(pt->filter);
	pt->filter = strdup(filter);
	return pt->filter ? pt_events_filter(pt, 0) : -ENOMEM;
}

int pt_start(struct pt *pt)
{
	pt->stopped = false;
	return pt_events_enable(pt, 0);
}

int pt_stop(struct pt *pt, int cpu)
{
	int err = 0;

	pt->stopped = true;
	for (int first = 1; first >= 0; first--) {
		for (size_t i = 0; i < pt->fd_cnt; i++) {
			const struct pt_fd *event = &pt->fds[i];
			int failed = event->is_trace && (event->cpu == cpu) == first
					     ? pt_event_disable(event->fd)
					     : 0;

			err = failed ? failed : err;
		}
	}
	return err ? fail_errno(err, "cannot stop the trace") : 0;
}

void pt_events_release(struct pt *pt)
{
	for (size_t i = 0; i < pt->area_cnt; i++)
		area_release(&pt->areas[i]);
	for (size_t i = 0; i < pt->fd_cnt; i++)
		close(pt->fds[i].fd);
	free(pt->fds);
	free(pt->areas);
}
