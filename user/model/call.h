/* SPDX-License-Identifier: BSD-2-Clause */
/* The begin or end of a call, from sources that record chosen functions rather than branches. Plain data. */
#pragma once

#include <stdint.h>

enum call_edge { CALL_BEGIN, CALL_END, CALL_EDGE_CNT };

struct call {
	uint64_t time_ns; /* of the recording's clock */
	uint64_t ip;	  /* an address in the called function */
	int32_t pid, tid;
	uint32_t edge; /* enum call_edge */
	uint32_t zero;
};

_Static_assert(sizeof(struct call) == 32, "recordings hold it as it is");

enum { CALL_VERSION = 1 };
