/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/encoder_snapshot.h"

#include <time.h>

#include "base/clock.h"
#include "source/encoder.h"

void encoder_describe(struct snapshot *snapshot, uint64_t now_ns)
{
	snapshot->params = encoder_default_params();
	snapshot->clock = encoder_default_clock();
	snapshot->clock.monotonic_ns = snapshot->clock.trace_ns = now_ns;
	snapshot->clock.realtime_ns = clock_ns(CLOCK_REALTIME);
}
