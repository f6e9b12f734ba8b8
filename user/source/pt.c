/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On each processor the first event owns the memory, and all others write there (PERF_EVENT_IOC_SET_OUTPUT). An event that is inherited must be bound to
 * a processor (kernel/events/core.c, perf_mmap()), hence threads times processors. Records come from a second, dummy event, since the trace's
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
#include "source/maps.h"
#include "source/proc_status.h"
#include "source/pt_event.h"
#include "source/pt_limits.h"
#include "source/pt_ring.h"
#include "source/record_list.h"
#include "source/sideband.h"

/* What a ring holds happened since the newest of so many context switches, or who ran then is not known. */
enum { SWITCHES_MAX = 1 << 18 };

enum { DATA_SIZE = 128 << 10, RING_SIZE_DEFAULT = 4 << 20, RING_SIZE_MIN = 64 << 10, CLOCK_TRIES = 32 };

struct pt_cpu {
	int cpu;
	int owner; /* the event whose memory it is, or -1 */
	struct pt_event_map map;
	struct pt_taken taken;
	FILE *stream;	  /* pt_config.full: what was read ... */
	uint64_t bytes;	  /* ... so much ... */
	uint64_t *losses; /* ... and where something is missing */
	size_t loss_cnt, loss_cap;
	bool truncated; /* the event is to be enabled again */
};

/* An event of a thread on a processor. */
struct pt_fd {
	int fd, cpu;
	bool is_trace;
};

struct pt {
	struct pt_config config;
	struct pt_caps caps;
	uint64_t pt_config; /* perf_event_attr.config */
	struct pt_cpu *cpus;
	size_t cpu_cnt;
	struct pt_fd *fds;
	size_t fd_cnt, fd_cap;
	struct record_list records;
	uint64_t lost; /* records */
	bool stopped;  /* by pt_stop() */
	int printk_id; /* of the tracepoint that pauses; negative: nothing does */
};

/* ---- events ---- */

/* Events of a processor have nobody to inherit from. */
static void bind_to_processor(struct perf_event_attr *attr)
{
	attr->inherit = attr->inherit_thread = 0;
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
static int place_event(struct pt *pt, struct pt_cpu *cpu, int fd)
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
static int add_pause(struct pt *pt, const struct pt_cpu *cpu, pid_t tid, int leader)
{
	struct perf_event_attr attr = pause_attr(pt);
	int fd;

	if (tid < 0)
		bind_to_processor(&attr);
	fd = pt_event_open(&attr, tid, cpu->cpu, leader);

	if (fd < 0) {
		log_debug("the trace cannot be paused by a hit: %s", strerror(-fd));
		pt->printk_id = fd;
		return 0;
	}
	if (ARRAY_PUSH(pt->fds, pt->fd_cnt, pt->fd_cap, ((struct pt_fd){fd, cpu->cpu, false}))) {
		close(fd);
		return -ENOMEM;
	}
	return 0;
}

static int add_event(struct pt *pt, struct pt_cpu *cpu, pid_t tid, struct perf_event_attr *attr,
		     bool is_trace)
{
	int fd = open_event(attr, tid, cpu->cpu), err;

	if (fd < 0)
		return fd;
	if (ARRAY_PUSH(pt->fds, pt->fd_cnt, pt->fd_cap, ((struct pt_fd){fd, cpu->cpu, is_trace}))) {
		close(fd);
		return -ENOMEM;
	}
	err = place_event(pt, cpu, fd);
	return err || !is_trace || pt->printk_id < 0 ? err : add_pause(pt, cpu, tid, fd);
}

/* tid -1: whoever runs there */
static int add_thread(struct pt *pt, pid_t tid, bool at_exec)
{
	struct perf_event_attr trace = trace_attr(pt, at_exec), records = record_attr(pt);

	if (tid < 0) {
		bind_to_processor(&trace);
		bind_to_processor(&records);
	}
	for (size_t i = 0; i < pt->cpu_cnt; i++) {
		int err = add_event(pt, &pt->cpus[i], tid, &trace, true);

		if (!err)
			err = add_event(pt, &pt->cpus[i], tid, &records, false);
		if (err == -ENODEV) /* the processor is off */
			continue;
		if (err)
			return err;
	}
	return 0;
}

static int explain(const struct pt *pt, int err)
{
	return pt_explain(err, pt->config.ring_size, (int)pt->cpu_cnt, pt->config.scope != PT_USER);
}

/* ---- the moment of attaching ---- */

static int read_clock(const struct pt *pt, struct trace_clock *ret_clock)
{
	int err = -ENODEV;

	for (size_t i = 0; i < pt->cpu_cnt && err; i++)
		if (pt->cpus[i].owner >= 0)
			err = pt_ring_clock(&pt->cpus[i].map, ret_clock);
	return err ? fail(-ENOTSUP,
			  "the kernel does not tell how the TSC relates to its clock (an unstable TSC): the "
			  "times of a trace of this processor cannot be understood; use --source step")
		   : 0;
}

static uint64_t now_ns(const struct pt *pt)
{
	struct trace_clock clock;

	return read_clock(pt, &clock) ? 0 : trace_clock_ns(&clock, __rdtsc());
}

/* What the kernel would have told if it had been asked earlier. */
static int tell_past(struct pt *pt, pid_t pid)
{
	CLEANUP(maps_release) struct maps maps = {0};
	CLEANUP(snapshot_freep) struct snapshot *past = NULL;
	uint64_t now = now_ns(pt);
	char name[64];
	int err = maps_read(&maps, pid);

	if (!err)
		err = snapshot_new(&past);
	if (err)
		return err;
	for (size_t i = 0; i < maps.cnt && !err; i++)
		err = sideband_add_mmap(past, pid, pid, now, &maps.items[i].mapping);
	if (!err && !proc_status_text(pid, "Name", name, sizeof(name)))
		err = sideband_add_comm(past, pid, pid, now, name, 0);
	return err ? err : record_list_add_all(&pt->records, past->sideband, past->sideband_size);
}

static int name_thread(struct pt *pt, pid_t pid, pid_t tid)
{
	CLEANUP(snapshot_freep) struct snapshot *past = NULL;
	char name[64];
	int err;

	if (tid == pid || proc_status_text(tid, "Name", name, sizeof(name)))
		return 0;
	err = snapshot_new(&past);
	if (!err)
		err = sideband_add_comm(past, pid, tid, now_ns(pt), name, 0);
	return err ? err : record_list_add_all(&pt->records, past->sideband, past->sideband_size);
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
		err = add_thread(pt, tid, false);
		if (err == -ESRCH) /* it has just ended */
			err = 0;
		else if (!err)
			err = name_thread(pt, pid, tid);
	}
	closedir(dir);
	return err;
}

int pt_add(struct pt *pt, pid_t pid, bool at_exec)
{
	int err = at_exec ? add_thread(pt, pid, true) : add_threads(pt, pid);
	struct trace_clock clock;

	if (err)
		return err == -ESRCH ? fail(err, "process %d has ended", pid) : explain(pt, err);
	err = read_clock(pt, &clock);
	return err || at_exec ? err : tell_past(pt, pid);
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

		err = pid ? tell_past(pt, pid) : 0;
	}
	closedir(dir);
	return err == -ENOMEM ? err : 0;
}

int pt_add_all(struct pt *pt)
{
	struct trace_clock clock;
	int err = add_thread(pt, -1, false);

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

int pt_set_filter(struct pt *pt, const char *filter)
{
	for (size_t i = 0; i < pt->fd_cnt; i++) {
		int err = pt->fds[i].is_trace ? pt_event_set_filter(pt->fds[i].fd, filter) : 0;

		if (err)
			return fail_errno(err, "the kernel does not take the address filter '%s'", filter);
	}
	return 0;
}

int pt_start(struct pt *pt)
{
	pt->stopped = false;
	for (size_t i = 0; i < pt->fd_cnt; i++) {
		int err = pt->fds[i].is_trace ? pt_event_enable(pt->fds[i].fd) : 0;

		if (err)
			return fail_errno(err, "cannot start the trace");
	}
	return 0;
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
	struct pt_cpu *cpu;
};

/* The kernel names files as the process does, which may live in another file system tree, and end soon. */
static int add_mapping(struct pt *pt, const struct perf_event_header *record)
{
	CLEANUP(snapshot_freep) struct snapshot *renamed = NULL;
	struct snapshot one = {.sideband = (uint8_t *)record, .sideband_size = record->size};
	CLEANUP(freep) char *name = NULL;
	struct sideband_record parsed;
	size_t pos = 0;
	int err;

	if (sideband_next(&one, &pos, &parsed) <= 0)
		return 0;
	name = maps_reachable_name(parsed.pid, &parsed.mapping);
	if (!name)
		return record_list_add(&pt->records, record);
	parsed.mapping.name = name;
	err = snapshot_new(&renamed);
	if (!err)
		err = sideband_add_mmap(renamed, parsed.pid, parsed.tid, parsed.time_ns, &parsed.mapping);
	return err ? err : record_list_add_all(&pt->records, renamed->sideband, renamed->sideband_size);
}

static int on_record(void *ctx, const struct perf_event_header *record)
{
	const struct drain *drain = ctx;

	if (record->type == PERF_RECORD_LOST)
		drain->pt->lost += pt_ring_lost(record);
	drain->cpu->truncated |= pt_ring_is_truncated(record);
	if (record->type == PERF_RECORD_MMAP2)
		return add_mapping(drain->pt, record);
	return record_list_add(&drain->pt->records, record);
}

/* The trace went on until its room was full; from here on it goes on anew. */
static int restart(struct pt *pt, struct pt_cpu *cpu)
{
	int err = ARRAY_PUSH(cpu->losses, cpu->loss_cnt, cpu->loss_cap, cpu->bytes);

	cpu->truncated = false;
	for (size_t i = 0; i < pt->fd_cnt && !err && !pt->stopped; i++)
		if (pt->fds[i].is_trace && pt->fds[i].cpu == cpu->cpu)
			err = pt_event_enable(pt->fds[i].fd);
	return err;
}

static int drain_stream(struct pt *pt, struct pt_cpu *cpu)
{
	ssize_t got = pt_ring_stream(&cpu->map, cpu->stream);

	if (got < 0)
		return fail_errno((int)got, "cannot write the trace to a temporary file (TMPDIR)");
	cpu->bytes += (uint64_t)got;
	return cpu->truncated ? restart(pt, cpu) : 0;
}

int pt_drain(struct pt *pt)
{
	for (size_t i = 0; i < pt->cpu_cnt; i++) {
		struct pt_cpu *cpu = &pt->cpus[i];
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

	for (size_t i = 0; i < pt->cpu_cnt; i++)
		bytes += pt->cpus[i].bytes;
	return bytes;
}

/* ---- snapshots ---- */

static int add_aux(struct snapshot *snapshot, const struct pt_cpu *cpu, const struct aux_trace *from)
{
	struct aux_trace *aux = snapshot_add_aux(snapshot);

	if (!aux)
		return -ENOMEM;
	*aux = *from;
	aux->pid = aux->tid = -1;
	aux->cpu = cpu->cpu;
	aux->ref_tsc = trace_first_tsc(aux->bytes, aux->size, __rdtsc());
	return 0;
}

static int take_ring(struct snapshot *snapshot, struct pt_cpu *cpu)
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
static int take_part(struct snapshot *snapshot, const struct pt_cpu *cpu, uint64_t begin, uint64_t end)
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
static int take_stream(struct snapshot *snapshot, struct pt_cpu *cpu)
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

	for (size_t i = 0; i < pt->cpu_cnt && !err; i++) {
		struct pt_cpu *cpu = &pt->cpus[i];

		if (cpu->owner >= 0)
			err = cpu->stream ? take_stream(snapshot, cpu) : take_ring(snapshot, cpu);
		for (size_t j = 0; j < cpu->loss_cnt; j++)
			log_debug("processor %d: trace lost at byte %llu", cpu->cpu,
				  (unsigned long long)cpu->losses[j]);
	}
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
		pt->config.ring_size = pt_ring_size((int)cnt, DATA_SIZE, RING_SIZE_DEFAULT, RING_SIZE_MIN);
	pt->records.switch_max = SWITCHES_MAX;
	err = pt_caps_read(&pt->caps, config->sysfs);
	if (!err)
		err = pt_caps_config(&pt->caps, &config->timing, pt->config.ring_size, &pt->pt_config);
	if (err)
		return err;
	pt->cpus = calloc((size_t)cnt, sizeof(*pt->cpus));
	if (!pt->cpus)
		return -ENOMEM;
	for (pt->cpu_cnt = 0; pt->cpu_cnt < (size_t)cnt; pt->cpu_cnt++)
		pt->cpus[pt->cpu_cnt] = (struct pt_cpu){.cpu = (int)pt->cpu_cnt, .owner = -1};
	allow_files();
	pt->printk_id = config->pause ? pt_event_printk_id() : -ENOTSUP;
	*ret_pt = TAKE_PTR(pt);
	return 0;
}

void pt_free(struct pt *pt)
{
	if (!pt)
		return;
	for (size_t i = 0; i < pt->cpu_cnt; i++) {
		pt_event_unmap(&pt->cpus[i].map);
		fclosep(&pt->cpus[i].stream);
		free(pt->cpus[i].losses);
	}
	for (size_t i = 0; i < pt->fd_cnt; i++)
		close(pt->fds[i].fd);
	record_list_release(&pt->records);
	free(pt->fds);
	free(pt->cpus);
	free(pt);
}
