/* SPDX-License-Identifier: BSD-2-Clause */
/* How many files this process may have open. */
#pragma once

/*
 * As many as the hard limit allows: the usual soft one of 1024 is too few for a file for each process, or for
 * each thread on each processor. To be called after a program is launched, which would inherit it.
 */
void file_limit_raise(void);
