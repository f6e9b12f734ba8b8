/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that has capabilities by its file acts for a user who has none: what it opens, writes and
 * attaches to has to be what the user could himself. Of these capabilities it keeps those for bpf(2) and
 * perf_event_open(2), which open no file; CAP_SYS_PTRACE, too, to be in effect only where it attaches to a
 * process that the user may trace. What its environment lost for that (ld.so(8), "Secure-execution mode")
 * still belongs to the programs that it starts: they have no such rights.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether this process can do more than who started it: it has capabilities by its file. Root has none by
 * that.
 */
bool rights_are_gained(void);

/* To be called first. -EPERM with a sentence: the program is setuid or setgid, for which it is not made. */
int rights_limit(void);

/* CAP_SYS_PTRACE in effect, or no longer, if it is gained; else nothing happens. Of the calling thread. */
void rights_raise_ptrace(void);
void rights_lower_ptrace(void);

/* A variable of the environment as the caller gave it. Valid until the environment changes. */
const char *rights_getenv(const char *name);

/*
 * What a program that is started here has for an environment: this process's, and the variables that it lost.
 * The array is the caller's, its strings are not. NULL: no memory.
 */
char **rights_environ(void);
