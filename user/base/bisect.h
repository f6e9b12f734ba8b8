/* SPDX-License-Identifier: BSD-2-Clause */
/* Binary search. */
#pragma once

#include <stddef.h>

/*
 * How many of the indices below `cnt` the condition holds for, an expression in which `i` is the index. Those
 * for which it holds must come first.
 *
 *	size_t begun = BISECT(list->cnt, i, list->items[i].start_ns <= time_ns);
 */
#define BISECT(cnt, i, condition)                             \
	({                                                    \
		size_t _low = 0, _high = (cnt);               \
		while (_low < _high) {                        \
			size_t i = _low + (_high - _low) / 2; \
			if (condition)                        \
				_low = i + 1;                 \
			else                                  \
				_high = i;                    \
		}                                             \
		_low;                                         \
	})

/* The last of these indices; 0 where there is none. */
#define BISECT_LAST(cnt, i, condition)                         \
	({                                                     \
		size_t _holds = BISECT((cnt), i, (condition)); \
		_holds ? _holds - 1 : 0;                       \
	})
