/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control flow of a function, as exits_find() reads it: parts (runs of addresses), and which bytes begin
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

/* A part of a function; compilers move code that is seldom executed elsewhere ("f.cold"). */
struct part {
	uint64_t start, end;
	/* end of linear disassembly: the end of the part, or bytes that are not an instruction */
	uint64_t swept;
	bool is_torn;	/* linear disassembly contradicts the control flow */
	bool is_shared; /* it belongs to another function, whose middle this one jumps to */
	uint8_t *code;
	uint8_t *marks; /* for each byte: MARK_* */
};

enum {
	MARK_INSN = 1,	  /* an instruction begins here, or seems to */
	MARK_REACHED = 2, /* ... and is executed */
	MARK_INSIDE = 4,  /* inside a reached instruction, not its first byte */
};

struct flow {
	struct elf_file *file;
	ZydisDecoder decoder;
	uint64_t entry;
	struct part parts[PART_MAX];
	size_t part_cnt;
	uint64_t *todo; /* addresses still to follow */
	size_t todo_cnt, todo_cap;
	bool has_table; /* it has a jump table, whose targets are code, too */
};

/* The part that holds addr, or NULL. */
struct part *flow_part(struct flow *flow, uint64_t addr);

/* The instruction at an address in the part. */
bool flow_decode(const struct flow *flow, const struct part *part, uint64_t addr, struct flow_insn *ret_insn);

enum jump_kind {
	JUMP_TABLE, /* within the function, by a jump table */
	JUMP_TAIL,  /* out of it, to another function */
	JUMP_UNKNOWN,
};

/* The kind of an indirect jump. */
enum jump_kind flow_indirect_jump(struct flow *flow, const struct part *part, uint64_t addr,
				  const struct flow_insn *insn);

/* Whether the unwinding tables say that the return address is not on top of the stack there. */
bool flow_has_frame(struct flow *flow, uint64_t addr);
