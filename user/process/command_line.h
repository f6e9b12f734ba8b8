/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines, for people to read. All are the caller's to free; 0 or -ENOMEM. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

int command_line_of_argv(char *const *argv, char **ret_line);

/* Of running processes, each with its number; what cannot be read is left out. */
int command_line_of_pids(const pid_t *pids, size_t pid_cnt, char **ret_line);
