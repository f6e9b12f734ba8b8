/* SPDX-License-Identifier: BSD-2-Clause */
/* What a branch trace needs to know of one instruction: its length and how it can change the control flow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER,	    /* goes on to the next instruction */
	INSN_COND,	    /* conditional jump, loop, jcxz: a TNT bit */
	INSN_JUMP,	    /* direct jump: no packet */
	INSN_CALL,	    /* direct call: no packet */
	INSN_CALL_NEXT,	    /* direct call with displacement 0 (get-pc): not on the return stack */
	INSN_JUMP_INDIRECT, /* TIP */
	INSN_CALL_INDIRECT, /* TIP */
	INSN_RETURN,	    /* compressed or TIP */
	INSN_FAR,	    /* far jump, call, return within user mode: TIP */
	INSN_SYSCALL,	    /* syscall, sysenter, int n: leaves user mode */
	INSN_BREAK,	    /* int3, int1: ends in a SIGTRAP of the target's own */
	INSN_PUSHF,	    /* INSN_OTHER that shows the trap flag to the target */
	INSN_MOV_SS,	    /* INSN_OTHER after which the trap comes one instruction late */
	INSN_REP,	    /* INSN_OTHER that traps after each iteration, at the same address */
	INSN_UNKNOWN,	    /* not readable or not decodable */
};

struct insn {
	uint64_t ip;
	uint64_t target; /* of a direct jump, call or conditional jump */
	uint8_t kind;
	uint8_t len;	  /* 0 for INSN_UNKNOWN */
	bool loads_flags; /* popf, iret: with the trap flag among them */
};

/*
 * Looks at the instruction at ip, of which `size` bytes (up to 15) are at hand; never fails (INSN_UNKNOWN).
 */
struct insn insn_classify(uint64_t ip, const uint8_t *bytes, size_t size);
