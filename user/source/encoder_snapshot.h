/* SPDX-License-Identifier: BSD-2-Clause */
/* Apart from the encoder, which a kernel module of the tests is built from, too. */
#pragma once

#include <stdint.h>

#include "model/snapshot.h"

/* Gives the snapshot the encoder's default parameters and clock. `now_ns`: CLOCK_MONOTONIC. */
void encoder_describe(struct snapshot *snapshot, uint64_t now_ns);
