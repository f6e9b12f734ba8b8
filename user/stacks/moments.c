/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/moments.h"

#include <errno.h>

#include "base/spill.h"

enum { LET_GO_EVERY = 1 << 18 };

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

/* Shares the time from start_ns to end_ns among the moments [from, to). */
static void share(const uint8_t *uses, uint64_t from, uint64_t to, uint64_t start_ns, uint64_t end_ns,
		  uint64_t *ns)
{
	uint64_t left = end_ns > start_ns ? end_ns - start_ns : 0, cnt = 0;

	for (uint64_t moment = from; moment < to; moment++)
		cnt += !!(uses[moment] & MOMENT_TAKES);
	for (uint64_t moment = from; moment < to; moment++) {
		ns[moment] = start_ns;
		if (uses[moment] & MOMENT_TAKES) {
			uint64_t part = left / cnt--;

			left -= part;
			start_ns += part;
		}
	}
}

static bool is_used(const uint8_t *uses, uint64_t from, uint64_t to)
{
	for (uint64_t moment = from; moment < to; moment++)
		if (uses[moment])
			return true;
	return false;
}

int moments_to_ns(const struct moments *moments, uint8_t *uses, uint64_t (*time_ns)(void *ctx, uint64_t tsc),
		  void *ctx, uint64_t **ret_ns)
{
	uint64_t *ns = spill_calloc(moments->next + 2, sizeof(*ns));
	const struct stamp *stamps = moments->stamps.items;
	uint64_t end = moments->next + 1, until = moments->tsc;

	if (!ns)
		return -ENOMEM;
	for (size_t i = moments->stamps.cnt; i-- > 0;) {
		const struct stamp *stamp = &stamps[i];

		share(uses, stamp->first, end, time_ns(ctx, stamp->tsc), time_ns(ctx, until), ns);
		if (is_used(uses, stamp->first, end))
			until = stamp->tsc;
		end = stamp->first;
		if (!(i % LET_GO_EVERY)) {
			spill_let_go(uses, end, SIZE_MAX);
			spill_let_go(ns, end * sizeof(*ns), SIZE_MAX);
			spill_let_go(moments->stamps.items, i * sizeof(*stamp), SIZE_MAX);
		}
	}
	*ret_ns = ns;
	return 0;
}
