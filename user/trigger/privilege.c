/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * EPERM has several causes, and the kernel does not say which. They are checked in the order in which one
 * hides the next: in a user namespace no capability counts; without the capabilities nothing else matters;
 * with them, a seccomp filter is next. kernel.unprivileged_bpf_disabled is not among them: probes need both
 * capabilities whatever it says.
 */
#include "trigger/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "process/proc_status.h"

/* CAP_SYS_ADMIN contains the two others. */
static bool has_capability(cap_value_t which)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR, admin = CAP_CLEAR;

	if (!caps)
		return false;
	cap_get_flag(caps, which, CAP_EFFECTIVE, &value);
	cap_get_flag(caps, CAP_SYS_ADMIN, CAP_EFFECTIVE, &admin);
	cap_free(caps);
	return value == CAP_SET || admin == CAP_SET;
}

/* The initial namespace maps every id to itself. */
bool privilege_in_user_namespace(void)
{
	CLEANUP(fclosep) FILE *file = fopen("/proc/self/uid_map", "re");
	unsigned long inside, outside, cnt;

	if (!file)
		return false;
	return fscanf(file, "%lu %lu %lu", &inside, &outside, &cnt) != 3 || outside || cnt != UINT32_MAX;
}

const char *privilege_bpf_lacks(void)
{
	if (privilege_in_user_namespace())
		return "CAP_BPF and CAP_PERFMON in the initial user namespace";
	return has_capability(CAP_BPF) && has_capability(CAP_PERFMON) ? NULL : "CAP_BPF and CAP_PERFMON";
}

static bool has_seccomp_filter(void)
{
	uint64_t mode = 0;

	proc_status_number(getpid(), "Seccomp", 10, &mode);
	return mode == SECCOMP_MODE_FILTER;
}

static const char *own_path(char *buffer, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", buffer, size - 1);

	if (len <= 0)
		return "trailcam";
	buffer[len] = '\0';
	return buffer;
}

static int fail_confined(const char *call)
{
	if (privilege_in_user_namespace())
		return fail(-EPERM,
			    "%s is not permitted in a user namespace (a rootless container?), whatever the "
			    "capabilities: run trailcam outside of it",
			    call);
	if (has_seccomp_filter())
		return fail(
			-EPERM,
			"the capabilities are there, but a seccomp filter forbids %s: in a container, run it "
			"with --security-opt seccomp=unconfined",
			call);
	return fail(-EPERM,
		    "%s is not permitted although the capabilities are there: kernel lockdown, or a security "
		    "module, forbids it",
		    call);
}

int privilege_fail_bpf(void)
{
	bool bpf = has_capability(CAP_BPF), perfmon = has_capability(CAP_PERFMON);
	const char *missing = bpf ? "CAP_PERFMON is" : perfmon ? "CAP_BPF is" : "both are";
	char path[4096];

	if ((bpf && perfmon) || privilege_in_user_namespace())
		return fail_confined("bpf(2)");
	return fail(-EPERM,
		    "a probe needs the capabilities CAP_BPF and CAP_PERFMON, and %s missing: run "
		    "'sudo setcap cap_bpf,cap_perfmon=ep %s', or trailcam itself with sudo",
		    missing, own_path(path, sizeof(path)));
}

int privilege_fail_perf_uprobe(void)
{
	if (has_capability(CAP_SYS_ADMIN))
		return fail_confined("perf_event_open(2)");
	return fail(
		-EPERM,
		"perf uprobes need the capability CAP_SYS_ADMIN, which is missing: run trailcam with sudo");
}

/*
 * libbpf loads maps and programs together, and lets go of those that there were descriptors for; then it may
 * say EINVAL.
 */
bool privilege_is_descriptors(int err)
{
	enum { BPF_OBJECT_TAKES = 16 };
	CLEANUP(closep) int fd = err == -EMFILE ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit limit = {0};

	return fd < 0 ||
	       (!getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd + BPF_OBJECT_TAKES > limit.rlim_cur);
}

int privilege_check_descriptors(size_t cnt, const char *what)
{
	CLEANUP(closep) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	unsigned long long sum;

	getrlimit(RLIMIT_NOFILE, &limit);
	/* The lowest that is free: those below are taken. */
	sum = (fd < 0 ? limit.rlim_cur : (rlim_t)fd) + cnt;
	return sum > limit.rlim_cur ? fail(-EMFILE,
					   "%s needs %llu file descriptors, and this process may have %llu: "
					   "raise that (ulimit -n %llu)",
					   what, sum, (unsigned long long)limit.rlim_cur, sum)
				    : 0;
}

int privilege_fail_descriptors(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	return fail(
		-EMFILE,
		"no file descriptors are left for probes: this process may have %llu; raise that (ulimit -n)",
		(unsigned long long)limit.rlim_cur);
}
