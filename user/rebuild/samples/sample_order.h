/* SPDX-License-Identifier: BSD-2-Clause */
/* All samples and hits of a recording in the order of time, with the gaps that are found in them. */
#pragma once

#include "history/history.h"
#include "rebuild/samples/sample_gaps.h"

/* All 0 at first. */
struct sample_order {
	const struct snapshot *snapshot;
	struct stack_sample *switches; /* made of perf's records */
	size_t switch_cnt;
	struct sample_gaps gaps;
	struct sort_key *keys;
	size_t cnt; /* not 0 */
};

/* Of a recording that has samples; both must last as long as the order. 0 or -ENOMEM. */
int sample_order_make(struct sample_order *order, const struct history *history,
		      const struct snapshot *snapshot);

uint64_t sample_order_time_ns(const struct sample_order *order, size_t nth);

/* NULL: it is a hit. */
const struct stack_sample *sample_order_sample(const struct sample_order *order, size_t nth);
const struct hit *sample_order_hit(const struct sample_order *order, size_t nth);

/* Whether a source told of switches, and not only perf. */
bool sample_order_has_switches(const struct snapshot *snapshot);

void sample_order_release(struct sample_order *order);
