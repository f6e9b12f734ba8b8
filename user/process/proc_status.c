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

/* The flags of the kernel and the page faults of ended children: fields 9 and 11 of /proc/PID/stat. */
static bool read_stat(pid_t pid, unsigned int *ret_flags, unsigned long *ret_child_faults)
{
	char path[64], text[1024];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!reading_text(path, text, sizeof(text)))
		return false;
	/* The name before it may have anything inside. */
	state = strrchr(text, ')');
	return state &&
	       sscanf(state, ") %*c %*d %*d %*d %*d %*d %u %*u %lu", ret_flags, ret_child_faults) == 2;
}

bool proc_is_ending(pid_t pid)
{
	enum { PF_EXITING = 4 }; /* include/linux/sched.h */
	unsigned int flags;
	unsigned long faults;

	return proc_has_ended(pid) || !read_stat(pid, &flags, &faults) || flags & PF_EXITING;
}

bool proc_has_children(pid_t pid)
{
	CLEANUP(closedirp) DIR *threads = NULL;
	unsigned int flags;
	unsigned long faults;

	if (read_stat(pid, &flags, &faults) && faults)
		return true;
	threads = proc_threads(pid);
	for (pid_t tid; (tid = proc_next(threads));) {
		char path[64], text[16];

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
		if (reading_text(path, text, sizeof(text)) && *text)
			return true;
	}
	return false;
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
