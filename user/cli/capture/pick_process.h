/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <sys/types.h>

/*
 * Lets the user pick a process at the terminal. 0, or with a sentence: -ENOTTY: there is none; -ECANCELED:
 * nothing was picked.
 */
int pick_process(pid_t *ret_pid);
