/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "bpf/hit.h"
#include "trigger/trigger.h"

/*
 * Converts a record of the BPF program to a hit. Pointers of *ret_hit point into the record. Does not set
 * `is_entry`.
 */
void hit_record_read(const struct hit_record *record, struct trigger_hit *ret_hit);
