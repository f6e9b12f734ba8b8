/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/moments.h"

#include <errno.h>

#include "base/spill.h"

void moments_release(struct moments *moments)
{
	stamp_list_release(&moments->stamps);
	*moments = (struct moments){0};
}

uint64_t moments_add_stamp(struct moments *moments, bool barrier)
{
	struct stamp stamp = {.tsc = moments->tsc, .barrier = barrier};

	moments->next += moments->stamps.cnt ? 1 : 0;
	stamp.first = moments->next;
	if (stamp_list_push(&moments->stamps, &stamp))
		moments->no_memory = true;
	return moments->next;
}

uint64_t moments_barrier(struct moments *moments)
{
	uint64_t now = moments_add_stamp(moments, true);

	moments->next++;
	return now;
}

/* Cut between two branches of one time stamp, the second part belongs to the stamp of the first. */
int moments_append(struct moments *moments, const struct moments *later, uint64_t *ret_offset)
{
	struct stamp_list *stamps = &moments->stamps;
	uint64_t offset = stamps->cnt ? moments->next + 1 : moments->next, floor = moments->tsc;

	if (spill_reserve(&stamps->items, &stamps->cap, stamps->cnt + later->stamps.cnt + 1,
			  sizeof(*stamps->items)))
		return -ENOMEM;
	*ret_offset = offset;
	if (!moments->begun)
		moments->first_tsc = later->first_tsc;
	for (size_t i = 0; i < later->stamps.cnt; i++) {
		struct stamp stamp = later->stamps.items[i];

		stamp.first += offset;
		if (stamp.tsc < floor)
			stamp.tsc = floor;
		if (!stamps->cnt || stamp.barrier || stamp.tsc != stamps->items[stamps->cnt - 1].tsc)
			stamps->items[stamps->cnt++] = stamp;
	}
	moments->next = offset + later->next;
	if (later->tsc > floor)
		moments->tsc = later->tsc;
	moments->begun |= later->begun;
	return 0;
}

uint64_t moments_tsc(const struct moments *moments, struct stamp_reader *stamps, uint64_t moment)
{
	const struct stamp *stamp;

	stamp_reader_seek(stamps, moment);
	stamp = stamp_reader_next(stamps);
	return stamp && stamp->first <= moment ? stamp->tsc : moments->first_tsc;
}
