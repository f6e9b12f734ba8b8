/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On each processor the first event owns the memory, and all others write there (PERF_EVENT_IOC_SET_OUTPUT). An event that is inherited must be bound to
 * a processor (kernel/events/core.c, perf_mmap()), hence threads times processors. A thread with memory of its own has an event that follows it, and is not
 * inherited: who is born gets another (pt_born()). Records come from a second, dummy event, since the trace's
 * own is off while it is not wanted.
 */
#include "source/pt.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "source/code_store.h"
#include "source/kernel_code.h"
#include "source/pt_event.h"
#include "source/pt_limits.h"
#include "source/pt_past.h"
#include "source/pt_ring.h"
#include "source/record_list.h"
#include "source/sideband.h"

/* What a ring holds happened since the newest of so many context switches, or who ran then is not known. */
enum { SWITCHES_MAX = 1 << 18 };

/* Of threads with memory of their own: more than that only while so many live. */
enum { AREAS_MAX = 64 };

enum { DATA_SIZE = 128 << 10, RING_SIZE_DEFAULT = 4 << 20, RING_SIZE_MIN = 64 << 10, CLOCK_TRIES = 32 };

/* Memory that events write to: a processor's (pid and tid are -1), or a thread's (cpu is -1). */
struct pt_area {
	int cpu;
	pid_t pid, tid;
	bool ended; /* the thread */
	int owner;  /* the event whose memory it is, or -1 */
	struct pt_event_map map;
	struct pt_taken taken;
	FILE *stream;	  /* pt_config.full: what was read ... */
	uint64_t bytes;	  /* ... so much ... */
	uint64_t *losses; /* ... and where something is missing */
	size_t loss_cnt, loss_cap;
	bool truncated; /* the event is to be enabled again */
};

/* An event of a thread on a processor, or, with memory of its own, on all. */
struct pt_fd {
	int fd, cpu;
	pid_t area_tid; /* with cpu: says which memory */
	bool is_trace;
};

struct pt {
	struct pt_config config;
	struct pt_caps caps;
	uint64_t pt_config; /* perf_event_attr.config */
	struct pt_area *areas;
	size_t area_cnt, area_cap;
	struct pt_fd *fds;
	size_t fd_cnt, fd_cap;
	struct record_list records;
	uint64_t lost;		  /* records */
	bool stopped;		  /* by pt_stop() */
	char *filter;		  /* pt_set_filter(); or NULL */
	struct trace_clock clock; /* mult 0: not read yet */
	int printk_id;		  /* of the tracepoint that pauses; negative: nothing does */
};

/* ---- events ---- */

/* Events of a processor, and those with memory of a thread's own, are not inherited. */
static bool inherits(const struct pt_area *area, pid_t tid)
{
	return area->cpu >= 0 && tid >= 0;
}

static struct perf_event_attr base_attr(const struct pt *pt)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.sample_type = SIDEBAND_SAMPLE_TYPE,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = 1,
		.inherit_thread = !pt->config.follow_forks,
	};
}

static struct perf_event_attr trace_attr(const struct pt *pt, bool at_exec)
{
	struct perf_event_attr attr = base_attr(pt);

	attr.type = pt->caps.type;
	attr.config = pt->pt_config;
	attr.exclude_kernel = pt->config.scope == PT_USER;
	attr.exclude_user = pt->config.scope == PT_KERNEL;
	attr.disabled = 1;
	attr.enable_on_exec = at_exec;
	return attr;
}

static struct perf_event_attr record_attr(const struct pt *pt)
{
	struct perf_event_attr attr = base_attr(pt);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.mmap = attr.mmap2 = 1;
	attr.comm = attr.comm_exec = 1;
	attr.task = 1;
	attr.context_switch = 1;
	return attr;
}

/* In the group of a trace: what fires it pauses the trace, on this processor and at once (kernel/events/core.c, __perf_event_overflow()). */
static struct perf_event_attr pause_attr(const struct pt *pt)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = (uint64_t)pt->printk_id,
		.sample_period = 1,
		.inherit = 1,
		.inherit_thread = !pt->config.follow_forks,
		.__reserved_3 = PT_EVENT_AUX_PAUSE,
	};

	return attr;
}

/* Kernels before 5.13 cannot tell threads from children: what the children do is recorded, and passed over later. */
static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = pt_event_open(attr, tid, cpu, -1);

	if (fd == -EINVAL && attr->inherit_thread) {
		attr->inherit_thread = 0;
		fd = pt_event_open(attr, tid, cpu, -1);
	}
	return fd;
}

/* The event writes to its processor's memory, which is made if this is the first. */
static int place_event(struct pt *pt, struct pt_area *cpu, int fd)
{
	int err;

	if (cpu->owner >= 0)
		return pt_event_redirect(fd, cpu->owner);
	err = pt_event_map(fd, DATA_SIZE, pt->config.ring_size, pt->config.full, &cpu->map);
	if (err)
		return err;
	cpu->owner = fd;
	cpu->stream = pt->config.full ? tmpfile() : NULL;
	return pt->config.full && !cpu->stream ? -errno : 0;
}

/* Where the kernel or the driver cannot do it, hits are stopped as without. */
static int add_pause(struct pt *pt, const struct pt_area *cpu, pid_t tid, int leader)
{
	struct perf_event_attr attr = pause_attr(pt);
	int fd;

	if (!inherits(cpu, tid))
		attr.inherit = attr.inherit_thread = 0;
	fd = pt_event_open(&attr, tid, cpu->cpu, leader);
	if (fd < 0) {
		log_debug("the trace cannot be paused by a hit: %s", strerror(-fd));
		pt->printk_id = fd;
		return 0;
	}
	if (ARRAY_PUSH(pt->fds, pt->fd_cnt, pt->fd_cap, ((struct pt_fd){fd, cpu->cpu, cpu->tid, false}))) {
		close(fd);
		return -ENOMEM;
	}
	return 0;
}

static int add_event(struct pt *pt, struct pt_area *cpu, pid_t tid, struct perf_event_attr *attr,
		     bool is_trace)
{
	int fd = open_event(attr, tid, cpu->cpu), err;

	if (fd < 0)
		return fd;
	if (ARRAY_PUSH(pt->fds, pt->fd_cnt, pt->fd_cap, ((struct pt_fd){fd, cpu->cpu, cpu->tid, is_trace}))) {
		close(fd);
		return -ENOMEM;
	}
	err = place_event(pt, cpu, fd);
	return err || !is_trace || pt->printk_id < 0 ? err : add_pause(pt, cpu, tid, fd);
}

static int add_to_area(struct pt *pt, struct pt_area *area, pid_t tid, bool at_exec)
{
	struct perf_event_attr trace = trace_attr(pt, at_exec), records = record_attr(pt);
	int err;

	if (!inherits(area, tid))
		trace.inherit = trace.inherit_thread = records.inherit = records.inherit_thread = 0;
	err = add_event(pt, area, tid, &trace, true);
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

/* The memory of threads that have ended is given up, the longest dead first, while there are more than so many. What was streamed is kept. */
static void give_up_ended(struct pt *pt, size_t max)
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

static int add_thread(struct pt *pt, pid_t pid, pid_t tid, bool at_exec)
{
	const struct pt_area own = {.cpu = -1, .pid = pid, .tid = tid, .owner = -1};
	int err;

	if (!pt->config.per_thread)
		return add_to_processors(pt, tid, at_exec);
	give_up_ended(pt, AREAS_MAX);
	err = ARRAY_PUSH(pt->areas, pt->area_cnt, pt->area_cap, own);
	if (!err)
		err = add_to_area(pt, &pt->areas[pt->area_cnt - 1], tid, at_exec);
	if (err == -ESRCH) {
		close_events(pt, &own);
		area_release(&pt->areas[--pt->area_cnt]);
	}
	return err;
}

static int explain(const struct pt *pt, int err)
{
	return pt_explain(err, pt->config.ring_size, (int)pt->area_cnt, pt->config.scope != PT_USER);
}

/* ---- the moment of attaching ---- */

static int read_clock(struct pt *pt, struct trace_clock *ret_clock)
{
	int err = pt->clock.mult ? 0 : -ENODEV;

	/* The last that was read stands for rings that are gone. */
	for (size_t i = 0; i < pt->area_cnt; i++)
		if (pt->areas[i].owner >= 0 && !pt_ring_clock(&pt->areas[i].map, &pt->clock)) {
			err = 0;
			break;
		}
	*ret_clock = pt->clock;
	return err ? fail(-ENOTSUP,
			  "the kernel does not tell how the TSC relates to its clock (an unstable TSC): the "
			  "times of a trace of this processor cannot be understood; use --source step")
		   : 0;
}

static uint64_t now_ns(struct pt *pt)
{
	struct trace_clock clock;

	return read_clock(pt, &clock) ? 0 : trace_clock_ns(&clock, __rdtsc());
}

static int add_threads(struct pt *pt, pid_t pid)
{
	CLEANUP(freep) char *path = NULL;
	struct dirent *entry;
	DIR *dir;
	int err = 0;

	if (asprintf(&path, "/proc/%d/task", pid) < 0)
		return -ENOMEM;
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	while (!err && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (!tid)
			continue;
		err = add_thread(pt, pid, tid, false);
		if (err == -ESRCH) /* it has just ended */
			err = 0;
		else if (!err)
			err = pt_past_name(&pt->records, pid, tid, now_ns(pt));
	}
	closedir(dir);
	return err;
}

int pt_add(struct pt *pt, pid_t pid, bool at_exec)
{
	int err = at_exec ? add_thread(pt, pid, pid, true) : add_threads(pt, pid);
	struct trace_clock clock;

	if (err)
		return err == -ESRCH ? fail(err, "process %d has ended", pid) : explain(pt, err);
	err = read_clock(pt, &clock);
	return err || at_exec ? err : pt_past_tell(&pt->records, pid, now_ns(pt));
}

/* Processes that end meanwhile, or that may not be looked into, are passed over. */
static int tell_past_of_all(struct pt *pt)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (err != -ENOMEM && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		err = pid ? pt_past_tell(&pt->records, pid, now_ns(pt)) : 0;
	}
	closedir(dir);
	return err == -ENOMEM ? err : 0;
}

int pt_add_all(struct pt *pt)
{
	struct trace_clock clock;
	int err = add_to_processors(pt, -1, false);

	if (err)
		return explain(pt, err);
	err = read_clock(pt, &clock);
	return err ? err : tell_past_of_all(pt);
}

/* ---- running ---- */

bool pt_pauses(const struct pt *pt)
{
	return pt->printk_id >= 0;
}

size_t pt_filter_max(const struct pt *pt)
{
	return pt->caps.address_ranges;
}

/* Those from the first-th on. */
static int filter_events(const struct pt *pt, size_t first)
{
	for (size_t i = first; i < pt->fd_cnt && pt->filter; i++) {
		int err = pt->fds[i].is_trace ? pt_event_set_filter(pt->fds[i].fd, pt->filter) : 0;

		if (err)
			return fail_errno(err, "the kernel does not take the address filter '%s'",
					  pt->filter);
	}
	return 0;
}

static int enable_events(const struct pt *pt, size_t first)
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
	return pt->filter ? filter_events(pt, 0) : -ENOMEM;
}

int pt_start(struct pt *pt)
{
	pt->stopped = false;
	return enable_events(pt, 0);
}

int pt_born(struct pt *pt, pid_t pid, pid_t tid)
{
	size_t first;
	int err;

	if (!pt->config.per_thread)
		return 0;
	err = add_thread(pt, pid, tid, false);
	if (err)
		return err == -ESRCH ? 0 : explain(pt, err);
	for (first = pt->fd_cnt; first && pt->fds[first - 1].area_tid == tid; first--)
		;
	err = filter_events(pt, first);
	return err || pt->stopped ? err : enable_events(pt, first);
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

struct drain {
	struct pt *pt;
	struct pt_area *cpu;
};

/* PERF_RECORD_EXIT: u32 pid, ppid, tid, ptid */
static bool is_end_of(const struct perf_event_header *record, pid_t tid)
{
	uint32_t ids[3];

	if (record->type != PERF_RECORD_EXIT || record->size < sizeof(*record) + sizeof(ids))
		return false;
	memcpy(ids, record + 1, sizeof(ids));
	return (pid_t)ids[2] == tid;
}

static int on_record(void *ctx, const struct perf_event_header *record)
{
	const struct drain *drain = ctx;

	if (record->type == PERF_RECORD_LOST)
		drain->pt->lost += pt_ring_lost(record);
	drain->cpu->truncated |= pt_ring_is_truncated(record);
	drain->cpu->ended |= is_end_of(record, drain->cpu->tid);
	if (record->type == PERF_RECORD_MMAP2)
		return pt_past_add_mapping(&drain->pt->records, record);
	return record_list_add(&drain->pt->records, record);
}

/* The trace went on until its room was full; from here on it goes on anew. */
static int restart(struct pt *pt, struct pt_area *cpu)
{
	int err = ARRAY_PUSH(cpu->losses, cpu->loss_cnt, cpu->loss_cap, cpu->bytes);

	cpu->truncated = false;
	for (size_t i = 0; i < pt->fd_cnt && !err && !pt->stopped; i++)
		if (pt->fds[i].is_trace && pt->fds[i].cpu == cpu->cpu && pt->fds[i].area_tid == cpu->tid)
			err = pt_event_enable(pt->fds[i].fd);
	return err;
}

static int drain_stream(struct pt *pt, struct pt_area *cpu)
{
	ssize_t got = pt_ring_stream(&cpu->map, cpu->stream);

	if (got < 0)
		return fail_errno((int)got, "cannot write the trace to a temporary file (TMPDIR)");
	cpu->bytes += (uint64_t)got;
	return cpu->truncated ? restart(pt, cpu) : 0;
}

int pt_drain(struct pt *pt)
{
	for (size_t i = 0; i < pt->area_cnt; i++) {
		struct pt_area *cpu = &pt->areas[i];
		struct drain drain = {pt, cpu};
		int err = cpu->owner < 0 ? 0 : pt_ring_records(&cpu->map, on_record, &drain);

		if (err)
			return fail(err, "the kernel's records of processor %d cannot be read", cpu->cpu);
		err = cpu->owner >= 0 && cpu->stream ? drain_stream(pt, cpu) : 0;
		if (err)
			return err;
	}
	return 0;
}

uint64_t pt_streamed(const struct pt *pt)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < pt->area_cnt; i++)
		bytes += pt->areas[i].bytes;
	return bytes;
}

/* ---- snapshots ---- */

static int add_aux(struct snapshot *snapshot, const struct pt_area *cpu, const struct aux_trace *from)
{
	struct aux_trace *aux = snapshot_add_aux(snapshot);

	if (!aux)
		return -ENOMEM;
	*aux = *from;
	aux->pid = cpu->pid;
	aux->tid = cpu->tid;
	aux->cpu = cpu->cpu;
	aux->ref_tsc = trace_first_tsc(aux->bytes, aux->size, __rdtsc());
	return 0;
}

static int take_ring(struct snapshot *snapshot, struct pt_area *cpu)
{
	struct aux_trace aux = {0};
	bool round;
	int err = pt_ring_take(&cpu->map, &cpu->taken, &aux.bytes, &aux.size, &round);

	if (err)
		return err;
	aux.offset = round ? aux.size : 0;
	err = aux.size ? add_aux(snapshot, cpu, &aux) : 0;
	if (err || !aux.size)
		free(aux.bytes);
	return err;
}

/* A part that begins behind a loss; mapped from a page border, since parts begin anywhere. */
static int take_part(struct snapshot *snapshot, const struct pt_area *cpu, uint64_t begin, uint64_t end)
{
	struct aux_trace aux = {.offset = begin, .size = end - begin, .continues = begin};

	if (begin == end)
		return 0;
	aux.bytes = malloc(aux.size);
	if (!aux.bytes ||
	    pread(fileno(cpu->stream), aux.bytes, aux.size, (off_t)begin) != (ssize_t)aux.size ||
	    add_aux(snapshot, cpu, &aux)) {
		free(aux.bytes);
		return -ENOMEM;
	}
	return 0;
}

/* All of it, cut where something is missing. */
static int take_stream(struct snapshot *snapshot, struct pt_area *cpu)
{
	struct aux_trace aux = {.size = cpu->bytes, .is_mapped = true};
	uint64_t begin = 0;
	int err = 0;

	if (fflush(cpu->stream))
		return -errno;
	if (cpu->bytes && !cpu->loss_cnt) {
		aux.bytes = mmap(NULL, aux.size, PROT_READ, MAP_PRIVATE, fileno(cpu->stream), 0);
		return aux.bytes == MAP_FAILED ? -errno : add_aux(snapshot, cpu, &aux);
	}
	for (size_t i = 0; i <= cpu->loss_cnt && !err; i++) {
		uint64_t end = i < cpu->loss_cnt ? cpu->losses[i] : cpu->bytes;

		err = take_part(snapshot, cpu, begin, end);
		begin = end;
	}
	return err;
}

int pt_snapshot(struct pt *pt, struct snapshot *snapshot)
{
	int err = pt_drain(pt);

	for (size_t i = 0; i < pt->area_cnt && !err; i++) {
		struct pt_area *cpu = &pt->areas[i];

		if (cpu->owner >= 0)
			err = cpu->stream ? take_stream(snapshot, cpu) : take_ring(snapshot, cpu);
		for (size_t j = 0; j < cpu->loss_cnt; j++)
			log_debug("processor %d: trace lost at byte %llu", cpu->cpu,
				  (unsigned long long)cpu->losses[j]);
	}
	give_up_ended(pt, 0);
	if (pt->lost)
		log_warn("the kernel lost %llu records of what ran where: some of the trace may not be "
			 "decoded",
			 (unsigned long long)pt->lost);
	pt->lost = 0;
	return err ? err : record_list_take(&pt->records, snapshot);
}

/* The two clocks and the TSC at one moment: the closest of some tries. */
static void tie_clocks(struct trace_clock *clock)
{
	uint64_t best = UINT64_MAX;
	struct timespec wall;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct timespec now;
		uint64_t begin = __rdtsc(), end;

		clock_gettime(CLOCK_MONOTONIC, &now);
		end = __rdtsc();
		if (end - begin >= best)
			continue;
		best = end - begin;
		clock->trace_ns = trace_clock_ns(clock, begin + best / 2);
		clock->monotonic_ns = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
		clock_gettime(CLOCK_REALTIME, &wall);
		clock->realtime_ns = (uint64_t)wall.tv_sec * 1000000000ull + (uint64_t)wall.tv_nsec;
	}
}

int pt_describe(struct pt *pt, struct snapshot *snapshot)
{
	int err = read_clock(pt, &snapshot->clock);

	if (err)
		return err;
	snapshot->params = pt_caps_params(&pt->caps, pt->pt_config);
	tie_clocks(&snapshot->clock);
	snapshot->source = strdup("intel_pt");
	if (!snapshot->source || code_store_add_own_vdso(snapshot))
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

/* Two files for each thread on each processor soon are more than the usual 1024. */
static void allow_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

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
	allow_files();
	pt->printk_id = config->pause ? pt_event_printk_id() : -ENOTSUP;
	*ret_pt = TAKE_PTR(pt);
	return 0;
}

void pt_free(struct pt *pt)
{
	if (!pt)
		return;
	for (size_t i = 0; i < pt->area_cnt; i++)
		area_release(&pt->areas[i]);
	for (size_t i = 0; i < pt->fd_cnt; i++)
		close(pt->fds[i].fd);
	record_list_release(&pt->records);
	free(pt->fds);
	free(pt->filter);
	free(pt->areas);
	free(pt);
}
