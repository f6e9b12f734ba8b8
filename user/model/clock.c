/* SPDX-License-Identifier: BSD-2-Clause */
/* The conversion is the one that linux/perf_event.h gives for cap_user_time_zero. */
#include "base/bisect.h"
#include "model/trace_params.h"

#include <string.h>

uint64_t trace_clock_ns(const struct trace_clock *clock, uint64_t tsc)
{
	uint16_t shift = clock->shift & 63;
	uint64_t whole = tsc >> shift;
	uint64_t rest = tsc & ((1ull << shift) - 1);

	return clock->zero + whole * clock->mult + ((rest * clock->mult) >> shift);
}

/* The time at 0 may be before that clock's 0: only differences are compared. */
uint64_t trace_clock_tsc(const struct trace_clock *clock, uint64_t ns)
{
	return BISECT(1ull << 56, tsc, (int64_t)(trace_clock_ns(clock, tsc) - ns) < 0);
}

uint64_t trace_clock_from_monotonic(const struct trace_clock *clock, uint64_t monotonic_ns)
{
	return monotonic_ns - clock->monotonic_ns + clock->trace_ns;
}

uint64_t trace_first_tsc(const uint8_t *bytes, size_t size, uint64_t otherwise)
{
	static const uint8_t head[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 0x19};
	const uint8_t *found = size ? memmem(bytes, size, head, sizeof(head)) : NULL;
	uint64_t tsc = 0;

	if (found && (size_t)(bytes + size - found) >= sizeof(head) + 7)
		memcpy(&tsc, found + sizeof(head), 7);
	if (!tsc)
		tsc = otherwise;
	return tsc ? tsc : 1;
}
