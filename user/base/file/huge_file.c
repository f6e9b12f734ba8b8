/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A memfd has huge pages only where the whole system is set up so, and hardly any is. A file of a tmpfs of
 * ours has them. That needs root; nobody else sees the mount, which ends with the file.
 */
#include "base/file/huge_file.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#define FILE_NAME "memfd:trailcam"

static bool set_up(int filesystem)
{
	return filesystem >= 0 &&
	       !syscall(SYS_fsconfig, filesystem, FSCONFIG_SET_STRING, "huge", "advise", 0) &&
	       !syscall(SYS_fsconfig, filesystem, FSCONFIG_SET_STRING, "size", "0", 0) && /* no limit */
	       !syscall(SYS_fsconfig, filesystem, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

int huge_file_new(void)
{
	CLEANUP(closep) int filesystem = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	CLEANUP(closep) int mount = -1;
	int fd;

	if (!set_up(filesystem))
		return -1;
	mount = (int)syscall(SYS_fsmount, filesystem, FSMOUNT_CLOEXEC, 0);
	fd = mount < 0 ? -1 : openat(mount, FILE_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlinkat(mount, FILE_NAME, 0);
	return fd;
}

bool huge_file_name(int fd, pid_t pid, char *ret_name, size_t size)
{
	struct stat ours, theirs;
	char path[96];

	snprintf(ret_name, size, "/proc/%d/fd/%d", (int)getpid(), fd);
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, ret_name);
	return !fstat(fd, &ours) && !stat(path, &theirs) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}
