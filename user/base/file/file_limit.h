/* SPDX-License-Identifier: BSD-2-Clause */
/* How many files this process may have open. */
#pragma once

#include <sys/resource.h>

/*
 * As many as the hard limit allows: the usual soft one of 1024 is too few for a file for each process, or for
 * each thread on each processor. *ret_before is for programs that this process starts: they would inherit it.
 */
void file_limit_raise(struct rlimit *ret_before);
