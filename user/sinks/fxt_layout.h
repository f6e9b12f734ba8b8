/* SPDX-License-Identifier: BSD-2-Clause */
/* What our FXT files have in places and names of their own, for their writer and their reader. */
#pragma once

#include <stdint.h>

#include "bpf/hit.h"

/* The track of the hits. */
enum { FXT_HITS_PID = 1 << 30, FXT_HITS_TID = FXT_HITS_PID };

/* The arguments of a hit that are registers, in their order. */
enum { FXT_REGISTERS = 20 };
extern const struct fxt_register {
	const char *name;
	enum hit_reg reg;
} fxt_registers[FXT_REGISTERS];

/* A reader drops tid 0, and shows all of them as one thread: ids that are not above 0 are moved out of the way, and back. */
static inline uint64_t fxt_shown_id(int32_t id)
{
	return id > 0 ? (uint64_t)id : (uint64_t)FXT_HITS_PID + 1 + (uint32_t)id;
}

static inline int32_t fxt_id_of(uint64_t shown)
{
	return (int32_t)(uint32_t)(shown > FXT_HITS_PID ? shown - FXT_HITS_PID - 1 : shown);
}
