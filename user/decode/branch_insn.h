/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A branch instruction: all 0 (BRANCH_NONE) where the bytes are no branch, or too few to tell. */
struct branch_insn {
	uint8_t kind; /* enum branch_kind */
	uint8_t len;  /* from the opcode on */
	bool direct; /* an unconditional jump or call whose target stands in the instruction: it takes no trace */
};

/* The instruction whose opcode, behind all prefixes, is opcode[0]; `size` bytes are known from there on. */
struct branch_insn branch_insn_decode(const uint8_t *opcode, size_t size);
