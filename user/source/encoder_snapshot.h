/* SPDX-License-Identifier: BSD-2-Clause */
/* Apart from the encoder, which a kernel module of the tests is built from, too. */
#pragma once

#include <stdint.h>

#include "model/snapshot.h"
#include "source/encoder.h"

/* Gives the snapshot the encoder's default parameters and clock. `now_ns`: CLOCK_MONOTONIC. */
void encoder_describe(struct snapshot *snapshot, uint64_t now_ns);

/*
 * Moves what the encoder holds, if anything, to an AUX trace of the thread: what it writes next can be decoded
 * without that. 0 or -ENOMEM.
 */
int encoder_take(struct encoder *encoder, struct snapshot *snapshot, pid_t pid, pid_t tid, uint64_t now_ns);
