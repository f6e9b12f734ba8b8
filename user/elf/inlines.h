/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/symbol.h"

/*
 * A run of code of one function in which the same calls are inlined. Each symbol stands for one inlined call,
 * not for the function: it is another one where the same function is inlined again. They live as long as the
 * image.
 */
struct inline_chain {
	uint64_t start, end;	       /* virtual addresses of the file */
	const struct symbol **symbols; /* outermost first */
	size_t cnt;		       /* 0: nothing is inlined here */
};
