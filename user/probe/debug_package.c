/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Like dpkg -S: finds the package whose list has the path. Since / and /usr were merged, /usr/bin/gzip may be
 * listed as /bin/gzip.
 */
#include "probe/debug_package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"

static bool has_line(const char *text, size_t size, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text, *end = text + size; (at = memmem(at, (size_t)(end - at), line, len));
	     at++)
		if ((at == text || at[-1] == '\n') && (at + len == end || at[len] == '\n'))
			return true;
	return false;
}

static bool lists_file(int dir_fd, const char *name, const char *path)
{
	CLEANUP(closep) int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text;
	bool found;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return false;
	found = has_line(text, (size_t)st.st_size, path) ||
		(!strncmp(path, "/usr/", 5) && has_line(text, (size_t)st.st_size, path + 4));
	munmap(text, (size_t)st.st_size);
	return found;
}

/* "libc6:amd64.list" is about libc6. */
static char *package_of(const char *list)
{
	char *package;

	return asprintf(&package, "%.*s-dbgsym", (int)strcspn(list, ":"), list) < 0 ? NULL : package;
}

char *debug_package_find(const char *path, const char *lists)
{
	CLEANUP(freep) char *real = realpath(path, NULL);
	DIR *dir = real ? opendir(lists) : NULL;
	char *package = NULL;

	for (struct dirent *entry; dir && !package && (entry = readdir(dir));) {
		char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".list") || !lists_file(dirfd(dir), entry->d_name, real))
			continue;
		*dot = 0;
		package = package_of(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return package;
}
