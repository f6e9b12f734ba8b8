/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of /proc/PID/status, as proc(5) names them ("Tgid", "TracerPid"), and lists of processes and
 * threads. A thread's id works as well as a process's.
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(DIR *, closedir)

/*
 * The field's text, without leading blanks, cut to size. -ESRCH: no such process; -ENOENT: no such field. No
 * sentence.
 */
int proc_status_text(pid_t pid, const char *field, char *ret_text, size_t size);

/* The field's first number in the given base (signal sets are of base 16). Errors as above. */
int proc_status_number(pid_t pid, const char *field, int base, uint64_t *ret_number);

/*
 * A limit of the process, RLIMIT_AS or RLIMIT_DATA, by /proc/PID/limits, which tells where prlimit(2) may
 * not. Errors as above.
 */
int proc_limit(pid_t pid, unsigned int resource, struct rlimit *ret_limit);

/* Whether the process or thread is a zombie, or gone. */
bool proc_has_ended(pid_t tid);

/* Whether the thread waits for something, and not in uninterruptible sleep. */
bool proc_sleeps(pid_t tid);

/* A zombie, or gone, or in uninterruptible sleep: PTRACE_INTERRUPT does not stop it soon. */
bool proc_is_unstoppable(pid_t tid);

/* A zombie, or gone, or about to be: it executes no more user code. */
bool proc_is_ending(pid_t pid);

/* Whether the process was there before the other one, by a clock of 10 ms. False also if one is gone. */
bool proc_is_older(pid_t pid, pid_t than);

/* Whether the process has a child that is wanted. False also if it is gone. */
bool proc_has_child(pid_t pid, bool (*is_wanted)(const void *ctx, pid_t child), const void *ctx);

/* Whether the process has children, or has waited for children that used memory. False also if it is gone. */
bool proc_has_children(pid_t pid);

/*
 * The number of the thread's process in its innermost pid namespace; `tid` itself if that is unknown.
 */
pid_t proc_inner_pid(pid_t tid);

/*
 * /proc/PID/task, for proc_next() and closedir(); NULL: it cannot be opened, as when the process has ended.
 */
DIR *proc_threads(pid_t pid);

/* The next id in /proc or /proc/PID/task; 0: none is left, or `dir` is NULL. */
pid_t proc_next(DIR *dir);
