/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/pt/pt_limits.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file/reading.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

enum { PARANOID_UNKNOWN = -2 };

static bool may_lock(void)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (caps)
		cap_get_flag(caps, CAP_IPC_LOCK, CAP_EFFECTIVE, &value);
	cap_free(caps);
	return value == CAP_SET || reading_number(PARANOID, PARANOID_UNKNOWN) == -1;
}

size_t pt_ring_size(int cpu_cnt, size_t data_size, size_t max, size_t min)
{
	int each_kb = reading_number("/proc/sys/kernel/perf_event_mlock_kb", 0);
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

int pt_explain(int err, size_t aux_size, int cpu_cnt, bool kernel)
{
	switch (err) {
	case -EACCES:
		if (kernel && reading_number(PARANOID, PARANOID_UNKNOWN) < 3)
			return fail(
				err,
				"the kernel does not let this user trace it (kernel.perf_event_paranoid is "
				"%d): use root, "
				"CAP_PERFMON or sysctl kernel.perf_event_paranoid=1, or leave out --kernel",
				reading_number(PARANOID, PARANOID_UNKNOWN));
		return fail(
			err,
			"the kernel does not let this user record here (kernel.perf_event_paranoid is %d): "
			"use root, CAP_PERFMON (which does not suffice from 3 on), or sysctl "
			"kernel.perf_event_paranoid=2",
			reading_number(PARANOID, PARANOID_UNKNOWN));
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
