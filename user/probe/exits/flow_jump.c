/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An indirect jump is a switch or a tail call, and the instruction alone may not tell:
 *
 *	notrack jmp *%rax			a switch: with control-flow protection compilers mark those
 *	jmp *%rax, and a frame on the stack	a switch: whoever goes to another function
 *						takes the frame down before
 *	movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax	a switch: a table of distances
 *	jmp *table(,%rax,8)			a switch if the table in the file leads into the function,
 *						else an array of functions
 *	mov 0x18(%rax),%rax; jmp *%rax		a tail call by a pointer
 */

#include "elf/cfi.h"
#include "probe/exits/flow.h"

enum { LOOK_BACK = 16, POINTER_BYTES = 8 };

bool flow_has_frame(struct flow *flow, uint64_t addr)
{
	const struct cfi_row *row = elf_file_cfi_at(flow->file, addr);

	return row && row->is_known &&
	       !(row->cfa.how == CFI_REGISTER && row->cfa.reg == CFI_RSP && row->cfa.offset == POINTER_BYTES);
}

/* Instructions before `addr` in the order of addresses, the nearest first. */
static bool step_back(const struct flow *flow, const struct part *part, uint64_t *addr,
		      struct flow_insn *ret_insn)
{
	while (*addr > part->start) {
		(*addr)--;
		if (part->marks[*addr - part->start] & MARK_INSN)
			return flow_decode(flow, part, *addr, ret_insn);
	}
	return false;
}

static ZydisRegister whole(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

static bool writes(const struct flow_insn *insn, ZydisRegister reg)
{
	for (size_t i = 0; i < insn->code.operand_count; i++) {
		const ZydisDecodedOperand *operand = &insn->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && whole(operand->reg.value) == reg)
			return true;
	}
	return false;
}

/* The instruction before `addr` that gave the register its value; what lies between must not be a way out. */
static bool find_writer(const struct flow *flow, const struct part *part, uint64_t *addr, ZydisRegister reg,
			struct flow_insn *ret_insn)
{
	for (int i = 0; i < LOOK_BACK && step_back(flow, part, addr, ret_insn); i++) {
		if (ret_insn->code.meta.category == ZYDIS_CATEGORY_RET ||
		    ret_insn->code.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
			return false;
		if (writes(ret_insn, reg))
			return true;
	}
	return false;
}

/* Where a table of pointers is: an absolute address, or relative to a register that a lea has filled. */
static bool table_addr(const struct flow *flow, const struct part *part, uint64_t addr,
		       const ZydisDecodedOperand *memory, uint64_t *ret_table)
{
	uint64_t base = 0;

	if (memory->mem.base != ZYDIS_REGISTER_NONE) {
		struct flow_insn lea;
		uint64_t at = addr;

		if (!find_writer(flow, part, &at, whole(memory->mem.base), &lea) ||
		    lea.code.mnemonic != ZYDIS_MNEMONIC_LEA ||
		    ZYAN_FAILED(ZydisCalcAbsoluteAddress(&lea.code, &lea.operands[1], at, &base)))
			return false;
	}
	*ret_table = base + (uint64_t)memory->mem.disp.value;
	return true;
}

static enum jump_kind by_table(struct flow *flow, const struct part *part, uint64_t addr,
			       const ZydisDecodedOperand *memory)
{
	uint64_t table, offset, target;

	if (!table_addr(flow, part, addr, memory, &table))
		return JUMP_UNKNOWN;
	if (elf_file_offset(flow->file, table, &offset) ||
	    elf_file_read(flow->file, offset, &target, sizeof(target)) != sizeof(target))
		return JUMP_TAIL;
	return flow_part(flow, target) ? JUMP_TABLE : JUMP_TAIL;
}

static enum jump_kind by_memory(struct flow *flow, const struct part *part, uint64_t addr,
				const ZydisDecodedOperand *memory)
{
	if (memory->mem.index == ZYDIS_REGISTER_NONE || memory->mem.scale != POINTER_BYTES)
		return JUMP_TAIL;
	return by_table(flow, part, addr, memory);
}

static enum jump_kind by_register(struct flow *flow, const struct part *part, uint64_t addr,
				  ZydisRegister reg)
{
	struct flow_insn insn;

	/* An argument, or loaded where several ways meet: a pointer. */
	if (!find_writer(flow, part, &addr, whole(reg), &insn))
		return JUMP_TAIL;
	switch (insn.code.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		return JUMP_TABLE;
	case ZYDIS_MNEMONIC_LEA:
		return insn.operands[1].mem.base == ZYDIS_REGISTER_RIP ? JUMP_TAIL : JUMP_TABLE;
	case ZYDIS_MNEMONIC_MOV:
		if (insn.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return by_memory(flow, part, addr, &insn.operands[1]);
		return JUMP_TAIL;
	default:
		/*
		 * Pointers are mangled (xor, ror), chosen (cmov) or fetched from the stack; distances are
		 * added.
		 */
		return JUMP_TAIL;
	}
}

enum jump_kind flow_indirect_jump(struct flow *flow, const struct part *part, uint64_t addr,
				  const struct flow_insn *insn)
{
	const ZydisDecodedOperand *operand = &insn->operands[0];

	if ((insn->code.attributes & ZYDIS_ATTRIB_HAS_NOTRACK) || flow_has_frame(flow, addr))
		return JUMP_TABLE;
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return by_memory(flow, part, addr, operand);
	return by_register(flow, part, addr, operand->reg.value);
}
