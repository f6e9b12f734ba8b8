/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "rebuild/decoded.h"

/*
 * From the snapshot's traces to decoded->timeline: base_ns, and the threads with their slices and gaps. decoded->history must be there. 0, or
 * -errno with a sentence.
 */
int build_threads(struct decoded *decoded, const struct snapshot *snapshot,
		  const struct decode_config *config);
