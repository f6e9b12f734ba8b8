/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * The file that `name` runs, searched in $PATH as execvp(3) does; *ret_path is the caller's to free. -ENOENT
 * or -EACCES with a sentence.
 */
int program_find(const char *name, char **ret_path);

/*
 * The program whose code runs then, for symbols: of a script the interpreter that its first line names, also
 * by way of env(1) (or of a script that is the interpreter of a script); else `path` itself. *ret_binary is
 * the caller's to free. With a sentence: -ENOTSUP: a program of another kind than x86-64; -ENOENT and
 * -EACCES: there is no such interpreter; -ENOMEM.
 */
int program_binary(const char *path, char **ret_binary);
