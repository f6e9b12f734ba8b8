/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads from the terminal, not from standard input, which is the program's. The plain filter shows the lines
 * that contain what the user types, numbered; a number picks one.
 */
#include "cli/capture/pick.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/on_line.h"

enum { SHOWN_MAX = 20 };

/* ---- fzf ---- */

/* Each line is preceded by its number, hidden from view, so that equal lines differ. */
static int write_lines(char *const *lines, size_t cnt)
{
	int fd = memfd_create("lines", 0);
	CLEANUP(fclosep) FILE *file = fd < 0 ? NULL : fdopen(dup(fd), "w");

	for (size_t i = 0; file && i < cnt; i++) {
		fprintf(file, "%zu\t", i);
		on_line_put(lines[i], file);
		fputc('\n', file);
	}
	if (file && !fflush(file))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int pick_with_fzf(const char *what, char *const *lines, size_t cnt, size_t *ret_choice)
{
	CLEANUP(closep) int fd = write_lines(lines, cnt);
	char command[256];
	size_t choice;
	FILE *pipe;
	int got, status;

	if (fd < 0)
		return -ENOMEM;
	snprintf(command, sizeof(command),
		 "fzf --with-nth=2.. --delimiter='\t' --prompt='%s: ' < /proc/%d/fd/%d", what, getpid(), fd);
	fflush(NULL);
	pipe = popen(command, "re");
	if (!pipe)
		return fail_errno(-errno, "cannot start fzf");
	got = fscanf(pipe, "%zu", &choice);
	while (fgetc(pipe) != EOF)
		;
	status = pclose(pipe);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOSYS;
	if (got != 1 || choice >= cnt)
		return fail(-ECANCELED, "no %s was picked", what);
	*ret_choice = choice;
	return 0;
}

/* ---- the plain filter ---- */

static size_t show(FILE *terminal, char *const *lines, size_t cnt, const char *part,
		   size_t shown[static SHOWN_MAX])
{
	size_t found = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (!strstr(lines[i], part))
			continue;
		if (found < SHOWN_MAX) {
			shown[found] = i;
			fprintf(terminal, "%3zu  ", found + 1);
			on_line_put(lines[i], terminal);
			fputc('\n', terminal);
		}
		found++;
	}
	if (found > SHOWN_MAX)
		fprintf(terminal, "     ... and %zu more\n", found - SHOWN_MAX);
	return found < SHOWN_MAX ? found : SHOWN_MAX;
}

static bool is_number(const char *text, size_t max, size_t *ret_number)
{
	char *end;

	*ret_number = strtoul(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && *ret_number >= 1 && *ret_number <= max;
}

static int pick_plainly(FILE *terminal, const char *what, char *const *lines, size_t cnt, size_t *ret_choice)
{
	size_t shown[SHOWN_MAX], shown_cnt = show(terminal, lines, cnt, "", shown), number;
	char answer[256];

	for (;;) {
		fprintf(terminal,
			"%s: type a number to pick, part of a name to filter, or nothing to give up: ", what);
		fflush(terminal);
		if (!fgets(answer, sizeof(answer), terminal) || answer[0] == '\n')
			return fail(-ECANCELED, "no %s was picked", what);
		answer[strcspn(answer, "\n")] = '\0';
		if (is_number(answer, shown_cnt, &number)) {
			*ret_choice = shown[number - 1];
			return 0;
		}
		shown_cnt = show(terminal, lines, cnt, answer, shown);
	}
}

int pick(const char *what, char *const *lines, size_t cnt, size_t *ret_choice)
{
	CLEANUP(fclosep) FILE *terminal = fopen("/dev/tty", "r+e");
	int err;

	if (!cnt)
		return fail(-ENOENT, "there is no %s to pick from", what);
	if (!terminal)
		return fail(-ENOTTY, "there is no terminal to pick a %s at: name it", what);
	err = system("command -v fzf >/dev/null 2>&1") ? -ENOSYS
						       : pick_with_fzf(what, lines, cnt, ret_choice);
	return err == -ENOSYS ? pick_plainly(terminal, what, lines, cnt, ret_choice) : err;
}
