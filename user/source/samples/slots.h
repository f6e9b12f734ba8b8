/* SPDX-License-Identifier: BSD-2-Clause */
/* The last copies of threads' stacks, put together from what records of a ring say has changed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/samples.h"
#include "model/sample.h"

struct samples_slot;

/* SAMPLES_SLOTS of them, for free(). 0 or -ENOMEM. */
int samples_slots_new(struct samples_slot **ret_slots);

/*
 * So many bytes of the ring were lost. Where records are numbered the same again behind them,
 * nothing that was known goes on.
 */
void samples_slots_skip(struct samples_slot *slots, uint64_t bytes);

/* Brings the record's slot up to date. False: some of its bytes are not known. */
bool samples_slots_update(struct samples_slot *slots, const struct samples_full *full);

/* Those of the record, in the order of ARCH_SAMPLED, but for ARCH_SAMPLED_IP, until the next update. */
const uint64_t *samples_slots_registers(const struct samples_slot *slots, const struct samples_full *full);

/*
 * The sample's stack is the record's, from the stack pointer on, in the pool. Between two calls of
 * samples_slots_begin_pool() the pool is the same one. 0 or -ENOMEM.
 */
void samples_slots_begin_pool(struct samples_slot *slots);
int samples_slots_keep(struct samples_slot *slots, const struct samples_full *full, struct stack_pool *pool,
		       struct stack_sample *sample);
