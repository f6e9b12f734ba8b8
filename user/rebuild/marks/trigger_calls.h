/* SPDX-License-Identifier: BSD-2-Clause */
/* Which calls are of the functions that a trigger probes. */
#pragma once

#include <stdbool.h>

#include "model/snapshot.h"
#include "model/symbol.h"

struct trigger_calls {
	const struct probe_place **sorted; /* by trigger and function */
	size_t cnt;
};

/* Borrows the snapshot's places. 0 or -ENOMEM. */
int trigger_calls_init(struct trigger_calls *ret_calls, const struct snapshot *snapshot);
void trigger_calls_release(struct trigger_calls *calls);

/*
 * Whether the symbol is one of the trigger's functions: the same name in a file of the same name.
 * Directories are not compared, because a container's files have another path outside.
 */
bool trigger_calls_have(const struct trigger_calls *calls, uint32_t trigger, const struct symbol *symbol);
