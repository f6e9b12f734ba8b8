/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zydis knows the instruction set; this maps its categories to what Intel PT does about each (SDM vol. 3,
 * "COFI").
 */
#include "source/insn.h"

#include <Zydis/Zydis.h>

static enum insn_kind kind_of_call(const ZydisDecodedInstruction *zydis, const ZydisDecodedOperand *operand)
{
	if (zydis->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return INSN_FAR;
	if (!operand->imm.is_relative)
		return INSN_CALL_INDIRECT;
	return operand->imm.value.s ? INSN_CALL : INSN_CALL_NEXT;
}

static enum insn_kind kind_of_jump(const ZydisDecodedInstruction *zydis, const ZydisDecodedOperand *operand)
{
	if (zydis->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return INSN_FAR;
	return operand->imm.is_relative ? INSN_JUMP : INSN_JUMP_INDIRECT;
}

static enum insn_kind kind_of_return(const ZydisDecodedInstruction *zydis)
{
	if (zydis->mnemonic == ZYDIS_MNEMONIC_RET && zydis->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR)
		return INSN_RETURN;
	return INSN_FAR; /* retf, iret to the same level */
}

static enum insn_kind kind_of_other(const ZydisDecodedInstruction *zydis, const ZydisDecodedOperand *operand)
{
	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INT1:
		return INSN_BREAK;
	case ZYDIS_MNEMONIC_INT:
		return operand->imm.value.u == 3 ? INSN_BREAK : INSN_SYSCALL;
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
		return INSN_SYSCALL;
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		return INSN_PUSHF;
	case ZYDIS_MNEMONIC_MOV:
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == ZYDIS_REGISTER_SS)
			return INSN_MOV_SS;
		return INSN_OTHER;
	default:
		if (zydis->attributes &
		    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
			return INSN_REP;
		return INSN_OTHER;
	}
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *zydis, const ZydisDecodedOperand *operand)
{
	switch (zydis->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		/* xbegin counts as conditional there; it goes on to the next instruction unless it aborts. */
		return zydis->mnemonic == ZYDIS_MNEMONIC_XBEGIN ? INSN_OTHER : INSN_COND;
	case ZYDIS_CATEGORY_CALL:
		return kind_of_call(zydis, operand);
	case ZYDIS_CATEGORY_UNCOND_BR:
		return kind_of_jump(zydis, operand);
	case ZYDIS_CATEGORY_RET:
		return kind_of_return(zydis);
	default:
		return kind_of_other(zydis, operand);
	}
}

static bool loads_flags(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return true;
	default:
		return false;
	}
}

struct insn insn_classify(uint64_t ip, const uint8_t *bytes, size_t size)
{
	struct insn insn = {.ip = ip, .kind = INSN_UNKNOWN};
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zydis;
	ZydisDecoder decoder;

	if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, size, &zydis, operands)))
		return insn;
	insn.len = zydis.length;
	insn.kind = kind_of(&zydis, &operands[0]);
	insn.loads_flags = loads_flags(zydis.mnemonic);
	if (insn.kind == INSN_COND || insn.kind == INSN_JUMP || insn.kind == INSN_CALL)
		insn.target = ip + insn.len + (uint64_t)operands[0].imm.value.s;
	return insn;
}
