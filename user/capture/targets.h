/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the processes that the user named. trailcam itself is never among them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct targets {
	pid_t *pids; /* without duplicates, in the order found */
	size_t cnt, cap;
};

void targets_release(struct targets *targets);

/* Each of these appends. 0, or -errno with a sentence. */

/* "4711" or "4711,4712". -EINVAL: not such a list. Does not check whether the processes exist. */
int targets_add_list(struct targets *targets, const char *text);

/* All processes of this name, as in /proc/PID/comm, which holds its first 15 bytes. -ENOENT: none. */
int targets_add_named(struct targets *targets, const char *name);

/*
 * All processes in a control group and the groups below it. `path` starts at the root of the hierarchy
 * ("/system.slice/ssh.service") or with /sys/fs/cgroup. -ENOENT: no such group; -ESRCH: it has no process.
 */
int targets_add_cgroup(struct targets *targets, const char *path);

/*
 * All processes of one container. `id` may be cut short. -ENOENT: no such container; -EINVAL: not an id, or
 * several containers match.
 */
int targets_add_container(struct targets *targets, const char *id);

enum { CONTAINER_ID_MAX = 128 };

/*
 * The id of the container in a line of /proc/PID/cgroup, as runc, Docker, podman, containerd and CRI-O name
 * their groups. False: the line names none.
 *
 *	0::/system.slice/docker-<id>.scope		0::/docker/<id>
 *	0::/machine.slice/libpod-<id>.scope/container	0::/kubepods/burstable/pod<uid>/<id>
 *	0::/kubepods.slice/.../cri-containerd-<id>.scope
 */
bool container_id_parse(const char *line, char ret_id[static CONTAINER_ID_MAX]);
