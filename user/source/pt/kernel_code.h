/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's code, as copies of pid -1 (model/snapshot.h): KERNEL_CODE at their addresses, and KERNEL_NAMES
 * and KERNEL_MODULES, two text files. Bytes come from an ELF core file, /proc/kcore or an extract of it as
 * perf record --kcore makes it; names from /proc/kallsyms.
 */
#pragma once

#include "model/snapshot.h"

/* Where the kernel's files are; another directory in tests. */
#define KERNEL_PROC "/proc"

/*
 * Appends the current code of this machine's kernel: its text, modules, BPF programs and trampolines. -EACCES
 * with a sentence: it hides its addresses from this user; -ENOENT with a sentence: it has no kcore; -EBADMSG;
 * -ENOMEM.
 */
int kernel_code_copy(struct snapshot *snapshot, const char *proc);

/*
 * Appends the segments of the core file `dir`/kcore, and `dir`/kallsyms, as copies that refer to these files.
 * 0, also if there are none; -EBADMSG with a sentence: damaged; -ENOMEM.
 */
int kernel_code_read(struct snapshot *snapshot, const char *dir);

/*
 * Writes these files into the directory, if the snapshot has kernel code. 0, -ENOMEM, or the error of open(2)
 * and the like without a sentence.
 */
int kernel_code_write(const struct snapshot *snapshot, int dir_fd);

/* Whether such a directory has a file of this name. */
bool kernel_code_is_file(const char *name);

/* Removes these files from the directory, if they exist. */
void kernel_code_remove(int dir_fd);

/* Whether there is something to write. */
bool kernel_code_is_there(const struct snapshot *snapshot);
