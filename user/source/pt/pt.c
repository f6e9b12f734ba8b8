/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Beginning and end, and the data beside the trace: the clock, and earlier mappings.
 *
 *	pt_events.c	events and their memory		pt_take.c	what was written there
 *	pt_event.c	the system calls		pt_sideband.c	what the kernel would have told
 *	pt_caps.c	what this processor can		pt_limits.c	what this user may
 *	pt_source.c	the table
 */
#include "source/pt/pt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "process/proc_status.h"
#include "process/vdso.h"
#include "source/pt/kernel_code.h"
#include "source/pt/pt_internal.h"
#include "source/pt/pt_limits.h"
#include "source/pt/pt_sideband.h"
#include "source/tsc.h"

/* How many context switches are kept: older parts of the trace cannot be assigned to threads. */
enum { SWITCHES_MAX = 1 << 18 };

enum { RING_SIZE_DEFAULT = 4 << 20, RING_SIZE_MIN = 64 << 10 };

static int explain(const struct pt *pt, int err)
{
	return pt_explain(err, pt->config.ring_size, (int)pt->area_cnt, pt->config.scope != PT_USER);
}

/* ---- the moment of attaching ---- */

/* Into pt->clock. */
static int read_clock(struct pt *pt)
{
	int err = pt->clock.mult ? 0 : -ENODEV;

	/* The last one read also serves rings that are gone. */
	for (size_t i = 0; i < pt->area_cnt; i++)
		if (pt->areas[i].owner >= 0 && !pt_ring_clock(&pt->areas[i].map, &pt->clock)) {
			err = 0;
			break;
		}
	return err ? fail(-ENOTSUP, "the kernel does not tell how the TSC relates to its clock (the TSC is "
				    "unstable), so a trace would have no times: use --source step")
		   : 0;
}

static uint64_t now_ns(struct pt *pt)
{
	return read_clock(pt) ? 0 : trace_clock_ns(&pt->clock, __rdtsc());
}

static int add_threads(struct pt *pt, pid_t pid)
{
	CLEANUP(closedirp) DIR *threads = proc_threads(pid);
	int err = threads ? 0 : -ESRCH;

	for (pid_t tid; !err && (tid = proc_next(threads));) {
		err = pt_events_add(pt, pid, tid, false);
		if (err == -ESRCH) /* it has just ended */
			err = 0;
		else if (!err)
			err = pt_sideband_name(&pt->records, pid, tid, now_ns(pt));
	}
	return err;
}

/* Processes that end meanwhile, or that may not be looked into, are passed over. */
static int tell_past_of_all(struct pt *pt)
{
	CLEANUP(closedirp) DIR *processes = opendir("/proc");
	int err = 0;

	if (!processes)
		return -errno;
	for (pid_t pid; err != -ENOMEM && (pid = proc_next(processes));)
		err = pt_sideband_tell(&pt->records, pid, now_ns(pt));
	return err == -ENOMEM ? err : 0;
}

static int add_all(struct pt *pt)
{
	int err = pt_events_add(pt, -1, -1, false);

	if (err)
		return explain(pt, err);
	err = read_clock(pt);
	return err ? err : tell_past_of_all(pt);
}

int pt_add(struct pt *pt, pid_t pid, bool at_exec)
{
	int err;

	if (pt->config.cpu_wide)
		return pt->fd_cnt ? 0 : add_all(pt);
	err = at_exec ? pt_events_add(pt, pid, pid, true) : add_threads(pt, pid);
	if (err)
		return err == -ESRCH ? fail(err, "process %d has ended", pid) : explain(pt, err);
	pt->started_by_exec = at_exec;
	err = read_clock(pt);
	return err || at_exec ? err : pt_sideband_tell(&pt->records, pid, now_ns(pt));
}

int pt_born(struct pt *pt, pid_t pid, pid_t tid)
{
	size_t first;
	int err;

	if (!pt->config.per_thread)
		return 0;
	err = pt_events_add(pt, pid, tid, false);
	if (err)
		return err == -ESRCH ? 0 : explain(pt, err);
	for (first = pt->fd_cnt; first && pt->fds[first - 1].area_tid == tid; first--)
		;
	err = pt_events_filter(pt, first);
	return err || pt->stopped ? err : pt_events_enable(pt, first);
}

bool pt_pauses(const struct pt *pt)
{
	return pt->printk_id >= 0;
}

size_t pt_filter_max(const struct pt *pt)
{
	return pt->caps.address_ranges;
}

int pt_describe(struct pt *pt, struct snapshot *snapshot)
{
	const struct tsc_moment now = tsc_now();
	int err = read_clock(pt);

	if (err)
		return err;
	snapshot->clock = pt->clock;
	snapshot->params = pt_caps_params(&pt->caps, pt->pt_config);
	snapshot->clock.trace_ns = trace_clock_ns(&snapshot->clock, now.tsc);
	snapshot->clock.monotonic_ns = now.ns;
	snapshot->clock.realtime_ns = now.realtime_ns;
	snapshot->source = strdup("intel_pt");
	if (!snapshot->source || vdso_add_own(snapshot))
		return -ENOMEM;
	if (pt->config.scope == PT_USER)
		return 0;
	err = kernel_code_copy(snapshot, KERNEL_PROC);
	if (err && err != -ENOMEM) {
		log_warn("%s: its functions are missing in the trace", fail_message(err));
		err = 0;
	}
	return err;
}

/* ---- life ---- */

int pt_new(struct pt **ret_pt, const struct pt_config *config)
{
	CLEANUP(pt_freep) struct pt *pt = calloc(1, sizeof(*pt));
	long cnt = sysconf(_SC_NPROCESSORS_CONF);
	int err;

	if (!pt)
		return -ENOMEM;
	pt->config = *config;
	if (!config->ring_size)
		pt->config.ring_size = pt_ring_size(config->per_thread ? 1 : (int)cnt, DATA_SIZE,
						    RING_SIZE_DEFAULT, RING_SIZE_MIN);
	pt->records.switch_max = SWITCHES_MAX;
	err = pt_caps_read(&pt->caps, config->sysfs);
	if (!err)
		err = pt_caps_config(&pt->caps, &config->timing, pt->config.ring_size, &pt->pt_config);
	if (err)
		return err;
	for (int cpu = 0; cpu < (config->per_thread ? 0 : cnt) && !err; cpu++)
		err = ARRAY_PUSH(pt->areas, pt->area_cnt, pt->area_cap,
				 ((struct pt_area){.cpu = cpu, .pid = -1, .tid = -1, .owner = -1}));
	if (err)
		return err;
	pt->printk_id = config->pause ? pt_event_printk_id() : -ENOTSUP;
	*ret_pt = TAKE_PTR(pt);
	return 0;
}

void pt_free(struct pt *pt)
{
	if (!pt)
		return;
	pt_events_release(pt);
	record_list_release(&pt->records);
	free(pt->filter);
	free(pt);
}
