/* SPDX-License-Identifier: BSD-2-Clause */
/* Intel PT in a perf.data. Functions return 0, -EBADMSG or -ENOTSUP with a sentence, or -ENOMEM. */
#pragma once

#include "recording/perf_events.h"

/* AUXTRACE_INFO: the parameters of the trace, its clock, its address filters. */
int perf_aux_read_info(struct perf_events *events, const uint8_t *record, size_t size);

/* An AUXTRACE record, and the bytes behind it; *ret_size is the length of both. */
int perf_aux_read(struct perf_events *events, const uint8_t *record, size_t size, size_t left,
		  size_t *ret_size);
