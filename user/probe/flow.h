/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of a function as it is read for its exits: parts, each a run of addresses, and which bytes begin
 * an instruction.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "elf/elf_file.h"

enum { PART_MAX = 16 };

struct flow_insn {
	ZydisDecodedInstruction code;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* One of the pieces of a function: compilers put what is seldom executed elsewhere ("f.cold"). */
struct part {
	uint64_t start, end;
	uint64_t
		/*
		 * where reading one instruction after the other stops: at the end, or at what is no
		 * instruction
		 */
		swept;
	bool is_torn;	/* the code is not what reading one instruction after the other makes of it */
	bool is_shared; /* it is another function's, whose middle this one goes on in */
	uint8_t *code;
	uint8_t *marks; /* for each byte: MARK_* */
};

enum {
	MARK_INSN = 1,	  /* an instruction begins here, or seems to */
	MARK_REACHED = 2, /* ... and is executed */
	MARK_INSIDE = 4,  /* it belongs to one that is executed, and is not its first byte */
};

struct flow {
	struct elf_file *file;
	ZydisDecoder decoder;
	uint64_t entry;
	struct part parts[PART_MAX];
	size_t part_cnt;
	uint64_t *todo; /* to be followed from */
	size_t todo_cnt, todo_cap;
	bool has_table; /* it jumps to where a table says: what that does not say is code, too */
};

/* The part that holds addr, or NULL. */
struct part *flow_part(struct flow *flow, uint64_t addr);

/* The instruction at an address in the part. */
bool flow_decode(const struct flow *flow, const struct part *part, uint64_t addr, struct flow_insn *ret_insn);

enum jump_kind {
	JUMP_TABLE, /* within the function, by a table (switch, computed goto) */
	JUMP_TAIL,  /* out of it, to another function */
	JUMP_UNKNOWN,
};

/* What an indirect jump is. */
enum jump_kind flow_indirect_jump(struct flow *flow, const struct part *part, uint64_t addr,
				  const struct flow_insn *insn);

/* Whether the return address is known not to be on top of the stack there, by the unwinding tables. */
bool flow_has_frame(struct flow *flow, uint64_t addr);
