/* SPDX-License-Identifier: BSD-2-Clause */
/* The AUX area is mapped without PROT_WRITE: that is what makes the kernel overwrite it (perf_mmap(), "aux_overwrite"). */
#include "source/pt_event.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

int pt_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int read_setting(const char *path)
{
	CLEANUP(fclosep) FILE *file = fopen(path, "re");
	int value;

	return file && fscanf(file, "%d", &value) == 1 ? value : -ENOENT;
}

int pt_event_printk_id(void)
{
	int id = read_setting("/sys/kernel/tracing/events/bpf_trace/bpf_trace_printk/id");

	return id >= 0 ? id : read_setting("/sys/kernel/debug/tracing/events/bpf_trace/bpf_trace_printk/id");
}

int pt_event_redirect(int fd, int to)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to) ? -errno : 0;
}

int pt_event_set_filter(int fd, const char *filter)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) ? -errno : 0;
}

int pt_event_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int pt_event_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

int pt_event_map(int fd, size_t data_size, size_t aux_size, bool to_be_read, struct pt_event_map *ret_map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct pt_event_map map = {.data_size = data_size, .aux_size = aux_size};
	void *at = mmap(NULL, page + data_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int err;

	if (at == MAP_FAILED)
		return -errno;
	map.page = at;
	if (aux_size) {
		map.page->aux_offset = page + data_size;
		map.page->aux_size = aux_size;
		at = mmap(NULL, aux_size, to_be_read ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
			  (off_t)(page + data_size));
		if (at == MAP_FAILED) {
			err = -errno;
			munmap(map.page, page + data_size);
			return err;
		}
		map.aux = at;
	}
	*ret_map = map;
	return 0;
}

void pt_event_unmap(struct pt_event_map *map)
{
	if (map->aux)
		munmap(map->aux, map->aux_size);
	if (map->page)
		munmap(map->page, (size_t)sysconf(_SC_PAGESIZE) + map->data_size);
	*map = (struct pt_event_map){0};
}

static bool may_lock(void)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (caps)
		cap_get_flag(caps, CAP_IPC_LOCK, CAP_EFFECTIVE, &value);
	cap_free(caps);
	return value == CAP_SET || read_setting("/proc/sys/kernel/perf_event_paranoid") == -1;
}

size_t pt_event_ring_size(int cpu_cnt, size_t data_size, size_t max, size_t min)
{
	int each_kb = read_setting("/proc/sys/kernel/perf_event_mlock_kb");
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = max, allowed;
	struct rlimit limit = {0};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (may_lock() || limit.rlim_cur == RLIM_INFINITY)
		return max;
	allowed = (size_t)limit.rlim_cur + (each_kb > 0 ? (size_t)each_kb << 10 : 0) * (size_t)cpu_cnt;
	while (size > min && (size + data_size + page) * (size_t)cpu_cnt > allowed)
		size /= 2;
	return size;
}

int pt_event_explain(int err, size_t aux_size, int cpu_cnt)
{
	static const char paranoid[] = "/proc/sys/kernel/perf_event_paranoid";

	switch (err) {
	case -EACCES:
		return fail(
			err,
			"the kernel does not let this user record here (kernel.perf_event_paranoid is %d): "
			"use root or CAP_PERFMON, and where that does not do, which is so from 3 on, sysctl "
			"kernel.perf_event_paranoid=2",
			read_setting(paranoid));
	case -EPERM:
		return fail(
			err,
			"the kernel does not lock %zu KiB of trace memory for each of %d processors "
			"for this user: use a smaller --snapshot-size, ulimit -l unlimited, a larger "
			"kernel.perf_event_mlock_kb, or CAP_IPC_LOCK (in a container, a seccomp filter that "
			"allows perf_event_open)",
			aux_size >> 10, cpu_cnt);
	case -EBUSY:
		return fail(err, "Intel PT is in use: another program, perf perhaps, or a virtual machine "
				 "traces with it");
	case -ENOMEM:
		return fail(err,
			    "no memory for %zu KiB of trace for each of %d processors: use a smaller "
			    "--snapshot-size",
			    aux_size >> 10, cpu_cnt);
	case -EMFILE:
		return fail(
			err,
			"too many open files: each thread needs two for each of %d processors (ulimit -n)",
			cpu_cnt);
	default:
		return fail_errno(err, "the kernel refuses Intel PT with this configuration");
	}
}
