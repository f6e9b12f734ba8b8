/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"

int plain_file_open(const char *path)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	errno = EINVAL;
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -errno;
}

FILE *plain_file_stream(const char *path)
{
	CLEANUP(closep) int fd = plain_file_open(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (file)
		TAKE_FD(fd);
	return file;
}
