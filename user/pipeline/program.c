/* SPDX-License-Identifier: BSD-2-Clause */
/* execvp's search, done by us: probes must be put on the very file that will run. */
#include "pipeline/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "image/elf_file.h"

static int check_runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

/* Scripts run through their interpreter; an ELF file of another machine cannot be traced. */
static int check_machine(const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *elf = NULL;
	int err = elf_file_open(&elf, path);

	return err == -ENOTSUP ? err : 0;
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
	err = check_machine(path);
	if (err)
		return err;
	*ret_path = TAKE_PTR(path);
	return 0;
}
