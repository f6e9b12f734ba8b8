/* SPDX-License-Identifier: BSD-2-Clause */
/* One "Field:\tvalue" a line. */
#include "process/proc_status.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file/reading.h"

int proc_status_text(pid_t pid, const char *field, char *ret_text, size_t size)
{
	CLEANUP(fclosep) FILE *file = NULL;
	CLEANUP(freep) char *line = NULL;
	size_t len = strlen(field), line_cap = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -ESRCH;
	while (getline(&line, &line_cap, file) > 0) {
		const char *value = line + len + 1;

		if (strncmp(line, field, len) || line[len] != ':')
			continue;
		value += strspn(value, " \t");
		snprintf(ret_text, size, "%.*s", (int)strcspn(value, "\n"), value);
		return 0;
	}
	return ferror(file) ? -ESRCH : -ENOENT;
}

/* "unlimited" or a number */
static rlim_t limit_from(const char *text)
{
	return isdigit((unsigned char)*text) ? strtoull(text, NULL, 10) : RLIM_INFINITY;
}

int proc_limit(pid_t pid, unsigned int resource, struct rlimit *ret_limit)
{
	const char *name = resource == RLIMIT_AS ? "Max address space " : "Max data size ";
	CLEANUP(fclosep) FILE *file = NULL;
	char path[64], line[256], soft[32], hard[32];

	snprintf(path, sizeof(path), "/proc/%d/limits", pid);
	file = fopen(path, "re");
	if (!file)
		return -ESRCH;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) ||
		    sscanf(line + strlen(name), "%31s %31s", soft, hard) != 2)
			continue;
		*ret_limit = (struct rlimit){limit_from(soft), limit_from(hard)};
		return 0;
	}
	return ferror(file) ? -ESRCH : -ENOENT;
}

bool proc_has_ended(pid_t tid)
{
	char state[16];

	return proc_status_text(tid, "State", state, sizeof(state)) || state[0] == 'Z' || state[0] == 'X';
}

bool proc_is_unstoppable(pid_t tid)
{
	char state[16];

	return proc_status_text(tid, "State", state, sizeof(state)) || strchr("DXZ", state[0]);
}

bool proc_sleeps(pid_t tid)
{
	char state[16];

	return !proc_status_text(tid, "State", state, sizeof(state)) && state[0] == 'S';
}

struct stat_fields {
	unsigned int flags;	    /* of the kernel: field 9 of /proc/PID/stat */
	unsigned long child_faults; /* page faults of ended children: field 11 */
	unsigned long long started; /* in ticks since the machine began: field 22 */
};

static bool read_stat(pid_t pid, struct stat_fields *ret_fields)
{
	char path[64], text[1024];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!reading_text(path, text, sizeof(text)))
		return false;
	/* The name before it may have anything inside. */
	state = strrchr(text, ')');
	return state && sscanf(state,
			       ") %*c %*d %*d %*d %*d %*d %u %*u %lu %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			       "%*d %llu",
			       &ret_fields->flags, &ret_fields->child_faults, &ret_fields->started) == 3;
}

bool proc_is_ending(pid_t pid)
{
	enum { PF_EXITING = 4 }; /* include/linux/sched.h */
	struct stat_fields fields;

	return proc_has_ended(pid) || !read_stat(pid, &fields) || fields.flags & PF_EXITING;
}

bool proc_is_older(pid_t pid, pid_t than)
{
	struct stat_fields fields, others;

	return read_stat(pid, &fields) && read_stat(than, &others) && fields.started < others.started;
}

bool proc_has_child(pid_t pid, bool (*is_wanted)(const void *ctx, pid_t child), const void *ctx)
{
	CLEANUP(closedirp) DIR *threads = proc_threads(pid);

	for (pid_t tid; (tid = proc_next(threads));) {
		CLEANUP(fclosep) FILE *children = NULL;
		char path[64];
		int child;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
		children = fopen(path, "re");
		while (children && fscanf(children, "%d", &child) == 1)
			if (is_wanted(ctx, child))
				return true;
	}
	return false;
}

static bool is_any(const void *ctx, pid_t child)
{
	(void)ctx;
	(void)child;
	return true;
}

bool proc_has_children(pid_t pid)
{
	struct stat_fields fields;

	return (read_stat(pid, &fields) && fields.child_faults) || proc_has_child(pid, is_any, NULL);
}

int proc_status_number(pid_t pid, const char *field, int base, uint64_t *ret_number)
{
	char text[64];
	int err = proc_status_text(pid, field, text, sizeof(text));

	if (err)
		return err;
	if (!isxdigit((unsigned char)text[0]))
		return -ENOENT;
	*ret_number = strtoull(text, NULL, base);
	return 0;
}

pid_t proc_inner_pid(pid_t tid)
{
	char numbers[256];
	const char *last;

	if (proc_status_text(tid, "NStgid", numbers, sizeof(numbers)))
		return tid;
	last = strrchr(numbers, '\t');
	return (pid_t)strtol(last ? last : numbers, NULL, 10);
}

DIR *proc_threads(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return opendir(path);
}

pid_t proc_next(DIR *dir)
{
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			return atoi(entry->d_name);
	return 0;
}
