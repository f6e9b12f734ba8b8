/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf overwrites nothing that was not read as long as what waits is fetched in time. Since a plain user may
 * lock little memory (some 0.5 MiB for each processor), perf's rings are small and are emptied often; the past
 * is kept in rings of our own, where a stack costs what has changed since the last one (ring_writer.c). That
 * reaches a hundred times further back than perf's overwritable rings of the same locked size, which hold each
 * copy whole.
 *
 * An event that is inherited must be bound to a processor, hence threads times processors; all of a processor
 * write to the ring of an event that does nothing else (as source/pt/pt_events.c).
 */
#include "source/samples/perf_samples.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file/file_limit.h"
#include "base/file/reading.h"
#include "base/log.h"
#include "model/sample.h"
#include "source/pt_event.h"
#include "source/pt_ring.h"
#include "source/samples/ticks.h"

/* Bytes of a processor's ring. A copy of a stack takes one in STACK_PART of it. */
enum { RING_MAX = 4 << 20, RING_MIN = 128 << 10, STACK_PART = 64, STACK_MIN = 4 << 10, STACK_MAX = 16 << 10 };

enum { DRAIN_MS_MIN = 5, DRAIN_MS_MAX = 100, ABI_64 = 2 };

struct ring {
	int owner; /* -1: the processor is offline */
	struct pt_event_map map;
	uint64_t throttled_ns; /* no ticks since then; 0: there are */
};

struct perf_samples {
	struct perf_samples_config config;
	struct perf_event_attr attr;
	const char *event;
	struct ring *rings; /* one for each processor */
	size_t ring_bytes;
	int *fds;
	size_t fd_cnt, fd_cap;
	size_t exec_cnt; /* the first ones start by themselves */
};

/* arch/x86/include/uapi/asm/perf_regs.h; in this order they stand in a record. */
static const struct {
	uint8_t bit, reg;
} registers[SAMPLES_REG_CNT] = {
	{0, SAMPLES_RAX},  {1, SAMPLES_RBX},  {2, SAMPLES_RCX},	 {3, SAMPLES_RDX},  {4, SAMPLES_RSI},
	{5, SAMPLES_RDI},  {6, SAMPLES_RBP},  {7, SAMPLES_RSP},	 {8, SAMPLES_RIP},  {16, SAMPLES_R8},
	{17, SAMPLES_R9},  {18, SAMPLES_R10}, {19, SAMPLES_R11}, {20, SAMPLES_R12}, {21, SAMPLES_R13},
	{22, SAMPLES_R14}, {23, SAMPLES_R15},
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

static void set_attr(struct perf_samples *samples)
{
	struct perf_event_attr *attr = &samples->attr;

	attr->size = sizeof(*attr);
	attr->freq = 1;
	attr->sample_freq = samples->config.frequency;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		attr->sample_regs_user |= 1ull << registers[i].bit;
	attr->sample_stack_user = STACK_MIN;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
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
	free(samples);
}

/* ---- targets ---- */

static int add_event(struct perf_samples *samples, pid_t tid, int cpu, bool at_exec)
{
	int fd, err;

	samples->attr.enable_on_exec = at_exec;
	fd = pt_event_open_inherited(&samples->attr, tid, cpu);
	if (fd < 0)
		return fd;
	err = pt_event_redirect(fd, samples->rings[cpu].owner);
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
		if (samples->rings[cpu].owner >= 0)
			err = add_event(samples, tid, (int)cpu, at_exec);
	return err;
}

static int add_threads(struct perf_samples *samples, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	while (!err && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		err = tid ? add_thread(samples, tid, false) : 0;
		if (err == -ESRCH) /* it has just ended */
			err = 0;
	}
	closedir(dir);
	return err;
}

int perf_samples_add(struct perf_samples *samples, pid_t pid, bool at_exec)
{
	int err;

	file_limit_raise();
	err = at_exec ? add_thread(samples, pid, true) : add_threads(samples, pid);
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

/* ---- records (linux/perf_event.h, "PERF_RECORD_SAMPLE" and "struct sample_id") ---- */

/* Ends each record that is no sample. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

struct tick {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t period, abi;
	uint64_t regs[SAMPLES_REG_CNT]; /* if abi is not 0 */
	uint64_t stack_size;
	uint8_t stack[]; /* then how many bytes of them were filled */
};

/* What is being emptied. */
struct draining {
	struct ring *ring;
	struct samples_writer *writers; /* of the processor */
};

static void put_moment(const struct draining *draining, const struct trailer *trailer,
		       struct samples_record record)
{
	record.time_ns = trailer->time_ns;
	record.pid = trailer->pid;
	record.tid = trailer->tid;
	samples_writer_put(&draining->writers[SAMPLES_MOMENTS], &record);
}

/* Whether it preempts is told since Linux 4.17; why it waits is not. */
static void put_switch(const struct draining *draining, const struct trailer *trailer, uint16_t misc)
{
	struct samples_record record = {.kind = SAMPLES_IN};

	if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
		record.kind = SAMPLES_OUT;
		record.flags = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SAMPLES_PREEMPT : 0;
		record.out.nr = SAMPLE_NO_SYSCALL;
		record.out.state = record.flags ? 0 : SAMPLE_INTERRUPTIBLE;
	}
	put_moment(draining, trailer, record);
}

static void put_lost(const struct draining *draining, const struct trailer *trailer,
		     const struct perf_event_header *header)
{
	const struct samples_record record = {.kind = SAMPLES_GONE, .gone = {.cnt = pt_ring_lost(header)}};

	put_moment(draining, trailer, record);
}

/* The kernel takes no more ticks of an event until its next own tick: they took too long. */
static void put_throttled(const struct draining *draining, const struct trailer *trailer, bool begins)
{
	struct ring *ring = draining->ring;
	const struct samples_record record = {
		.kind = SAMPLES_GONE, .flags = SAMPLES_ONLY_TICKS, .gone = {.since_ns = ring->throttled_ns}};

	if (!begins && ring->throttled_ns)
		put_moment(draining, trailer, record);
	ring->throttled_ns = begins ? trailer->time_ns : 0;
}

static int put_tick(const struct draining *draining, const struct tick *tick)
{
	struct samples_full full = {.record = {.kind = SAMPLES_TICK}};
	uint64_t filled;

	if (tick->header.size < sizeof(*tick) || tick->abi != ABI_64 ||
	    tick->header.size < sizeof(*tick) + tick->stack_size + sizeof(filled))
		return 0;
	memcpy(&filled, tick->stack + tick->stack_size, sizeof(filled));
	full.record.time_ns = tick->time_ns;
	full.record.pid = tick->pid;
	full.record.tid = tick->tid;
	full.record.tick.period = tick->period;
	full.record.tick.kernel_ip = arch_is_kernel(tick->ip) ? tick->ip : 0;
	full.record.flags = filled == tick->stack_size ? SAMPLES_CUT : 0;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		full.regs[registers[i].reg] = tick->regs[i];
	return samples_writer_put_full(&draining->writers[SAMPLES_TICKS], &full, tick->stack,
				       filled < tick->stack_size ? filled : tick->stack_size);
}

static int put_record(void *ctx, const struct perf_event_header *header)
{
	const struct draining *draining = ctx;
	struct trailer trailer;

	if (header->type == PERF_RECORD_SAMPLE)
		return header->size > sizeof(struct tick) ? put_tick(draining, (const struct tick *)header)
							  : 0;
	if (header->size < sizeof(*header) + sizeof(trailer))
		return 0;
	memcpy(&trailer, (const uint8_t *)header + header->size - sizeof(trailer), sizeof(trailer));
	switch (header->type) {
	case PERF_RECORD_SWITCH:
		put_switch(draining, &trailer, header->misc);
		break;
	case PERF_RECORD_LOST:
		put_lost(draining, &trailer, header);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		put_throttled(draining, &trailer, header->type == PERF_RECORD_THROTTLE);
		break;
	}
	return 0;
}

int perf_samples_drain(struct perf_samples *samples)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < samples->config.cpu_cnt && !err; cpu++) {
		struct ring *ring = &samples->rings[cpu];
		struct draining draining = {ring, &samples->config.writers[(size_t)cpu * SAMPLES_RING_CNT]};

		if (ring->owner >= 0)
			err = pt_ring_records(&ring->map, put_record, &draining);
	}
	return err ? fail_errno(err, "cannot read what perf sampled") : 0;
}

/* When half of a ring is full, at most. */
int perf_samples_drain_ms(const struct perf_samples *samples)
{
	size_t each = sizeof(struct tick) + samples->attr.sample_stack_user;
	size_t ms = samples->ring_bytes / 2 / each * 1000 / samples->config.frequency;

	return ms < DRAIN_MS_MIN ? DRAIN_MS_MIN : ms > DRAIN_MS_MAX ? DRAIN_MS_MAX : (int)ms;
}

const char *perf_samples_event(const struct perf_samples *samples)
{
	return samples->event;
}
