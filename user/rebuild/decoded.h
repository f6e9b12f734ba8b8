/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "history/history.h"
#include "rebuild/decode.h"

/* The timeline, and what its symbols belong to. */
struct decoded {
	struct timeline *timeline;
	struct history *history; /* of a recording; NULL: of another input */
	void *symbols;		 /* what else the input keeps */
	void (*free_symbols)(void *symbols);
};
