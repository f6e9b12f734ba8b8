/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/lists/stamp_clock.h"

int stamp_clock_begin(struct stamp_clock *clock, const struct stamp_list *stamps)
{
	int err = stamp_reader_begin(&clock->reader, stamps);

	clock->next = err ? NULL : stamp_reader_next(&clock->reader);
	return err ? err : clock->reader.err;
}

void stamp_clock_end(struct stamp_clock *clock)
{
	stamp_reader_end(&clock->reader);
}

void stamp_clock_step(struct stamp_clock *clock)
{
	clock->stamp = *clock->next;
	clock->next = stamp_reader_next(&clock->reader);
	clock->taken = 0;
}
