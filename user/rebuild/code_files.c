/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/code_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/write_all.h"

enum { SHARED }; /* index of the file that holds all that need none for themselves */

static int memory_file(void)
{
	int fd = memfd_create("trailcam-code", MFD_CLOEXEC);

	return fd < 0 ? fail_errno(-errno, "cannot keep a copy of the target's code") : fd;
}

static int keep(struct code_files *copies, struct code_copy *copy)
{
	int *fd = &copies->fds[code_copy_is_file(copy) ? copies->cnt++ : SHARED];
	int err;

	if (*fd < 0)
		*fd = memory_file();
	if (*fd < 0)
		return *fd;
	if (asprintf(&copy->path, "/proc/self/fd/%d", *fd) < 0) {
		copy->path = NULL;
		return -ENOMEM;
	}
	err = write_all(*fd, copy->bytes, copy->size);
	return err ? fail_errno(err, "cannot keep a copy of the target's code") : 0;
}

int code_files_open(struct code_files *copies, struct snapshot *snapshot)
{
	int err = 0;

	*copies = (struct code_files){.fds = malloc((snapshot->copy_cnt + 1) * sizeof(int))};
	if (!copies->fds)
		return -ENOMEM;
	for (size_t i = 0; i <= snapshot->copy_cnt; i++)
		copies->fds[i] = -1;
	copies->cnt = SHARED + 1;
	snapshot_lay_copies(snapshot);
	for (size_t i = 0; i < snapshot->copy_cnt && !err; i++)
		if (!snapshot->copies[i].path)
			err = keep(copies, &snapshot->copies[i]);
	return err;
}

void code_files_close(struct code_files *copies)
{
	for (size_t i = 0; i < copies->cnt; i++)
		closep(&copies->fds[i]);
	free(copies->fds);
	*copies = (struct code_files){0};
}
