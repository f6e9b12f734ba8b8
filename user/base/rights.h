/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trailcam may have file capabilities, while its user has none. It must then open, write and attach to only
 * what the user could. So it keeps the capabilities for bpf(2) and perf_event_open(2), which open no file,
 * and CAP_SYS_PTRACE, which it raises only to attach to a process that the user may trace. The loader removes
 * variables from the environment of such a program (ld.so(8), "Secure-execution mode"); the programs that
 * trailcam starts get them back, since they have no such rights.
 */
#pragma once

#include <stdbool.h>

/* Whether this process has capabilities from its file that its user lacks. Root gains none. */
bool rights_are_gained(void);

/* Drops all other capabilities; call it first. -EPERM with a sentence: the program is setuid or setgid. */
int rights_limit(void);

/* Raise and lower CAP_SYS_PTRACE of the calling thread if it comes from the file; otherwise do nothing. */
void rights_raise_ptrace(void);
void rights_lower_ptrace(void);

/* A variable of the caller's environment. Valid until the environment changes. */
const char *rights_getenv(const char *name);

/*
 * The environment for programs that trailcam starts: this process's with the removed variables. The caller
 * frees the array, but not its strings. NULL: out of memory.
 */
char **rights_environ(void);
