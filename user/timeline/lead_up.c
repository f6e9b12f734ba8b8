/* SPDX-License-Identifier: BSD-2-Clause */
#include "timeline/lead_up.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * One more than the index of the last call that led up to it: of those that were open, just began or just
 * ended, the innermost of the function. What began since then did so after the moment, by a clock that is a
 * little late.
 */
static size_t find_end(const struct timeline_thread *thread, uint64_t time_ns, const char *function)
{
	size_t end = time_ns == UINT64_MAX ? thread->slice_cnt : timeline_thread_begun(thread, time_ns + 1);
	uint32_t innermost = UINT32_MAX;

	for (size_t i = end; function && innermost && i > 0; i--) {
		const struct slice *slice = &thread->slices[i - 1];
		bool is_open = (slice->depth < innermost && slice->end_ns >= time_ns) ||
			       (slice->depth == innermost && slice->end_ns == time_ns);

		if ((is_open || slice->start_ns == time_ns) && !strcmp(slice_name(slice), function))
			return i;
		if (slice->depth < innermost)
			innermost = slice->depth;
	}
	return end;
}

static void reverse(struct lead_up *lead_up)
{
	for (size_t i = 0; i < lead_up->cnt / 2; i++) {
		struct lead_up_call call = lead_up->calls[i];

		lead_up->calls[i] = lead_up->calls[lead_up->cnt - 1 - i];
		lead_up->calls[lead_up->cnt - 1 - i] = call;
	}
}

/*
 * Backwards from the last: what is less deep than all after it called them, and is open if it had not ended.
 * Beyond the slices wanted, only the callers of the first of them are looked for.
 */
int lead_up_find(struct lead_up *ret_lead_up, const struct timeline_thread *thread, uint64_t time_ns,
		 const char *function, size_t wanted)
{
	struct lead_up found = {0};
	size_t end = find_end(thread, time_ns, function);
	uint32_t innermost = UINT32_MAX; /* depth of the least deep slice so far */
	uint32_t caller = UINT32_MAX;	 /* callers of the one before are less deep */
	int err = 0;

	for (size_t i = end; i-- > 0 && !err && (end - i <= wanted || caller);) {
		const struct slice *slice = &thread->slices[i];
		struct lead_up_call call = {.slice = slice};
		bool is_outer = end - i > wanted;

		if (is_outer && slice->depth >= caller)
			continue;
		caller = slice->depth;
		if (slice->depth < innermost) {
			innermost = slice->depth;
			call.is_open = slice->end_ns >= time_ns || slice->flags & SLICE_OPEN_END;
		}
		err = ARRAY_PUSH(found.calls, found.cnt, found.cap, call);
		found.outer_cnt += is_outer;
	}
	if (err) {
		lead_up_release(&found);
		return err;
	}
	reverse(&found);
	*ret_lead_up = found;
	return 0;
}

int lead_up_to_hit(struct lead_up *ret_lead_up, const struct timeline *timeline,
		   const struct timeline_hit *hit, size_t wanted)
{
	bool at_entry = hit->symbol && hit->hit->begin_ns == hit->hit->time_ns;
	/* What ends when a call returned that was hit is over. */
	uint64_t moment_ns = hit->time_ns + (hit_is_return(hit->hit) ? 1 : 0);

	*ret_lead_up = (struct lead_up){0};
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		if (timeline->threads[i].tid == (int32_t)hit->hit->tid)
			return lead_up_find(ret_lead_up, &timeline->threads[i], moment_ns,
					    at_entry ? hit->symbol->name : NULL, wanted);
	return 0;
}

void lead_up_release(struct lead_up *lead_up)
{
	free(lead_up->calls);
}
