/* SPDX-License-Identifier: BSD-2-Clause */
/* Resolves triggers for running processes: looks names up in the files that they have mapped. */
#pragma once

#include <sys/types.h>

#include "trigger/trigger.h"

/*
 * As trigger_resolve(), in the executables and libraries of all these processes (at least one). Gives one
 * probe for each place in each file. Errors are those of trigger_resolve(), if no process has such a
 * function.
 */
int target_resolve(struct trigger *ret_trigger, const char *spec, const pid_t *pids, size_t pid_cnt,
		   uint32_t action);
