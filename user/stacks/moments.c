/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/moments.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/spill.h"

enum { LET_GO_EVERY = 1 << 18 };
#include "base/spill.h"

void moments_release(struct moments *moments)
{
	spill_free(moments->stamps);
	*moments = (struct moments){0};
}

static uint64_t add_stamp(struct moments *moments, bool barrier)
{
	struct stamp stamp = {.tsc = moments->tsc, .barrier = barrier};

	moments->next += moments->cnt ? 1 : 0;
	stamp.first = moments->next;
	if (SPILL_PUSH(moments->stamps, moments->cnt, moments->cap, stamp))
		moments->no_memory = true;
	return moments->next;
}

uint64_t moments_now(struct moments *moments)
{
	bool same = moments->cnt && moments->stamps[moments->cnt - 1].tsc == moments->tsc;

	return same ? moments->next : add_stamp(moments, false);
}

uint64_t moments_reserve(struct moments *moments)
{
	uint64_t now = moments_now(moments);

	moments->next++;
	return now;
}

uint64_t moments_barrier(struct moments *moments)
{
	uint64_t now = add_stamp(moments, true);

	moments->next++;
	return now;
}

/* Cut between two branches of one time stamp, the second part belongs to the stamp of the first. */
int moments_append(struct moments *moments, const struct moments *later, uint64_t *ret_offset)
{
	uint64_t offset = moments->cnt ? moments->next + 1 : moments->next, floor = moments->tsc;

	if (spill_reserve(&moments->stamps, &moments->cap, moments->cnt + later->cnt + 1,
			  sizeof(*moments->stamps)))
		return -ENOMEM;
	*ret_offset = offset;
	if (!moments->begun)
		moments->first_tsc = later->first_tsc;
	for (size_t i = 0; i < later->cnt; i++) {
		struct stamp stamp = later->stamps[i];

		stamp.first += offset;
		if (stamp.tsc < floor)
			stamp.tsc = floor;
		if (!moments->cnt || stamp.barrier || stamp.tsc != moments->stamps[moments->cnt - 1].tsc)
			moments->stamps[moments->cnt++] = stamp;
	}
	moments->next = offset + later->next;
	if (later->tsc > floor)
		moments->tsc = later->tsc;
	moments->begun |= later->begun;
	return 0;
}

uint64_t moments_tsc(const struct moments *moments, uint64_t moment)
{
	size_t low = 0, high = moments->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (moments->stamps[mid].first <= moment)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? moments->stamps[low - 1].tsc : moments->first_tsc;
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
	uint64_t end = moments->next + 1, until = moments->tsc;

	if (!ns)
		return -ENOMEM;
	for (size_t i = moments->cnt; i-- > 0;) {
		const struct stamp *stamp = &moments->stamps[i];

		share(uses, stamp->first, end, time_ns(ctx, stamp->tsc), time_ns(ctx, until), ns);
		if (is_used(uses, stamp->first, end))
			until = stamp->tsc;
		end = stamp->first;
		if (!(i % LET_GO_EVERY)) {
			spill_let_go(uses, end, SIZE_MAX);
			spill_let_go(ns, end * sizeof(*ns), SIZE_MAX);
			spill_let_go(moments->stamps, i * sizeof(*stamp), SIZE_MAX);
		}
	}
	*ret_ns = ns;
	return 0;
}
