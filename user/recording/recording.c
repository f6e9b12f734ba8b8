/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saving: everything is written into a directory under a temporary name beside the target, which takes the
 * target's name in one rename when it is complete. An older recording (recording/takeover.h) is moved aside
 * first and removed last.
 */
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file/plain_file.h"
#include "base/log.h"
#include "base/write_all.h"
#include "recording/perf_data.h"
#include "recording/takeover.h"
#include "source/pt/kernel_code.h"

/* The directory that will hold the recording, and its name there, without trailing slashes. */
static int split_path(const char *path, char **ret_parent, char **ret_name)
{
	size_t len = strlen(path);
	const char *slash;
	CLEANUP(freep) char *whole = NULL;

	while (len > 1 && path[len - 1] == '/')
		len--;
	whole = strndup(path, len);
	if (!whole)
		return -ENOMEM;
	slash = strrchr(whole, '/');
	*ret_name = strdup(slash ? slash + 1 : whole);
	*ret_parent = slash == whole ? strdup("/")
		      : slash	     ? strndup(whole, (size_t)(slash - whole))
				     : strdup(".");
	return *ret_name && *ret_parent ? 0 : -ENOMEM;
}

int recording_check_target(const char *path)
{
	CLEANUP(freep) char *parent = NULL;
	CLEANUP(freep) char *name = NULL;
	CLEANUP(freep) char *plain = NULL; /* without trailing slashes, which would follow a link */
	struct statx st;
	int err = split_path(path, &parent, &name);

	if (err)
		return err;
	if (!name[0] || !strcmp(name, ".") || !strcmp(name, ".."))
		return fail(-EINVAL,
			    "'%s' cannot be the name of a recording: give the name of a new directory", path);
	if (access(parent, W_OK))
		return fail_errno(-errno, "cannot make the recording %s", path);
	if (asprintf(&plain, "%s/%s", parent, name) < 0)
		return -ENOMEM;
	if (statx(AT_FDCWD, plain, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st))
		return errno == ENOENT ? 0 : fail_errno(-errno, "cannot make the recording %s", path);
	if (!S_ISDIR(st.stx_mode) || !takeover_is_safe(plain))
		return fail(-EEXIST,
			    "%s exists already and is not a recording: give the name of a new directory",
			    path);
	if (st.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return fail(-EBUSY, "%s is a mount point: give the name of a new directory in it", path);
	return 0;
}

char *code_copy_path(const struct code_copy *copy, const char *dir)
{
	char *path;

	if (!code_copy_is_file(copy))
		return asprintf(&path, "%s/" RECORDING_CODE, dir) < 0 ? NULL : path;
	return asprintf(&path, "%s/code.%d.%llx.%llu", dir, copy->pid, (unsigned long long)copy->addr,
			(unsigned long long)copy->from_ns) < 0
		       ? NULL
		       : path;
}

/* *shared_fd is the file that copies share, once it is open; -1 before. */
static int write_copy(int dir_fd, int *shared_fd, const struct code_copy *copy)
{
	CLEANUP(closep) int own_fd = -1;
	int *fd = code_copy_is_file(copy) ? &own_fd : shared_fd;

	if (*fd < 0) {
		CLEANUP(freep) char *name = code_copy_path(copy, ".");

		if (!name)
			return -ENOMEM;
		*fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	}
	if (*fd < 0 || lseek(*fd, (off_t)copy->file_offset, SEEK_SET) < 0)
		return -errno;
	return write_all(*fd, copy->bytes, copy->size);
}

static int write_data(int dir_fd, const struct snapshot *snapshot, const char *final_path)
{
	int fd = openat(dir_fd, RECORDING_DATA, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
	int err;

	if (!file)
		return -errno;
	err = perf_data_write(snapshot, file, final_path);
	if (fclose(file) && !err)
		err = -errno;
	return err;
}

static int write_kernel(int dir_fd, const struct snapshot *snapshot)
{
	CLEANUP(closep) int fd = -1;

	if (mkdirat(dir_fd, RECORDING_KERNEL_DIR, 0700))
		return -errno;
	fd = openat(dir_fd, RECORDING_KERNEL_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : kernel_code_write(snapshot, fd);
}

static int write_files(const char *temporary, const struct snapshot *snapshot, const char *final_path)
{
	CLEANUP(closep) int dir_fd = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(closep) int code_fd = -1;
	int err = dir_fd < 0 ? -errno : 0;

	for (size_t i = 0; i < snapshot->copy_cnt && !err; i++)
		if (snapshot->copies[i].bytes && !code_copy_is_kernel(&snapshot->copies[i]))
			err = write_copy(dir_fd, &code_fd, &snapshot->copies[i]);
	if (!err && kernel_code_is_there(snapshot))
		err = write_kernel(dir_fd, snapshot);
	return err ? err : write_data(dir_fd, snapshot, final_path);
}

/* Puts the complete directory in the target's place. */
static int publish(const char *temporary, const char *path)
{
	CLEANUP(freep) char *old = NULL;

	if (!rename(temporary, path))
		return 0; /* nothing there, or an empty directory */
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	if (asprintf(&old, "%s.old", temporary) < 0)
		return -ENOMEM;
	if (rename(path, old))
		return -errno;
	if (rename(temporary, path)) {
		int err = -errno;

		rename(old, path);
		return err;
	}
	if (!takeover_is_safe(old) || !takeover_remove(old))
		log_warn("another program wrote into the older recording: it is kept as %s", old);
	return 0;
}

int recording_save(struct snapshot *snapshot, const char *path)
{
	CLEANUP(freep) char *parent = NULL;
	CLEANUP(freep) char *name = NULL;
	CLEANUP(freep) char *real = NULL;
	CLEANUP(freep) char *temporary = NULL;
	CLEANUP(freep) char *final_path = NULL;
	int err = recording_check_target(path);

	if (!err)
		err = split_path(path, &parent, &name);
	if (err)
		return err;
	real = realpath(parent, NULL);
	if (!real)
		return fail_errno(-errno, "cannot make the recording %s", path);
	if (asprintf(&temporary, "%s/.%s.%d", real, name, (int)getpid()) < 0 ||
	    asprintf(&final_path, "%s/%s", real, name) < 0)
		return -ENOMEM;
	if (mkdir(temporary, 0700))
		return fail_errno(-errno, "cannot make the recording %s", path);
	snapshot_lay_copies(snapshot);
	err = write_files(temporary, snapshot, final_path);
	if (!err)
		err = publish(temporary, final_path);
	if (err) {
		takeover_remove(temporary);
		return fail_errno(err, "cannot make the recording %s", path);
	}
	log_debug("saved %s", path);
	return 0;
}

/* ---- loading ---- */

/* The data file of what the user named. */
static int find_data(const char *path, char **ret_data, char **ret_dir)
{
	struct stat st;
	const char *slash = strrchr(path, '/');

	if (stat(path, &st))
		return fail_errno(-errno, "cannot read the recording %s", path);
	if (S_ISDIR(st.st_mode)) {
		*ret_dir = strdup(path);
		return asprintf(ret_data, "%s/" RECORDING_DATA, path) < 0 || !*ret_dir ? -ENOMEM : 0;
	}
	*ret_data = strdup(path);
	*ret_dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	return *ret_data && *ret_dir ? 0 : -ENOMEM;
}

static int load_file(struct snapshot *snapshot, const char *data)
{
	CLEANUP(closep) int fd = plain_file_open(data);
	struct stat st;
	void *bytes;

	if (fd == -EINVAL)
		return fail(-EBADMSG, "it is not a regular file");
	if (fd < 0 || fstat(fd, &st))
		return fail_errno(-errno, "cannot open %s", data);
	if (!st.st_size)
		return fail(-EBADMSG, "it is empty");
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return fail_errno(-errno, "cannot map it");
	snapshot->file = bytes;
	snapshot->file_size = (size_t)st.st_size;
	return perf_data_read(snapshot, bytes, (size_t)st.st_size);
}

static int name_copies(struct snapshot *snapshot, const char *dir)
{
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		struct code_copy *copy = &snapshot->copies[i];

		copy->path = code_copy_path(copy, dir);
		if (!copy->path)
			return -ENOMEM;
	}
	return 0;
}

static int load_kernel(struct snapshot *snapshot, const char *dir)
{
	CLEANUP(freep) char *path = NULL;

	return asprintf(&path, "%s/" RECORDING_KERNEL_DIR, dir) < 0 ? -ENOMEM
								    : kernel_code_read(snapshot, path);
}

int recording_load(struct snapshot **ret_snapshot, const char *path)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(freep) char *data = NULL;
	CLEANUP(freep) char *dir = NULL;
	int err = find_data(path, &data, &dir);

	if (err)
		return err;
	err = snapshot_new(&snapshot);
	if (!err)
		err = load_file(snapshot, data);
	if (err)
		return fail_prefix(err, "cannot read the recording %s", path);
	err = name_copies(snapshot, dir);
	if (!err)
		err = load_kernel(snapshot, dir);
	if (err)
		return err;
	*ret_snapshot = TAKE_PTR(snapshot);
	return 0;
}
