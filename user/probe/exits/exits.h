/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where calls of a function end: at its return instructions, and at its jumps to other functions, which
 * return in its place. Probes there see the end of a call without a return probe. A return probe replaces the
 * return address on the stack, which breaks code that reads the stack (exceptions, Go, profilers).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "elf/elf_file.h"

enum exit_kind {
	/* the return address is on top of the stack, the result in its register */
	EXIT_RETURN,
	/*
	 * A tail call: a jump to the beginning of a function, perhaps the same one. The return address is on
	 * top of the stack.
	 */
	EXIT_JUMP,
};

enum { EXIT_ALWAYS = -1 };

struct exit {
	uint64_t addr; /* of the instruction, a virtual address of the file; first: sorted by it */
	/* EXIT_JUMP: the beginning of the function or of a PLT entry; 0: known only at run time */
	uint64_t target;
	enum exit_kind kind;
	int condition;	/* of a conditional jump, as x86 numbers them (0: O, 1: NO, ... 15: G); EXIT_ALWAYS */
	bool is_shared; /* it is in another function, and may end a call of that, too */
};

struct exits {
	struct exit *items; /* each function's sorted by address */
	size_t cnt, cap;
};

/*
 * Appends the exits of the function that begins at addr to *ret_exits (all zero or not empty; release with
 * exits_release()). It follows all instructions that can be reached from the beginning and from exception
 * handlers, in all parts of the function. A function that never returns has no exits.
 *
 * -ENOTSUP with a sentence that names the function and the address: its end is unknown, or not all of its
 * code can be told from data. -ENOMEM.
 */
int exits_find(struct elf_file *file, uint64_t addr, struct exits *ret_exits);

static inline void exits_release(struct exits *exits)
{
	free(exits->items);
	*exits = (struct exits){0};
}
