/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pick_process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cli/pick.h"
#include "pipeline/command_line.h"
#include "source/attach_check.h"

struct lines {
	char **items; /* "[NUMBER] COMMAND LINE" */
	size_t cnt, cap;
};

static void lines_release(struct lines *lines)
{
	for (size_t i = 0; i < lines->cnt; i++)
		free(lines->items[i]);
	free(lines->items);
}

/* What cannot be attached to is not offered. */
static int add_line(struct lines *lines, pid_t pid)
{
	char *line;

	if (pid == getpid() || attach_check(pid))
		return 0;
	if (command_line_of_pids(&pid, 1, &line))
		return -ENOMEM;
	if (!ARRAY_PUSH(lines->items, lines->cnt, lines->cap, line))
		return 0;
	free(line);
	return -ENOMEM;
}

static int list_processes(struct lines *lines)
{
	DIR *proc = opendir("/proc");
	int err = 0;

	if (!proc)
		return fail_errno(-errno, "cannot list the processes in /proc");
	for (struct dirent *entry; !err && (entry = readdir(proc));)
		if (atoi(entry->d_name) > 0)
			err = add_line(lines, (pid_t)atoi(entry->d_name));
	closedir(proc);
	return err;
}

int pick_process(pid_t *ret_pid)
{
	CLEANUP(lines_release) struct lines lines = {0};
	size_t choice;
	int err = list_processes(&lines);

	if (!err)
		err = pick("process", lines.items, lines.cnt, &choice);
	if (err)
		return err;
	*ret_pid = atoi(lines.items[choice] + 1);
	return 0;
}
