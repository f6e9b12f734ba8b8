/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * The file that `name` runs, searched in $PATH as execvp(3) does; *ret_path is the caller's to free. -ENOENT
 * or -EACCES with a sentence.
 */
int program_find(const char *name, char **ret_path);

/*
 * The program whose code will run, for symbols. For a script it is the interpreter of its first line, also
 * through env(1) or through another script; else `path` itself. The caller frees *ret_binary. With a
 * sentence: -ENOTSUP: not an x86-64 program; -ENOENT, -EACCES: no such interpreter; -ENOMEM.
 */
int program_binary(const char *path, char **ret_binary);

/* Command lines as text for people. The caller frees them. 0 or -ENOMEM. */
int command_line_of_argv(char *const *argv, char **ret_line);

/* Those of running processes, each with its number. Processes that cannot be read are left out. */
int command_line_of_pids(const pid_t *pids, size_t pid_cnt, char **ret_line);
