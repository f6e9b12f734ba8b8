/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(BPF_LINK_CREATE) by hand: the libbpf and the kernel headers we build with are older than the kernel we
 * may run on, so the part of union bpf_attr that such a link uses is written out here. This way needs CAP_BPF
 * and CAP_PERFMON only, where perf's uprobes need CAP_SYS_ADMIN, and probes any number of functions in one
 * call.
 */
#include "trigger/uprobe_multi.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, uflags, pid, path_fd;
};

_Static_assert(sizeof(struct link_create) == 64, "as in the kernel's union bpf_attr");

static int create(struct link_create *attr)
{
	long fd = syscall(__NR_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : (int)fd;
}

/*
 * Asks for a link that cannot be, since "/" is not a regular file: what the kernel complains about tells what
 * it knows.
 */
static int probe_kernel(int prog_fd, uint32_t attach_type, pid_t pid)
{
	const uint64_t offset = 1;
	struct link_create attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = attach_type,
		.path = (uintptr_t) "/",
		.offsets = (uintptr_t)&offset,
		.cnt = 1,
		.pid = (uint32_t)pid,
	};
	int fd = create(&attr);

	if (fd >= 0)
		close(fd);
	return fd;
}

const char *uprobe_multi_obstacle(int prog_fd)
{
	if (probe_kernel(prog_fd, UPROBE_MULTI_ATTACH_TYPE, 0) != -EBADF)
		return "the kernel has no uprobe_multi links (they came with Linux 6.6)";
	/* Where a negative pid is not refused, pid still means one thread instead of a process. */
	if (probe_kernel(prog_fd, UPROBE_MULTI_ATTACH_TYPE, -1) != -EINVAL)
		return "this kernel's uprobe_multi links watch one thread instead of a process (fixed in "
		       "Linux 6.10)";
	return NULL;
}

const char *uprobe_session_obstacle(int prog_fd)
{
	if (probe_kernel(prog_fd, UPROBE_SESSION_ATTACH_TYPE, 0) != -EBADF)
		return "the kernel has no uprobe_session links (they came with Linux 6.13)";
	return NULL;
}

int uprobe_multi_open(int *ret_fd, const struct uprobe_multi *multi)
{
	enum { UPROBE_MULTI_RETURN = 1 }; /* BPF_F_UPROBE_MULTI_RETURN */
	struct link_create attr = {
		.prog_fd = (uint32_t)multi->prog_fd,
		.attach_type =
			multi->at == UPROBE_SESSION ? UPROBE_SESSION_ATTACH_TYPE : UPROBE_MULTI_ATTACH_TYPE,
		.path = (uintptr_t)multi->path,
		.offsets = (uintptr_t)multi->offsets,
		.cookies = (uintptr_t)multi->cookies,
		.ref_ctr_offsets = (uintptr_t)multi->ref_ctr_offsets,
		.cnt = (uint32_t)multi->cnt,
		.uflags = multi->at == UPROBE_RETURN ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)multi->pid,
	};
	int fd = create(&attr);

	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}
