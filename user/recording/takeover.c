/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A directory is a recording of ours if its `data` is a perf.data with our own section, and if it holds no
 * file but those that a recording has. Names alone are no proof: a user may have files called `data` and
 * `code.c`. Only plain files of exactly these names are removed.
 */
#include "recording/takeover.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "recording/perf_data.h"
#include "recording/recording.h"
#include "source/pt/kernel_code.h"

/* As code_copy_path() makes it. */
static bool is_code_copy(const char *name)
{
	unsigned long long addr, from_ns;
	int pid, len = 0;

	return !strcmp(name, RECORDING_CODE) ||
	       (sscanf(name, "code.%d.%llx.%llu%n", &pid, &addr, &from_ns, &len) == 3 && len && !name[len]);
}

static bool has_mode(int dir_fd, const char *name, mode_t type)
{
	struct stat st;

	return !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) && (st.st_mode & S_IFMT) == type;
}

static bool is_kernel_file(int dir_fd, const char *name)
{
	return kernel_code_is_file(name) && has_mode(dir_fd, name, S_IFREG);
}

/* Whether `is_one` holds for every entry of the directory. */
static bool holds_only(int parent_fd, const char *path, bool (*is_one)(int dir_fd, const char *name))
{
	int fd = openat(parent_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool only = dir;

	for (struct dirent *entry; only && (entry = readdir(dir));)
		only = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		       is_one(fd, entry->d_name);
	if (dir)
		closedir(dir);
	else
		closep(&fd);
	return only;
}

static bool is_part(int dir_fd, const char *name)
{
	if (!strcmp(name, RECORDING_KERNEL_DIR))
		return holds_only(dir_fd, name, is_kernel_file);
	return (!strcmp(name, RECORDING_DATA) || is_code_copy(name)) && has_mode(dir_fd, name, S_IFREG);
}

static bool is_none(int dir_fd, const char *name)
{
	(void)dir_fd;
	(void)name;
	return false;
}

static bool data_is_ours(const char *path)
{
	CLEANUP(closep) int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP(closep)
	int fd = openat(dir_fd, RECORDING_DATA, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd >= 0 && perf_data_is_ours(fd);
}

bool takeover_is_safe(const char *path)
{
	return holds_only(AT_FDCWD, path, is_none) ||
	       (holds_only(AT_FDCWD, path, is_part) && data_is_ours(path));
}

static void remove_kernel_dir(int parent_fd)
{
	CLEANUP(closep)
	int fd = openat(parent_fd, RECORDING_KERNEL_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		kernel_code_remove(fd);
	unlinkat(parent_fd, RECORDING_KERNEL_DIR, AT_REMOVEDIR);
}

bool takeover_remove(const char *path)
{
	DIR *dir = opendir(path);

	if (!dir)
		return false;
	remove_kernel_dir(dirfd(dir));
	for (struct dirent *entry; (entry = readdir(dir));)
		if (is_part(dirfd(dir), entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	return !rmdir(path);
}
