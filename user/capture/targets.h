/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes are meant: from what the user said to process numbers. Trailcam itself is never among them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct targets {
	pid_t *pids; /* each once, in the order found */
	size_t cnt, cap;
};

void targets_release(struct targets *targets);

/* Each of these appends. 0, or -errno with a sentence. */

/* "4711" or "4711,4712". -EINVAL: not such a list. Whether the processes exist is not looked at. */
int targets_add_list(struct targets *targets, const char *text);

/* All whose name (as in /proc/PID/comm, which has 15 bytes of it) is `name`. -ENOENT: none. */
int targets_add_named(struct targets *targets, const char *name);

/*
 * All in a control group and those below it; a path from the root of the hierarchy
 * ("/system.slice/ssh.service"), or below /sys/fs/cgroup. -ENOENT: there is no such group; -ESRCH: no process
 * is in it.
 */
int targets_add_cgroup(struct targets *targets, const char *path);

/*
 * All of one container, known by its id or the beginning of it. -ENOENT: there is none; -EINVAL: several
 * begin so, or not an id.
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
