/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdint.h>

#include "model/snapshot.h"

struct pt_config;

/*
 * libipt's configuration for the trace [begin, end) of the processor `params`. Flags of the decoder variants
 * are 0.
 */
void setup_config(struct pt_config *ret_config, const struct trace_params *params, uint8_t *begin,
		  uint8_t *end);
