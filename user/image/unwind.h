/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call stack of a thread that was somewhere, long afterwards: from its registers and a copy of the
 * innermost part of its stack, by call frame information. Code that has none (a JIT compiler's) is passed by
 * its frame pointer, where that looks like one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

/*
 * Fills ret_ips with up to `cap` addresses, innermost first, and returns how many: regs[HIT_IP] and return
 * addresses, each just behind a call. Where a signal came, there was no call: one more than the address that
 * was interrupted stands there, so that all but the first belong to what is just before them.
 *
 * `regs` is as enum hit_reg (arch/arch.h) names them, `stack` what stood at regs[HIT_SP] and above. It ends
 * without an error where nothing more is known: at the program's beginning, at the end of the copy, at what
 * cannot be a stack. Thread-safe.
 */
size_t unwind_stack(struct image *image, size_t version, const uint64_t *regs, const uint8_t *stack,
		    size_t stack_size, uint64_t *ret_ips, size_t cap);

/* What unwinding fills in: arrays of the caller's, with room for `cap`, innermost first. */
struct unwound {
	uint64_t *ips; /* as unwind_stack() gives them */
	uint64_t *
		/*
		 * of each the CFA, the stack pointer in its caller just before the call, which tells calls of
		 * one function apart; 0: not known. NULL: not wanted
		 */
		cfas;
	size_t cap, cnt;
	uint64_t reached; /* the stack pointer in the outermost: what lies above was not looked at */
	bool is_whole;	  /* the outermost has no caller: a thread's or the program's beginning */
	/*
	 * The outermost was called on another stack, where its caller's frame pointer is its CFA, and
	 * `reached`: Go's runtime works on the thread's own stack.
	 */
	bool is_switched;
};

/* The same with frames. Never fails. */
void unwind_frames(struct image *image, size_t version, const uint64_t *regs, const uint8_t *stack,
		   size_t stack_size, struct unwound *unwound);
