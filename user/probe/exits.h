/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where calls of a function end: its own return instructions, and its jumps to other functions, which return
 * in its place. Probes there see a call's end without a return probe. That one puts an address of the
 * kernel's in the place of the return address, and whoever reads the stack (exceptions, Go, profilers) does
 * not know it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "elf/elf_file.h"

enum exit_kind {
	EXIT_RETURN, /* before it, the return address is on top of the stack; the result is in its register */
	/*
	 * A jump to the beginning of a function, the same one's perhaps ("tail call"): the return address is
	 * on top of the stack.
	 */
	EXIT_JUMP,
};

enum { EXIT_ALWAYS = -1 };

struct exit {
	uint64_t addr; /* of the instruction, a virtual address of the file */
	uint64_t
		/*
		 * EXIT_JUMP: the function's beginning, or a PLT entry's; 0: it is not known before it is
		 * executed
		 */
		target;
	enum exit_kind kind;
	int condition;	/* of a conditional jump, as x86 numbers them (0: O, 1: NO, ... 15: G); EXIT_ALWAYS */
	bool is_shared; /* it stands in another function, and may end a call of that one as well */
};

struct exits {
	struct exit *items; /* each function's sorted by address */
	size_t cnt, cap;
};

/*
 * Appends the exits of the function that begins at addr to *ret_exits (the caller's, all zero or with others
 * in it; release with exits_release()): the instructions are those that can be reached from its beginning and
 * from where exceptions land, in all the parts that the compiler made of it. There may be none: it does not
 * come back then.
 *
 * -ENOTSUP with a sentence that names the function and the place: where it ends is not known, or not all of
 * its code can be told from data. -ENOMEM.
 */
int exits_find(struct elf_file *file, uint64_t addr, struct exits *ret_exits);

static inline void exits_release(struct exits *exits)
{
	free(exits->items);
	*exits = (struct exits){0};
}
