/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/off_cpu.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/spill.h"

static bool is_pause(const struct slice *slice)
{
	return slice->kind == SLICE_SYSCALL || slice->kind == SLICE_UNTRACED;
}

int off_cpu_add(struct timeline_thread *thread, const struct off_cpu *times, size_t cnt)
{
	struct slice *slices = NULL;
	size_t slice_cnt = 0, cap = 0, next = 0;
	int err = 0;

	for (size_t i = 0; i < thread->slice_cnt && !err; i++) {
		const struct slice *slice = &thread->slices[i];

		SPILL_PASS(thread->slices, i);
		err = SPILL_PUSH(slices, slice_cnt, cap, *slice);
		if (!is_pause(slice))
			continue;
		while (next < cnt && times[next].end_ns <= slice->start_ns)
			next++;
		for (size_t j = next; j < cnt && times[j].start_ns < slice->end_ns && !err; j++) {
			struct slice off = {.start_ns = times[j].start_ns,
					    .end_ns = times[j].end_ns,
					    .depth = slice->depth + 1,
					    .kind = SLICE_OFF_CPU,
					    .flags = slice->flags & SLICE_OPEN_END};

			off.start_ns = off.start_ns > slice->start_ns ? off.start_ns : slice->start_ns;
			off.end_ns = off.end_ns < slice->end_ns ? off.end_ns : slice->end_ns;
			err = SPILL_PUSH(slices, slice_cnt, cap, off);
		}
	}
	if (err)
		spill_free(slices);
	else
		timeline_thread_replace(thread, slices, slice_cnt, cap);
	return err;
}
