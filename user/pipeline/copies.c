/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

static int write_copy(int fd, const struct code_copy *copy)
{
	size_t done = 0;

	while (done < copy->size) {
		ssize_t written = write(fd, copy->bytes + done, copy->size - done);

		if (written < 0)
			return fail_errno(-errno, "cannot keep a copy of the target's code");
		done += (size_t)written;
	}
	return 0;
}

int copies_init(struct copies *copies, struct snapshot *snapshot)
{
	*copies = (struct copies){.fds = calloc(snapshot->copy_cnt + 1, sizeof(int))};
	if (!copies->fds)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		struct code_copy *copy = &snapshot->copies[i];
		int fd, err;

		if (copy->path)
			continue;
		fd = memfd_create("trailcam-code", MFD_CLOEXEC);
		if (fd < 0)
			return fail_errno(-errno, "cannot keep a copy of the target's code");
		copies->fds[copies->cnt++] = fd;
		err = write_copy(fd, copy);
		if (!err && asprintf(&copy->path, "/proc/self/fd/%d", fd) < 0)
			err = -ENOMEM;
		if (err)
			return err;
	}
	return 0;
}

void copies_release(struct copies *copies)
{
	for (size_t i = 0; i < copies->cnt; i++)
		close(copies->fds[i]);
	free(copies->fds);
	*copies = (struct copies){0};
}
