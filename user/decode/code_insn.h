/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions as a control-flow decoder sees them: how long, and where control goes. Written for following
 * code that runs, millions of times over; what no compiler emits is not known here, and left to a full
 * decoder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_INSN_MAX = 15 };

struct code_insn {
	uint8_t len;   /* with prefixes; 0: not known */
	uint8_t kind;  /* enum branch_kind; BRANCH_NONE: control goes on behind it */
	bool direct;   /* an unconditional jump or call to `rel`: it takes no trace */
	bool is_odd;   /* a branch whose way only a full decoder knows: rel is not given */
	bool is_near;  /* a near call, jump or return: what a return stack holds */
	uint8_t modrm; /* where the ModRM byte stands; 0: there is none */
	int32_t rel;   /* of direct and conditional branches: from the end of the instruction */
};

/*
 * The instruction at bytes[0], of which `size` bytes are known; in 64-bit mode or in 32-bit mode. (SDM vol.
 * 2, chapter 2 and appendix A.)
 */
void code_insn_decode(struct code_insn *ret_insn, const uint8_t *bytes, size_t size, bool is_64);

/* Instructions that trace packets stand for. */
bool code_insn_is_ptwrite(const uint8_t *bytes, size_t size);
bool code_insn_is_mov_cr3(const uint8_t *bytes, size_t size);

/* vmlaunch, vmresume */
bool code_insn_is_vm_entry(const uint8_t *bytes, size_t size);
