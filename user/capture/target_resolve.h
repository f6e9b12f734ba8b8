/* SPDX-License-Identifier: BSD-2-Clause */
/* Triggers for processes that run already: names are sought in the files that these have mapped. */
#pragma once

#include <sys/types.h>

#include "trigger/trigger.h"

/*
 * As trigger_resolve(), in the executables and libraries of all these processes (one at least): the probes
 * are those of every process that has such a function, each place once. Errors are those of trigger_resolve()
 * where none has.
 */
int target_resolve(struct trigger *ret_trigger, const char *spec, const pid_t *pids, size_t pid_cnt,
		   uint32_t action);
