/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process numbers and paths are those that the process sees: in a container it has another number, and
 * another /tmp.
 */
#include "source/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/proc_status.h"

enum { FILE_BYTES_MAX = 256 << 20 };

static bool read_all(int fd, uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, bytes + done, size - done, (off_t)done);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Anybody can create such a file in /tmp: it is trusted only if its owner is the process's user, or root. */
static bool is_trusted(const struct stat *st, int32_t pid)
{
	unsigned int real, effective;
	char ids[128];

	if (!st->st_uid)
		return true;
	return !proc_status_text(pid, "Uid", ids, sizeof(ids)) &&
	       sscanf(ids, "%u %u", &real, &effective) == 2 &&
	       (st->st_uid == real || st->st_uid == effective);
}

/* 1: copied; 0: there is none. */
static int copy_file(struct snapshot *snapshot, int32_t pid, const char *path, const char *name,
		     uint64_t addr)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	size_t size;
	uint8_t *bytes;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 || !is_trusted(&st, pid))
		return 0;
	size = st.st_size < FILE_BYTES_MAX ? (size_t)st.st_size : FILE_BYTES_MAX;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	if (!read_all(fd, bytes, size)) {
		free(bytes);
		return 0;
	}
	return snapshot_take_copy(snapshot, pid, addr, name, bytes, size) ? -ENOMEM : 1;
}

/* Tries the path as the process sees it, then as we do. */
static int copy_theirs(struct snapshot *snapshot, int32_t pid, const char *path, const char *name,
		       uint64_t addr)
{
	char theirs[4096 + 32];
	int found;

	snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", pid, path);
	found = copy_file(snapshot, pid, theirs, name, addr);
	return found ? found : copy_file(snapshot, pid, path, name, addr);
}

bool jit_files_is_dump(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = strlen(path);

	return slash && !strncmp(slash, "/jit-", 5) && len > 5 && !strcmp(path + len - 5, ".dump");
}

int jit_files_copy_map(struct snapshot *snapshot, int32_t pid)
{
	char path[64];
	int found;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", proc_inner_pid(pid));
	found = copy_theirs(snapshot, pid, path, JIT_PERF_MAP, 0);
	return found < 0 ? found : 0;
}

int jit_files_copy_dump(struct snapshot *snapshot, int32_t pid, const char *path)
{
	int found;

	for (size_t i = 0; i < snapshot->copy_cnt; i++)
		if (snapshot->copies[i].pid == pid && !strcmp(snapshot->copies[i].name, JIT_DUMP))
			return 0;
	found = copy_theirs(snapshot, pid, path, JIT_DUMP, 1);
	return found < 0 ? found : 0;
}
