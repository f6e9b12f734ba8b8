/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/symbol.h"

/*
 * A run of code of one function with the same inlined calls. Each symbol stands for one inlined call, not for
 * the function; the same function inlined elsewhere has another symbol. Symbols live as long as the image.
 */
struct inline_chain {
	uint64_t start, end;	       /* virtual addresses of the file */
	const struct symbol **symbols; /* outermost first */
	size_t cnt;		       /* 0: nothing is inlined here */
};
