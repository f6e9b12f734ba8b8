/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "bpf/hit.h"
#include "trigger/trigger.h"

/*
 * What the BPF program wrote, as everything above knows it. Pointers of *ret_hit lead into the record.
 * `is_entry` is left alone.
 */
void hit_record_read(const struct hit_record *record, struct trigger_hit *ret_hit);
