/* SPDX-License-Identifier: BSD-2-Clause */
#include "stacks/sampled.h"

#include <errno.h>
#include <stdlib.h>

#include "stacks/stacks_internal.h"

/* Frames that both have, from the outermost on. */
static size_t common(const struct known_stack *a, const struct known_stack *b)
{
	size_t cnt = 0;

	while (cnt < a->cnt && cnt < b->cnt && a->ips[a->cnt - 1 - cnt] == b->ips[b->cnt - 1 - cnt])
		cnt++;
	return cnt;
}

static void take(struct segment *segment, struct moments *moments, const struct stacks_config *config,
		 const struct known_stack *sample, size_t kept)
{
	moments_see(moments, sample->tsc);
	segment_pop_to(segment, kept, moments_now(moments));
	for (size_t i = kept; i < sample->cnt; i++) {
		uint64_t ip = sample->ips[sample->cnt - 1 - i];

		segment_push(segment, SLICE_CALL, config->symbol_at(config->ctx, ip, sample->tsc), ip,
			     moments_reserve(moments));
	}
}

int sampled_build(const struct stacks_config *config, const struct known_stack *samples, size_t cnt,
		  uint64_t until, struct timeline_thread *thread)
{
	const struct known_stack nothing = {0};
	struct moments moments = {0};
	struct segment segment;
	int err;

	segment_init(&segment, 0);
	for (size_t i = 0; i < cnt; i++)
		take(&segment, &moments, config, &samples[i],
		     common(i ? &samples[i - 1] : &nothing, &samples[i]));
	if (cnt)
		moments_see(&moments, until);
	segment_close(&segment, cnt ? moments_now(&moments) : 0);
	err = moments.no_memory ? -ENOMEM : segment_write(&segment, thread);
	if (!err)
		err = thread_to_ns(thread, &moments, config);
	segment_release(&segment);
	moments_release(&moments);
	return err;
}
