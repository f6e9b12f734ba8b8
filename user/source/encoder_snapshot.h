/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an encoder to a snapshot, or to another encoder. Separate from encoder.h, because a kernel module of
 * the tests includes that.
 */
#pragma once

#include <stdint.h>

#include "model/snapshot.h"
#include "source/encoder.h"

/* Sets the snapshot's parameters and clock to the encoder's defaults. `now_ns`: CLOCK_MONOTONIC. */
void encoder_describe(struct snapshot *snapshot, uint64_t now_ns);

/*
 * Moves the encoder's bytes, if it has any, to an AUX trace of the thread. What the encoder writes next can
 * be decoded without them. 0 or -ENOMEM.
 */
int encoder_take(struct encoder *encoder, struct snapshot *snapshot, pid_t pid, pid_t tid, uint64_t now_ns);

/*
 * Behind what `encoder` has written comes what `more` has, which began at that time with a PSB: from now on
 * `encoder` is where `more` is. Both have rings of one size.
 */
void encoder_append(struct encoder *encoder, const struct encoder *more, uint64_t tsc);
