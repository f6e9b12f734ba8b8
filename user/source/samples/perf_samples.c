/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf overwrites nothing that was not read as long as what waits is fetched in time. Since a plain user may
 * lock little memory (some 0.5 MiB for each processor), perf's rings are small and are emptied often; the
 * past is kept in rings of our own, where a stack costs what has changed since the last one
 * (ring_writer.c). That reaches a hundred times further back than perf's overwritable rings of the same
 * locked size, which hold each copy whole.
 *
 * An event that is inherited must be bound to a processor, hence threads times processors; all of a processor
 * write to the ring of an event that does nothing else (as source/pt/pt_events.c).
 */
#include "source/samples/perf_samples.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file/reading.h"
#include "base/log.h"
#include "process/proc_status.h"
#include "source/pt_event.h"
#include "source/samples/perf_records.h"
#include "source/samples/ticks.h"

/* Bytes of a processor's ring. A copy of a stack takes one in STACK_PART of it. */
enum { RING_MAX = 4 << 20, RING_MIN = 128 << 10, STACK_PART = 64, STACK_MIN = 4 << 10, STACK_MAX = 16 << 10 };

enum { DRAIN_MS_MIN = 5, DRAIN_MS_MAX = 100, FAULTS_PERIOD = 64 };

struct ring {
	int owner; /* -1: the processor is offline */
	struct pt_event_map map;
	uint64_t throttled_ns; /* no ticks since then; 0: there are */
};

struct perf_samples {
	struct perf_samples_config config;
	struct perf_event_attr attr, counts[SAMPLES_EVENTS_MAX]; /* of config.events */
	const char *event;
	struct perf_ids ids; /* of what is counted */
	struct ring *rings;  /* one for each processor */
	size_t ring_bytes;
	int *fds;
	size_t fd_cnt, fd_cap;
	size_t exec_cnt; /* the first ones start by themselves */
};

/* ---- events ---- */

static int fail_refused(int err)
{
	return fail(
		err,
		"the kernel does not let this user sample (kernel.perf_event_paranoid is %d): sudo sysctl "
		"kernel.perf_event_paranoid=2, or give trailcam CAP_BPF and CAP_PERFMON (in a container, a "
		"seccomp filter that allows perf_event_open)",
		reading_number("/proc/sys/kernel/perf_event_paranoid", -1));
}

static int explain(int err, uint32_t frequency)
{
	if (err == -EACCES || err == -EPERM || err == -ENOSYS)
		return fail_refused(-EPERM);
	if (err == -EMFILE)
		return fail(err, "no file descriptors are left for an event of each thread on each processor "
				 "(ulimit -n)");
	return samples_ticks_fail(err, frequency);
}

/* The best event that may be had, tried on this thread. */
static int choose_event(struct perf_samples *samples)
{
	struct perf_event_attr *attr = &samples->attr;
	int err = -ENOENT;

	for (size_t i = 0; (samples->event = samples_ticks_event(i, attr)); i++) {
		for (int user_only = 0; user_only <= 1; user_only++) {
			int fd;

			attr->exclude_kernel = user_only != 0;
			fd = pt_event_open_inherited(attr, 0, -1);
			if (fd >= 0) {
				close(fd);
				return 0;
			}
			err = fd;
		}
		if (err != -ENOENT && err != -EOPNOTSUPP)
			break;
	}
	return explain(err, samples->config.frequency);
}

/*
 * The kernel's guesses at a period in which a software event comes so often are far off (half as many again).
 * With a fixed one it is exact but for the last few of each thread, and the kernel drops none in a storm, as
 * it does beyond kernel.perf_event_max_sample_rate.
 */
static void fix_period(struct perf_event_attr *attr)
{
	bool is_frequent =
		attr->config == PERF_COUNT_SW_PAGE_FAULTS || attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN;

	if (attr->type != PERF_TYPE_SOFTWARE)
		return;
	attr->freq = 0;
	attr->sample_period = is_frequent ? FAULTS_PERIOD : 1;
	/* With that the kernel makes a record of each. */
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

/* What this user may count: in the kernel, too, or only in user code. */
static int choose_count(struct perf_samples *samples, size_t nth)
{
	struct perf_event_attr *attr = &samples->counts[nth];
	int err = 0;

	samples_events_attr(samples->config.events, nth, samples->config.frequency, attr);
	perf_records_of_counts(attr);
	fix_period(attr);
	attr->inherit = 1;
	attr->inherit_thread = !samples->config.follow_forks;
	for (int user_only = 0; user_only <= 1; user_only++) {
		int fd;

		attr->exclude_kernel = user_only != 0;
		if (user_only && samples_events_in_kernel(samples->config.events, nth))
			break;
		fd = pt_event_open_inherited(attr, 0, -1);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		err = fd;
	}
	return samples_events_fail(samples->config.events, nth, samples->config.frequency, err);
}

static void set_attr(struct perf_samples *samples)
{
	struct perf_event_attr *attr = &samples->attr;

	attr->size = sizeof(*attr);
	attr->freq = 1;
	attr->sample_freq = samples->config.frequency;
	perf_records_of_ticks(attr, STACK_MIN);
	attr->context_switch = 1;
	attr->inherit = 1;
	attr->inherit_thread = !samples->config.follow_forks;
	attr->disabled = 1;
	attr->exclude_hv = 1;
}

/* ---- rings ---- */

static int open_ring(struct ring *ring, int cpu, size_t bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	ring->owner = pt_event_open(&attr, 0, cpu, -1);
	if (ring->owner < 0)
		return ring->owner == -ENODEV ? 0 : ring->owner;
	return pt_event_map(ring->owner, bytes, 0, false, &ring->map);
}

static void close_rings(struct perf_samples *samples)
{
	for (uint32_t cpu = 0; samples->rings && cpu < samples->config.cpu_cnt; cpu++) {
		pt_event_unmap(&samples->rings[cpu].map);
		if (samples->rings[cpu].owner >= 0)
			close(samples->rings[cpu].owner);
		samples->rings[cpu].owner = -1;
	}
}

/* As large as may be: beyond what this user may lock the kernel says EPERM. */
static int open_rings(struct perf_samples *samples)
{
	int err = -EPERM;

	for (size_t bytes = RING_MAX; bytes >= RING_MIN && err == -EPERM; bytes /= 2) {
		close_rings(samples);
		err = 0;
		for (uint32_t cpu = 0; cpu < samples->config.cpu_cnt && !err; cpu++)
			err = open_ring(&samples->rings[cpu], (int)cpu, bytes);
		samples->ring_bytes = bytes;
	}
	return err ? explain(err, samples->config.frequency) : 0;
}

static uint32_t stack_bytes(const struct perf_samples *samples)
{
	size_t bytes = samples->ring_bytes / STACK_PART;

	return (uint32_t)(bytes < STACK_MIN ? STACK_MIN : bytes > STACK_MAX ? STACK_MAX : bytes);
}

int perf_samples_try(void)
{
	struct perf_samples samples = {.config.frequency = 1};

	set_attr(&samples);
	return choose_event(&samples);
}

int perf_samples_new(struct perf_samples **ret_samples, const struct perf_samples_config *config)
{
	CLEANUP(perf_samples_freep) struct perf_samples *samples = calloc(1, sizeof(*samples));
	int err;

	if (!samples)
		return -ENOMEM;
	samples->config = *config;
	samples->rings = calloc(config->cpu_cnt, sizeof(*samples->rings));
	if (!samples->rings)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < config->cpu_cnt; cpu++)
		samples->rings[cpu].owner = -1;
	set_attr(samples);
	err = choose_event(samples);
	for (size_t i = 0; i < samples_events_cnt(samples->config.events) && !err; i++)
		err = choose_count(samples, i);
	if (!err)
		err = open_rings(samples);
	if (err)
		return err;
	samples->attr.sample_stack_user = stack_bytes(samples);
	log_debug("samples by perf: %s%s, rings of %zu KiB", samples->event,
		  samples->attr.exclude_kernel ? " of user code" : "", samples->ring_bytes >> 10);
	*ret_samples = TAKE_PTR(samples);
	return 0;
}

void perf_samples_free(struct perf_samples *samples)
{
	if (!samples)
		return;
	for (size_t i = 0; i < samples->fd_cnt; i++)
		close(samples->fds[i]);
	close_rings(samples);
	free(samples->fds);
	free(samples->rings);
	perf_ids_release(&samples->ids);
	free(samples);
}

/* ---- targets ---- */

/* `count`: of config.events, from 1 on; 0: the clock. */
static int add_event(struct perf_samples *samples, pid_t tid, int cpu, bool at_exec, uint32_t count)
{
	struct perf_event_attr *attr = count ? &samples->counts[count - 1] : &samples->attr;
	uint64_t id;
	int fd, err;

	attr->enable_on_exec = at_exec;
	fd = pt_event_open_inherited(attr, tid, cpu);
	if (fd < 0)
		return fd;
	err = pt_event_redirect(fd, samples->rings[cpu].owner);
	if (!err && count)
		err = pt_event_id(fd, &id);
	if (!err && count)
		err = perf_ids_add(&samples->ids,
				   &(struct perf_id){id, count, attr->freq ? 0 : attr->sample_period});
	if (!err)
		err = ARRAY_PUSH(samples->fds, samples->fd_cnt, samples->fd_cap, fd);
	if (err)
		close(fd);
	return err;
}

static int add_thread(struct perf_samples *samples, pid_t tid, bool at_exec)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < samples->config.cpu_cnt && !err; cpu++)
		for (uint32_t i = 0; i <= samples_events_cnt(samples->config.events) &&
				     samples->rings[cpu].owner >= 0 && !err;
		     i++)
			err = add_event(samples, tid, (int)cpu, at_exec, i);
	return err;
}

static int add_threads(struct perf_samples *samples, pid_t pid)
{
	CLEANUP(closedirp) DIR *threads = proc_threads(pid);
	int err = threads ? 0 : -ESRCH;

	for (pid_t tid; !err && (tid = proc_next(threads));) {
		err = add_thread(samples, tid, false);
		if (err == -ESRCH) /* it has just ended */
			err = 0;
	}
	return err;
}

int perf_samples_add(struct perf_samples *samples, pid_t pid, bool at_exec)
{
	int err = at_exec ? add_thread(samples, pid, true) : add_threads(samples, pid);
	if (at_exec)
		samples->exec_cnt = samples->fd_cnt;
	return err == -ESRCH ? fail(err, "process %d has ended", (int)pid)
	       : err	     ? explain(err, samples->config.frequency)
			     : 0;
}

int perf_samples_start(struct perf_samples *samples)
{
	int err = 0;

	for (size_t i = samples->exec_cnt; i < samples->fd_cnt && !err; i++)
		err = pt_event_enable(samples->fds[i]);
	return err ? fail_errno(err, "cannot start the clock that samples") : 0;
}

void perf_samples_stop(struct perf_samples *samples)
{
	for (size_t i = 0; i < samples->fd_cnt; i++)
		pt_event_disable(samples->fds[i]);
}

int perf_samples_drain(struct perf_samples *samples)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < samples->config.cpu_cnt && !err; cpu++) {
		struct ring *ring = &samples->rings[cpu];
		const struct perf_records records = {
			.writers = &samples->config.writers[(size_t)cpu * SAMPLES_RING_CNT],
			.throttled_ns = &ring->throttled_ns,
			.ids = &samples->ids,
		};

		if (ring->owner >= 0)
			err = perf_records_take(&records, &ring->map);
	}
	return err ? fail_errno(err, "cannot read what perf sampled") : 0;
}

/* When half of a ring is full, at most. */
int perf_samples_drain_ms(const struct perf_samples *samples)
{
	size_t each = perf_records_tick_bytes(samples->attr.sample_stack_user);
	size_t ms = samples->ring_bytes / 2 / each * 1000 / samples->config.frequency;

	return ms < DRAIN_MS_MIN ? DRAIN_MS_MIN : ms > DRAIN_MS_MAX ? DRAIN_MS_MAX : (int)ms;
}

const char *perf_samples_event(const struct perf_samples *samples)
{
	return samples->event;
}
