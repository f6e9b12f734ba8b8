/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwinds the call stack of a past moment from the registers and a copy of the top of the stack, by call
 * frame information. Code without it (from a JIT compiler) is unwound by the frame pointer if that is
 * plausible.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

/*
 * Fills ret_ips with up to `cap` addresses, innermost first, and returns how many: regs[HIT_IP], then return
 * addresses. A frame interrupted by a signal gives its address + 1, so that every address but the first
 * belongs to the instruction just before it.
 *
 * `regs` is indexed by enum hit_reg (arch/arch.h); `stack` is a copy of memory from regs[HIT_SP] up.
 * Unwinding ends without an error at the program's beginning, at the end of the copy, or at an implausible
 * frame. Thread-safe.
 */
size_t unwind_stack(struct image *image, size_t version, const uint64_t *regs, const uint8_t *stack,
		    size_t stack_size, uint64_t *ret_ips, size_t cap);

/* The result of unwinding: arrays of the caller's with room for `cap`, innermost first. */
struct unwound {
	uint64_t *ips; /* as unwind_stack() gives them */
	/*
	 * the CFA of each frame (the caller's stack pointer just before the call), which distinguishes calls
	 * of one function; 0: unknown. NULL: not wanted
	 */
	uint64_t *cfas;
	size_t cap, cnt;
	bool is_left_out; /* in: words of the copy that are no addresses may be 0 and end no chain */
	uint64_t reached; /* stack pointer of the outermost frame; memory above it was not used */
	bool is_whole;	  /* the outermost frame has no caller: the beginning of a thread or the program */
	/*
	 * The outermost frame was called on another stack, where its caller's frame pointer is its CFA, and
	 * `reached`: Go's runtime works on the thread's own stack.
	 */
	bool is_switched;
};

/* The same, with CFAs. Never fails. */
void unwind_frames(struct image *image, size_t version, const uint64_t *regs, const uint8_t *stack,
		   size_t stack_size, struct unwound *unwound);
