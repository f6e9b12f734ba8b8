/* SPDX-License-Identifier: BSD-2-Clause */
/* A cgroup's id is the inode number of its directory (kernel/cgroup/cgroup.c, cgroup_id()). */
#include "process/cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file/reading.h"

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

/* ---- memory ---- */

/* How a hierarchy names what its groups may take, and have taken. */
struct accounts {
	const char *most, *used;
	const char *cached[2]; /* in memory.stat: what the kernel takes back before it kills anybody */
};

static const struct accounts unified = {"memory.max", "memory.current", {"inactive_file ", "active_file "}};
static const struct accounts old = {
	"memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file ", "total_active_file "}};

/* The number in a file; UINT64_MAX: there is none, or "max". */
static uint64_t read_number(const char *dir, const char *name)
{
	char path[4200], text[32], *end = text;
	uint64_t number = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (reading_text(path, text, sizeof(text)))
		number = strtoull(text, &end, 10);
	return end == text ? UINT64_MAX : number;
}

static uint64_t of_machine(void)
{
	CLEANUP(fclosep) FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			return kib << 10;
	return UINT64_MAX;
}

static uint64_t cached(const char *dir, const struct accounts *accounts)
{
	CLEANUP(fclosep) FILE *file = NULL;
	char path[4200], line[128];
	uint64_t bytes = 0;

	snprintf(path, sizeof(path), "%s/memory.stat", dir);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; i < ARRAY_SIZE(accounts->cached); i++)
			if (!strncmp(line, accounts->cached[i], strlen(accounts->cached[i])))
				bytes += strtoull(line + strlen(accounts->cached[i]), NULL, 10);
	return bytes;
}

/* Below `root`; of the directory and all that it is in. */
static void of_group(const char *root, char *dir, const struct accounts *accounts, struct memory_left *left)
{
	for (char *end = dir + strlen(dir); end && (size_t)(end - dir) >= strlen(root);
	     end = strrchr(dir, '/')) {
		uint64_t most, used, rest;

		*end = '\0';
		most = read_number(dir, accounts->most);
		used = read_number(dir, accounts->used);
		if (most == UINT64_MAX || used == UINT64_MAX)
			continue;
		rest = most > used ? most - used : 0;
		/* Most groups have room enough without a look at what is cached. */
		if (rest < most / 4)
			rest += cached(dir, accounts);
		if (rest < left->bytes)
			*left = (struct memory_left){.bytes = rest, .limit = most};
	}
}

struct memory_left cgroup_memory_left(pid_t pid)
{
	struct memory_left left = {.bytes = of_machine(), .limit = UINT64_MAX};
	const char *root = find_root();
	char path[64], line[4096], dir[4200];
	CLEANUP(fclosep) FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *group = strchr(line, '/');
		bool is_old =
			strstr(line, ":memory:") || strstr(line, ":memory,") || strstr(line, ",memory:");
		const char *top = is_old ? "/sys/fs/cgroup/memory" : strncmp(line, "0::", 3) ? NULL : root;

		if (!group || !top)
			continue;
		snprintf(dir, sizeof(dir), "%s%.*s", top, (int)strcspn(group, "\n"), group);
		of_group(top, dir, is_old ? &old : &unified, &left);
	}
	return left;
}

void memory_give_way(void)
{
	CLEANUP(fclosep) FILE *file = fopen("/proc/self/oom_score_adj", "we");

	if (file)
		fputs("1000", file);
}
