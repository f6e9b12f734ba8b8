/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel emulates instead of single-stepping a copy: arch/x86/kernel/uprobes.c, branch_xol_ops and push_xol_ops (push of a register, jumps,
 * direct calls, nop). A single step costs some twenty times as much. So where a function begins like this
 *
 *	free:	test %rdi,%rdi		single-stepped
 *		je   ...		emulated
 *
 * the second instruction is the better place: what comes before it changes neither arguments nor the stack. That place must not be one that the function
 * comes back to (a loop), or one call would be seen several times.
 */
#include "trigger/site.h"

#include <errno.h>

#include "base/array.h"
#include "image/elf_range.h"

enum { PREFIX_INSNS = 12 }; /* that long a way from the beginning is looked at */

struct insn {
	ZydisDecodedInstruction code;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(const struct elf_file *file, uint64_t addr, struct insn *ret_insn)
{
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZydisDecoder decoder;
	uint64_t offset;
	size_t size =
		elf_file_offset(file, addr, &offset) ? 0 : elf_file_read(file, offset, code, sizeof(code));

	return !ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
	       !ZYAN_FAILED(
		       ZydisDecoderDecodeFull(&decoder, code, size, &ret_insn->code, ret_insn->operands));
}

bool site_is_emulated(const ZydisDecodedInstruction *insn)
{
	uint8_t opcode = insn->opcode;

	/* Of 16 bits, a push is stepped, and a probe on a jump or call refused. */
	if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    (insn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE))
		return false;
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return (opcode & 0xf0) == 0x80; /* jcc rel32 */
	if (insn->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return false;
	/* push r64, nop, jcc rel8, call, jmp */
	return (opcode & 0xf8) == 0x50 || (opcode == 0x90 && insn->length == 1) || (opcode & 0xf0) == 0x70 ||
	       opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb;
}

/* Jumps, calls, returns, and what goes into the kernel or traps. */
static bool leaves(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return true;
	default:
		return insn->mnemonic == ZYDIS_MNEMONIC_UD2;
	}
}

static bool is_argument(ZydisRegister reg)
{
	static const ZydisRegister kept[] = {ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDX,
					     ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9,
					     ZYDIS_REGISTER_RSP};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (kept[i] == reg)
			return true;
	return false;
}

/* Whether it writes to a register of an argument, the stack pointer, or where that points. */
static bool changes_call(const struct insn *insn)
{
	for (size_t i = 0; i < insn->code.operand_count; i++) {
		const ZydisDecodedOperand *operand = &insn->operands[i];

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == ZYDIS_REGISTER_RSP)
			return true;
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    is_argument(
			    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value)))
			return true;
	}
	return false;
}

static bool direct_target(const struct insn *insn, uint64_t addr, uint64_t *ret_target)
{
	return (insn->code.attributes & ZYDIS_ATTRIB_IS_RELATIVE) &&
	       insn->code.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE &&
	       !ZYAN_FAILED(ZydisCalcAbsoluteAddress(&insn->code, &insn->operands[0], addr, ret_target));
}

int site_each_target(struct elf_file *file, const struct elf_symbol *function,
		     int (*fn)(void *ctx, uint64_t target), void *ctx)
{
	uint64_t end = function->addr + function->size, target;
	struct insn insn;
	int err = 0;

	for (uint64_t at = function->addr; at < end && !err; at += insn.code.length) {
		if (!decode(file, at, &insn))
			return -ENOENT;
		if (direct_target(&insn, at, &target))
			err = fn(ctx, target);
	}
	return err || function->size ? err : -ENOENT;
}

/* ---- the place ---- */

struct span {
	uint64_t after, to;
};

static int is_in_span(void *ctx, uint64_t target)
{
	const struct span *span = ctx;

	return target > span->after && target <= span->to;
}

uint64_t site_cheapest(struct elf_file *file, const struct elf_symbol *function)
{
	struct span passed = {function->addr, function->addr};
	struct insn insn;

	for (int i = 0; i < PREFIX_INSNS && decode(file, passed.to, &insn); i++) {
		if (site_is_emulated(&insn.code))
			return site_each_target(file, function, is_in_span, &passed) ? function->addr
										     : passed.to;
		if (leaves(&insn.code) || changes_call(&insn))
			break;
		passed.to += insn.code.length;
	}
	return function->addr;
}

/* insn_is_nop() of the kernel, whatever the prefixes. */
static bool is_nop5(const ZydisDecodedInstruction *insn)
{
	return insn->length == 5 && insn->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       ((insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn->opcode == 0x90) ||
		(insn->opcode_map == ZYDIS_OPCODE_MAP_0F && insn->opcode == 0x1f));
}

/* The function around addr, or what lies between two that are known. */
static bool find_function(struct elf_file *file, uint64_t addr, struct elf_symbol *ret_function)
{
	size_t cnt;
	const struct elf_range *ranges = elf_file_ranges(file, &cnt);
	const struct elf_range *range = elf_range_find(ranges, cnt, addr);

	if (!range)
		return false;
	ret_function->addr = range->symbol ? range->symbol->addr : range->start;
	ret_function->size = range->end - ret_function->addr;
	if (range->symbol && range->symbol->size > ret_function->size)
		ret_function->size = range->symbol->size;
	return true;
}

int site_off_nop5(struct elf_file *file, uint64_t addr, uint64_t *ret_addr)
{
	struct elf_symbol function = {0};
	struct span passed = {addr, addr};
	struct insn insn;

	while (decode(file, passed.to, &insn) && is_nop5(&insn.code))
		passed.to += insn.code.length;
	if (passed.to != addr && (!find_function(file, addr, &function) ||
				  site_each_target(file, &function, is_in_span, &passed) > 0))
		return -ENOTSUP;
	*ret_addr = passed.to;
	return 0;
}

bool site_leads_to(struct elf_file *file, uint64_t addr, uint64_t *ret_target)
{
	struct insn insn;

	for (int i = 0; i < PREFIX_INSNS && decode(file, addr, &insn); i++) {
		if (insn.code.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
			return direct_target(&insn, addr, ret_target);
		if (leaves(&insn.code))
			break;
		addr += insn.code.length;
	}
	return false;
}
