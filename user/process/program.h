/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

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
