/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines as text for people. The caller frees them. 0 or -ENOMEM. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

int command_line_of_argv(char *const *argv, char **ret_line);

/* Those of running processes, each with its number. Processes that cannot be read are left out. */
int command_line_of_pids(const pid_t *pids, size_t pid_cnt, char **ret_line);
