/* SPDX-License-Identifier: BSD-2-Clause */
/* execvp's search, done by us: probes must be put on the very file that will run. */
#include "process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "elf/elf_file.h"

/*
 * Limits of the kernel (fs/binfmt_script.c): the length of the first line, and how deep scripts may be
 * interpreters of scripts.
 */
enum { SHEBANG_MAX = 256, SHEBANG_DEPTH = 5 };

static int check_runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

static int search_path(const char *name, char **ret_path)
{
	const char *dirs = getenv("PATH");
	int err = -ENOENT;

	for (const char *dir = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin"; dir;) {
		size_t len = strcspn(dir, ":");
		CLEANUP(freep) char *path = NULL;

		if (asprintf(&path, "%.*s%s%s", (int)len, dir, len ? "/" : "", name) < 0)
			return -ENOMEM;
		if (!check_runnable(path)) {
			*ret_path = TAKE_PTR(path);
			return 0;
		}
		if (!access(path, F_OK))
			err = -EACCES;
		dir = dir[len] ? dir + len + 1 : NULL;
	}
	return err;
}

/* ---- scripts ---- */

/* The first line without its "#!"; false: the file is no script. */
static bool read_shebang(const char *path, char *line, size_t size)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t len = fd < 0 ? 0 : read(fd, line, size - 1);

	if (len < 2 || memcmp(line, "#!", 2))
		return false;
	line[len] = 0;
	line[strcspn(line, "\n")] = 0;
	memmove(line, line + 2, strlen(line + 2) + 1);
	return true;
}

/* "/usr/bin/env [-S] [NAME=VALUE] python3 ..." runs python3. */
static const char *after_env(const char *interpreter, char *rest)
{
	const char *name = strrchr(interpreter, '/');
	char *word;

	if (strcmp(name ? name + 1 : interpreter, "env") != 0)
		return interpreter;
	while ((word = strsep(&rest, " \t")))
		if (*word && *word != '-' && !strchr(word, '='))
			return word;
	return interpreter;
}

static int find_interpreter(char *line, char **ret_path)
{
	char *rest = line + strspn(line, " \t"), *interpreter = strsep(&rest, " \t");
	const char *program = after_env(interpreter, rest);

	if (strchr(program, '/') || program == interpreter)
		return (*ret_path = strdup(program)) ? 0 : -ENOMEM;
	return search_path(program, ret_path);
}

int program_binary(const char *path, char **ret_binary)
{
	CLEANUP(freep) char *binary = strdup(path);
	CLEANUP(elf_file_closep) struct elf_file *elf = NULL;
	char line[SHEBANG_MAX];
	int err;

	for (int depth = 0; binary && depth < SHEBANG_DEPTH && read_shebang(binary, line, sizeof(line));
	     depth++) {
		char *next = NULL;

		err = find_interpreter(line, &next);
		if (err)
			return fail_errno(err, "cannot find the interpreter of the script %s", binary);
		free(binary);
		binary = next;
	}
	if (!binary)
		return -ENOMEM;
	/*
	 * The exec reports files that cannot be executed; a file for another architecture cannot be traced.
	 */
	err = elf_file_open(&elf, binary);
	if (err == -ENOTSUP || err == -ENOMEM)
		return err;
	*ret_binary = TAKE_PTR(binary);
	return 0;
}

int program_find(const char *name, char **ret_path)
{
	CLEANUP(freep) char *path = NULL;
	int err;

	if (strchr(name, '/')) {
		path = strdup(name);
		err = path ? check_runnable(path) : -ENOMEM;
	} else {
		err = search_path(name, &path);
	}
	if (err == -ENOENT)
		return fail(err, "no program '%s'%s", name, strchr(name, '/') ? "" : " in $PATH");
	if (err)
		return fail_errno(err, "cannot run %s", name);
	*ret_path = TAKE_PTR(path);
	return 0;
}

/* ---- command lines ---- */

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

/* /proc/PID/cmdline holds the words one after the other, each ending in a 0 byte. */
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
