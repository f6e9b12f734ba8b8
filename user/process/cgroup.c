/* SPDX-License-Identifier: BSD-2-Clause */
/* A cgroup's id is the inode number of its directory (kernel/cgroup/cgroup.c, cgroup_id()). */
#include "process/cgroup.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/array.h"
#include "base/error.h"

/* Where the unified hierarchy is mounted, alone or beside the old ones. */
static const char *find_root(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		struct statfs fs;

		if (!statfs(roots[i], &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			return roots[i];
	}
	return NULL;
}

static int count_levels(const char *text, size_t len)
{
	int levels = 0;

	for (size_t i = 0; i < len; i++)
		levels += text[i] != '/' && (i == 0 || text[i - 1] == '/');
	return levels;
}

int cgroup_find(const char *text, size_t len, uint64_t *ret_id, int *ret_level)
{
	const char *root = find_root();
	char path[4096];
	struct stat st;

	if (!root)
		return fail(-ENOENT, "the unified cgroup hierarchy is not mounted at /sys/fs/cgroup");
	snprintf(path, sizeof(path), "%s/%.*s", root, (int)len, text);
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return fail(-ENOENT, "there is no cgroup '%.*s' below %s", (int)len, text, root);
	*ret_id = st.st_ino;
	*ret_level = count_levels(text, len);
	return 0;
}
