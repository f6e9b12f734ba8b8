/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel emulates instead of single-stepping a copy: arch/x86/kernel/uprobes.c, branch_xol_ops and
 * push_xol_ops (push of a register, jumps, direct calls, nop). A single step costs some twenty times as much.
 * So where a function begins like this
 *
 *	free:	mov  %rdi,%rax		single-stepped
 *		sub  $24,%rsp		single-stepped
 *		cmp  0x1b0(%rax),%rcx	single-stepped
 *		jne  ...		emulated
 *
 * the jump is the better place: the code before it leaves the argument in its register, and the stack
 * pointer's offset is known. The function must not return to that place (a loop), or one call would fire
 * several times.
 */
#include "probe/site.h"

#include <errno.h>

#include "arch/arch.h"
#include "elf/elf_range.h"

enum { PREFIX_INSNS = 64, PUSHED_MAX = 1 << 14, WORD = 8 }; /* that far from the beginning is looked at */

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

/* What is known of a call somewhere in the function. */
struct call {
	uint32_t pushed;
	uint32_t holders[SITE_ARG_CNT]; /* the registers that hold an argument: bits of enum hit_reg */
};

/* As a bit; 0: no general register. */
static uint32_t register_bit(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return 0;
	return 1u << arch_code_registers[whole - ZYDIS_REGISTER_RAX];
}

static uint32_t written_registers(const struct insn *insn)
{
	uint32_t written = 0;

	for (size_t i = 0; i < insn->code.operand_count; i++)
		if (insn->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    insn->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			written |= register_bit(insn->operands[i].reg.value);
	return written;
}

/* mov between whole registers: where it takes the value from, and where to. */
static bool copies(const struct insn *insn, uint32_t *ret_from, uint32_t *ret_to)
{
	if (insn->code.mnemonic != ZYDIS_MNEMONIC_MOV || insn->code.operand_width != 64 ||
	    insn->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    insn->operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	*ret_from = register_bit(insn->operands[1].reg.value);
	*ret_to = register_bit(insn->operands[0].reg.value);
	return true;
}

static void follow_registers(struct call *call, const struct insn *insn)
{
	uint32_t written = written_registers(insn), from = 0, to = 0;

	copies(insn, &from, &to);
	for (size_t i = 0; i < SITE_ARG_CNT; i++)
		call->holders[i] = (call->holders[i] & ~written) | (call->holders[i] & from ? to : 0);
}

/* How much lower the stack pointer is behind it; false: there is no telling. */
static bool pushes(const struct insn *insn, int64_t *ret_bytes)
{
	const ZydisDecodedOperand *to = &insn->operands[0], *by = &insn->operands[1];

	switch (insn->code.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		*ret_bytes = WORD;
		return !(insn->code.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE);
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_ADD:
		*ret_bytes = insn->code.mnemonic == ZYDIS_MNEMONIC_SUB ? by->imm.value.s : -by->imm.value.s;
		return to->reg.value == ZYDIS_REGISTER_RSP && by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	case ZYDIS_MNEMONIC_LEA:
		*ret_bytes = -by->mem.disp.value;
		return to->reg.value == ZYDIS_REGISTER_RSP && by->mem.base == ZYDIS_REGISTER_RSP &&
		       by->mem.index == ZYDIS_REGISTER_NONE;
	default:
		return false;
	}
}

/* Whether what is behind it can stand for the beginning of the call, too. */
static bool follow(struct call *call, const struct insn *insn, uint32_t wanted, bool keeps_stack)
{
	int64_t bytes;

	if (leaves(&insn->code))
		return false;
	follow_registers(call, insn);
	for (size_t i = 0; i < SITE_ARG_CNT; i++)
		if (wanted >> i & 1 && !call->holders[i])
			return false;
	if (!(written_registers(insn) & 1u << HIT_SP))
		return true;
	if (keeps_stack || !pushes(insn, &bytes) || bytes < -(int64_t)call->pushed ||
	    bytes > PUSHED_MAX - (int64_t)call->pushed)
		return false;
	call->pushed += (uint32_t)bytes;
	return true;
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

static struct site site_of(const struct call *call, uint64_t addr, bool is_emulated)
{
	struct site site = {.addr = addr, .pushed = call->pushed, .is_emulated = is_emulated};

	for (size_t i = 0; i < SITE_ARG_CNT; i++) {
		uint32_t own = call->holders[i] & 1u << arch_c_args[i], any = own ? own : call->holders[i];

		site.args[i] = any ? (uint8_t)__builtin_ctz(any) : arch_c_args[i];
	}
	return site;
}

struct site site_cheapest(struct elf_file *file, const struct elf_symbol *function, uint32_t wanted,
			  bool keeps_stack)
{
	struct span passed = {function->addr, function->addr};
	struct call call = {0};
	struct site beginning;
	struct insn insn;

	for (size_t i = 0; i < SITE_ARG_CNT; i++)
		call.holders[i] = 1u << arch_c_args[i];
	beginning = site_of(&call, function->addr, false);
	for (int i = 0; i < PREFIX_INSNS && decode(file, passed.to, &insn); i++) {
		if (site_is_emulated(&insn.code))
			return site_each_target(file, function, is_in_span, &passed)
				       ? beginning
				       : site_of(&call, passed.to, true);
		if (!follow(&call, &insn, wanted, keeps_stack))
			break;
		passed.to += insn.code.length;
	}
	return beginning;
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
