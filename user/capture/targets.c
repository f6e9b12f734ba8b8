/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Except for a list of numbers, this walks over /proc and reads each process's name or control groups
 * (cgroups(7), "/proc/[pid]/cgroup": one "NUMBER:CONTROLLERS:PATH" a line). That needs no privilege, and no
 * runtime to ask.
 */
#include "capture/targets.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "process/proc_status.h"

enum { COMM_MAX = 15, ID_HEX_DIGITS = 64 };

void targets_release(struct targets *targets)
{
	free(targets->pids);
	*targets = (struct targets){0};
}

static int add(struct targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->cnt; i++)
		if (targets->pids[i] == pid)
			return 0;
	return ARRAY_PUSH(targets->pids, targets->cnt, targets->cap, pid);
}

int targets_add_list(struct targets *targets, const char *text)
{
	CLEANUP(freep) char *copy = strdup(text);
	char *rest = copy;

	if (!copy)
		return -ENOMEM;
	for (char *word; (word = strsep(&rest, ","));) {
		char *end;
		long pid = strtol(word, &end, 10);
		int err;

		if (!isdigit((unsigned char)*word) || *end || pid <= 0 || pid > INT32_MAX)
			return fail(-EINVAL,
				    "'%s' is not a process number: give numbers with commas, or a name with "
				    "--comm",
				    word);
		err = add(targets, (pid_t)pid);
		if (err)
			return err;
	}
	return 0;
}

/* ---- over all processes ---- */

/* Calls fn with each living process but ourselves; stops at its first non-zero return and returns it. */
static int each_process(int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	CLEANUP(closedirp) DIR *processes = opendir("/proc");
	int ret = 0;

	if (!processes)
		return fail_errno(-errno, "cannot list the processes in /proc");
	for (pid_t pid; !ret && (pid = proc_next(processes));) {
		char state[16];

		if (pid == getpid() || proc_status_text(pid, "State", state, sizeof(state)) ||
		    state[0] == 'Z')
			continue;
		ret = fn(ctx, pid);
	}
	return ret;
}

/* Calls fn with each line of /proc/PID/cgroup; stops at its first non-zero return and returns it. */
static int each_cgroup_line(pid_t pid, int (*fn)(void *ctx, const char *line), void *ctx)
{
	CLEANUP(fclosep) FILE *file = NULL;
	CLEANUP(freep) char *line = NULL;
	size_t line_cap = 0;
	char path[64];
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "re");
	while (!ret && file && getline(&line, &line_cap, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		ret = fn(ctx, line);
	}
	return ret;
}

/* The path in such a line; "" where it is none. */
static const char *path_in_line(const char *line)
{
	const char *colon = strchr(line, ':');

	colon = colon ? strchr(colon + 1, ':') : NULL;
	return colon ? colon + 1 : "";
}

/* ---- by name ---- */

struct name_search {
	struct targets *targets;
	const char *name;
};

static int add_if_named(void *ctx, pid_t pid)
{
	const struct name_search *search = ctx;
	char name[64];

	if (proc_status_text(pid, "Name", name, sizeof(name)) || strncmp(name, search->name, COMM_MAX))
		return 0;
	return add(search->targets, pid);
}

int targets_add_named(struct targets *targets, const char *name)
{
	struct name_search search = {.targets = targets, .name = name};
	size_t before = targets->cnt;
	int err = each_process(add_if_named, &search);

	if (err)
		return err;
	return targets->cnt > before ? 0 : fail(-ENOENT, "no process is named '%s'", name);
}

/* ---- by control group ---- */

struct cgroup_search {
	struct targets *targets;
	const char *path; /* without slashes at its end */
};

static int line_is_below(void *ctx, const char *line)
{
	const struct cgroup_search *search = ctx;
	const char *path = path_in_line(line);
	size_t len = strlen(search->path);

	return !strncmp(path, search->path, len) && (!path[len] || path[len] == '/');
}

static int add_if_below(void *ctx, pid_t pid)
{
	struct cgroup_search *search = ctx;

	return each_cgroup_line(pid, line_is_below, search) ? add(search->targets, pid) : 0;
}

/* In the unified hierarchy or, where they are mounted, in one of the old ones. */
static bool cgroup_exists(const char *path)
{
	CLEANUP(freep) char *pattern = NULL;
	glob_t matches = {0};
	bool found;

	if (asprintf(&pattern, "/sys/fs/cgroup{,/*}%s/cgroup.procs", path) < 0)
		return false;
	found = !glob(pattern, GLOB_NOSORT | GLOB_BRACE, NULL, &matches);
	globfree(&matches);
	return found;
}

/* From a directory to a path within its hierarchy. */
static const char *below_mount(const char *path)
{
	static const char mount[] = "/sys/fs/cgroup", unified[] = "/unified";

	if (strncmp(path, mount, strlen(mount)))
		return path;
	path += strlen(mount);
	return strncmp(path, unified, strlen(unified)) ? path : path + strlen(unified);
}

int targets_add_cgroup(struct targets *targets, const char *path)
{
	const char *from = below_mount(path);
	CLEANUP(freep) char *copy = NULL;
	struct cgroup_search search = {.targets = targets};
	size_t len = strlen(from), before = targets->cnt;
	int err;

	while (len && from[len - 1] == '/')
		len--;
	if (asprintf(&copy, "%s%.*s", from[0] == '/' || !len ? "" : "/", (int)len, from) < 0)
		return -ENOMEM;
	search.path = copy;
	if (!cgroup_exists(copy))
		return fail(-ENOENT, "there is no control group '%s' below /sys/fs/cgroup", path);
	err = each_process(add_if_below, &search);
	if (err)
		return err;
	return targets->cnt > before ? 0 : fail(-ESRCH, "no process is in the control group '%s'", path);
}

/* ---- by container ---- */

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* "docker-<id>.scope", "<id>": the id in one component of a path, which is `len` bytes long. */
static bool id_in_part(const char *part, size_t len, char ret_id[static CONTAINER_ID_MAX])
{
	const char *id = part + len;
	size_t rest;

	while (id > part && id[-1] != '-' && id[-1] != ':')
		id--;
	rest = len - (size_t)(id - part);

	/* A process that supervises a container is not in it. */
	if (memmem(part, len, "conmon", strlen("conmon")) || rest < ID_HEX_DIGITS ||
	    hex_digits(id) != ID_HEX_DIGITS || (rest > ID_HEX_DIGITS && id[ID_HEX_DIGITS] != '.'))
		return false;
	snprintf(ret_id, CONTAINER_ID_MAX, "%.*s", ID_HEX_DIGITS, id);
	return true;
}

bool container_id_parse(const char *line, char ret_id[static CONTAINER_ID_MAX])
{
	bool found = false;

	for (const char *part = path_in_line(line); *part;) {
		size_t len = strcspn(part, "/");

		/* The innermost one. */
		found = id_in_part(part, len, ret_id) || found;
		part += len + (part[len] == '/');
	}
	return found;
}

/* runc names the group as its user names the container. */
static bool names_part(const char *line, const char *name)
{
	for (const char *part = path_in_line(line); *part;) {
		size_t len = strcspn(part, "/"), name_len = strlen(name);

		if (len == name_len && !strncmp(part, name, len))
			return true;
		part += len + (part[len] == '/');
	}
	return false;
}

struct container_search {
	struct targets *targets;
	const char *id;			/* or its beginning */
	char found[CONTAINER_ID_MAX];	/* whose processes are taken */
	char another[CONTAINER_ID_MAX]; /* that begins the same */
};

static int line_is_in_container(void *ctx, const char *line)
{
	struct container_search *search = ctx;
	char id[CONTAINER_ID_MAX];

	if (names_part(line, search->id))
		snprintf(id, sizeof(id), "%s", search->id);
	else if (!container_id_parse(line, id) || strncmp(id, search->id, strlen(search->id)))
		return 0;
	if (!search->found[0])
		memcpy(search->found, id, sizeof(id));
	if (strcmp(id, search->found)) {
		memcpy(search->another, id, sizeof(id));
		return 0;
	}
	return 1;
}

static int add_if_in_container(void *ctx, pid_t pid)
{
	struct container_search *search = ctx;

	return each_cgroup_line(pid, line_is_in_container, search) ? add(search->targets, pid) : 0;
}

int targets_add_container(struct targets *targets, const char *id)
{
	struct container_search search = {.targets = targets, .id = id};
	int err;

	if (!id[0] || strchr(id, '/') || strlen(id) >= CONTAINER_ID_MAX)
		return fail(-EINVAL, "'%s' is not the id of a container: give the one that its runtime lists",
			    id);
	err = each_process(add_if_in_container, &search);
	if (err)
		return err;
	if (!search.found[0])
		return fail(-ENOENT, "no process is in a container whose id begins with '%s'", id);
	if (search.another[0])
		return fail(-EINVAL,
			    "several containers have ids that begin with '%s' (%.20s..., %.20s...): give "
			    "more characters",
			    id, search.found, search.another);
	return 0;
}
