/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions for a control-flow decoder: length, and where control goes next. Made for speed: instructions
 * that compilers do not emit are reported as unknown, and left to a full decoder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_INSN_MAX = 15 };

struct code_insn {
	uint8_t len;   /* with prefixes; 0: unknown */
	uint8_t kind;  /* enum branch_kind; BRANCH_NONE: control continues after it */
	bool direct;   /* an unconditional jump or call to `rel`, which takes no packet */
	bool is_odd;   /* a branch that needs a full decoder: rel is not set */
	bool is_near;  /* a near call, jump or return */
	uint8_t modrm; /* offset of the ModRM byte; 0: none */
	int32_t rel;   /* of direct and conditional branches, relative to the end of the instruction */
};

/*
 * Decodes the instruction at bytes[0] with `size` bytes available, in 64-bit or 32-bit mode (SDM vol. 2,
 * chapter 2 and appendix A).
 */
void code_insn_decode(struct code_insn *ret_insn, const uint8_t *bytes, size_t size, bool is_64);

/* Instructions that have packets of their own. */
bool code_insn_is_ptwrite(const uint8_t *bytes, size_t size);
bool code_insn_is_mov_cr3(const uint8_t *bytes, size_t size);

/* vmlaunch, vmresume */
bool code_insn_is_vm_entry(const uint8_t *bytes, size_t size);
