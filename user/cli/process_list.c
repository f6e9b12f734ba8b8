/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/process_list.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "process/attach_check.h"
#include "process/proc_status.h"
#include "process/program.h"

void process_list_release(struct process_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		free(list->lines[i]);
	free(list->lines);
}

/* Leaves out processes that trailcam cannot attach to. */
static int add_line(struct process_list *list, pid_t pid)
{
	char *line;

	if (pid == getpid() || attach_check(pid))
		return 0;
	if (command_line_of_pids(&pid, 1, &line))
		return -ENOMEM;
	if (!ARRAY_PUSH(list->lines, list->cnt, list->cap, line))
		return 0;
	free(line);
	return -ENOMEM;
}

int process_list_read(struct process_list *list)
{
	CLEANUP(closedirp) DIR *processes = opendir("/proc");
	int err = 0;

	if (!processes)
		return fail_errno(-errno, "cannot list the processes in /proc");
	for (pid_t pid; !err && (pid = proc_next(processes));)
		err = add_line(list, pid);
	return err;
}
