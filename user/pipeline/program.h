/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * The file that `name` runs, searched in $PATH as execvp(3) does; *ret_path is the caller's to free. -ENOENT or -EACCES with a sentence;
 * -ENOTSUP: a program of another kind than x86-64.
 */
int program_find(const char *name, char **ret_path);
