/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/PID/cmdline holds the words one after the other, each ending in a 0 byte. */
#include "process/command_line.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"

int command_line_of_argv(char *const *argv, char **ret_line)
{
	size_t size;
	FILE *line = open_memstream(ret_line, &size);

	if (!line)
		return -ENOMEM;
	for (char *const *arg = argv; *arg; arg++)
		fprintf(line, "%s%s", arg == argv ? "" : " ", *arg);
	return fclose(line) ? -ENOMEM : 0;
}

static void print_process(FILE *line, pid_t pid)
{
	CLEANUP(fclosep) FILE *file = NULL;
	char path[64];
	int c, end = '\0';

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	fprintf(line, "[%d]", pid);
	while (file && (c = fgetc(file)) != EOF) {
		if (end == '\0')
			fputc(' ', line);
		if (c != '\0')
			fputc(c, line);
		end = c;
	}
}

int command_line_of_pids(const pid_t *pids, size_t pid_cnt, char **ret_line)
{
	size_t size;
	FILE *line = open_memstream(ret_line, &size);

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < pid_cnt; i++) {
		if (i)
			fputs("; ", line);
		print_process(line, pids[i]);
	}
	return fclose(line) ? -ENOMEM : 0;
}
