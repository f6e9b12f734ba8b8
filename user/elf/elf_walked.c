/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information for functions that have none, as in musl's libc: their instructions are followed
 * from the beginning, along jumps and past calls, and how far the stack pointer has moved by then says where
 * the return address is:
 *
 *	push %rbx		CFA = rsp + 16, rbx at CFA - 16
 *	sub  $0x20, %rsp	CFA = rsp + 48
 *	call ...		<- a caller that is looked up
 *
 * Compilers keep that distance the same on all ways to an instruction. Code that is reached through a table
 * only goes on as the jump to it left the stack. What was rejected: to scan for the next return, which may be
 * behind a call that never comes back.
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "elf/cfi.h"
#include "elf/elf_internal.h"

enum { FUNCTION_MAX = 64 << 10, UNKNOWN = INT32_MIN };

/* At an instruction: the CFA is at these distances from rsp and rbp; UNKNOWN: it cannot be told by that. */
struct place {
	uint32_t at;
	int32_t by_rsp, by_rbp;
	int32_t saved[CFI_REG_CNT]; /* registers are at CFA + that; 0: they are the caller's */
};

struct walk {
	const uint8_t *code;
	uint32_t size, wanted;
	uint8_t *seen; /* instructions, a byte for each of the code's */
	struct place *todo;
	size_t todo_cnt, todo_cap;
	struct place jump; /* the last jump through a register or a table; by_rsp UNKNOWN: none yet */
	ZydisDecoder decoder;
};

struct decoded {
	ZydisDecodedInstruction code;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* DWARF's number, of a part, too; -1: none of these. */
static int number_of(ZydisRegister part)
{
	static const int8_t first[] = {0, 2, 1, 3, 7, 6, 4, 5}; /* rax rcx rdx rbx rsp rbp rsi rdi */

	int nth =
		(int)ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part) - ZYDIS_REGISTER_RAX;

	if (nth < 0 || nth > ZYDIS_REGISTER_R15 - ZYDIS_REGISTER_RAX)
		return -1;
	return nth < 8 ? first[nth] : nth;
}

static bool is_register(const ZydisDecodedOperand *operand, ZydisRegister reg)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == reg;
}

/* ---- what an instruction does to the stack ---- */

static void push(struct place *place, const struct decoded *insn)
{
	int reg = insn->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
			  ? number_of(insn->operands[0].reg.value)
			  : -1;

	if (place->by_rsp == UNKNOWN)
		return;
	place->by_rsp += insn->code.operand_width / 8;
	if (reg >= 0 && !place->saved[reg])
		place->saved[reg] = -place->by_rsp;
}

static void pop(struct place *place, const struct decoded *insn)
{
	int reg = insn->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
			  ? number_of(insn->operands[0].reg.value)
			  : -1;

	if (reg >= 0 && place->saved[reg] == -place->by_rsp)
		place->saved[reg] = 0;
	if (reg == CFI_RBP)
		place->by_rbp = UNKNOWN;
	if (place->by_rsp != UNKNOWN)
		place->by_rsp = reg == CFI_RSP ? UNKNOWN : place->by_rsp - insn->code.operand_width / 8;
}

/* lea DISTANCE(%rsp or %rbp), %rsp */
static int32_t loaded(const struct place *place, const ZydisDecodedOperand *from)
{
	int32_t base = from->mem.base == ZYDIS_REGISTER_RSP   ? place->by_rsp
		       : from->mem.base == ZYDIS_REGISTER_RBP ? place->by_rbp
							      : UNKNOWN;

	return base == UNKNOWN || from->mem.index != ZYDIS_REGISTER_NONE
		       ? UNKNOWN
		       : base - (int32_t)from->mem.disp.value;
}

/* add, sub, mov, lea, and: what writes one of both pointers. */
static void move(struct place *place, const struct decoded *insn, int reg)
{
	const ZydisDecodedOperand *from = &insn->operands[1];
	bool by_number = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	int32_t *moved = reg == CFI_RSP ? &place->by_rsp : &place->by_rbp, before = *moved;

	*moved = UNKNOWN;
	if (insn->code.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(from, ZYDIS_REGISTER_RSP))
		*moved = place->by_rsp;
	else if (insn->code.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(from, ZYDIS_REGISTER_RBP))
		*moved = place->by_rbp;
	else if (insn->code.mnemonic == ZYDIS_MNEMONIC_LEA)
		*moved = loaded(place, from);
	else if (before != UNKNOWN && by_number && insn->code.mnemonic == ZYDIS_MNEMONIC_SUB)
		*moved = before + (int32_t)from->imm.value.s;
	else if (before != UNKNOWN && by_number && insn->code.mnemonic == ZYDIS_MNEMONIC_ADD)
		*moved = before - (int32_t)from->imm.value.s;
	else if (insn->code.mnemonic == ZYDIS_MNEMONIC_CMP || insn->code.mnemonic == ZYDIS_MNEMONIC_TEST)
		*moved = before;
}

static void leave(struct place *place)
{
	place->by_rsp = place->by_rbp == UNKNOWN ? UNKNOWN : place->by_rbp - 8;
	place->by_rbp = UNKNOWN;
	place->saved[CFI_RBP] = 0;
}

static void advance(struct place *place, const struct decoded *insn)
{
	int reg = insn->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
			  ? number_of(insn->operands[0].reg.value)
			  : -1;

	switch (insn->code.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		push(place, insn);
		break;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		pop(place, insn);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		leave(place);
		break;
	default:
		if (reg == CFI_RSP || reg == CFI_RBP)
			move(place, insn, reg);
	}
}

/* ---- the ways through the function ---- */

static int note(struct walk *walk, const struct place *from, uint64_t at)
{
	struct place place = *from;

	if (at >= walk->size || walk->seen[at])
		return 0;
	place.at = (uint32_t)at;
	return ARRAY_PUSH(walk->todo, walk->todo_cnt, walk->todo_cap, place);
}

static bool is_jump(const struct decoded *insn)
{
	return insn->code.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       insn->code.meta.category == ZYDIS_CATEGORY_COND_BR;
}

/* Where the code behind goes on; what is behind the function's end is no part of it. */
static int follow(struct walk *walk, const struct place *place, const struct decoded *insn, bool *ret_goes_on)
{
	const ZydisDecodedOperand *to = &insn->operands[0];
	bool ends = insn->code.meta.category == ZYDIS_CATEGORY_RET ||
		    insn->code.meta.category == ZYDIS_CATEGORY_UNCOND_BR;

	*ret_goes_on = !ends;
	if (!is_jump(insn))
		return 0;
	if (to->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return note(walk, place, place->at + insn->code.length + (uint64_t)to->imm.value.s);
	walk->jump = *place;
	return 0;
}

/* From there up to a jump or a return. 1: what is wanted was found, and is *place; 0, or -ENOMEM. */
static int go(struct walk *walk, struct place *place)
{
	struct decoded insn;
	bool goes_on = true;
	int err = 0;

	while (goes_on && !err && place->at < walk->size && !walk->seen[place->at]) {
		walk->seen[place->at] = 1;
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&walk->decoder, walk->code + place->at,
						       walk->size - place->at, &insn.code, insn.operands)))
			return 0;
		/* Of a caller it is the last byte of its call. */
		if (walk->wanted - place->at < insn.code.length)
			return 1;
		err = follow(walk, place, &insn, &goes_on);
		advance(place, &insn);
		place->at += insn.code.length;
	}
	/* Only a table leads to what is behind. */
	if (!err && !goes_on && walk->jump.by_rsp != UNKNOWN)
		err = note(walk, &walk->jump, place->at);
	return err;
}

static int find(struct walk *walk, struct place *ret_place)
{
	struct place place = {.by_rsp = 8, .by_rbp = UNKNOWN};
	int found = note(walk, &place, 0);

	while (!found && walk->todo_cnt) {
		place = walk->todo[--walk->todo_cnt];
		found = go(walk, &place);
	}
	if (found > 0)
		*ret_place = place;
	return found;
}

static void to_row(const struct place *place, struct cfi_row *row)
{
	bool has_frame = place->by_rsp == UNKNOWN;

	row->is_known = !has_frame || place->by_rbp != UNKNOWN;
	row->is_guess = true;
	row->cfa = (struct cfi_rule){.how = CFI_REGISTER,
				     .reg = has_frame ? CFI_RBP : CFI_RSP,
				     .offset = has_frame ? place->by_rbp : place->by_rsp};
	for (int reg = 0; reg < CFI_REG_CNT; reg++)
		if (place->saved[reg])
			row->regs[reg] = (struct cfi_rule){.how = CFI_SAVED, .offset = place->saved[reg]};
	row->regs[CFI_RSP] = (struct cfi_rule){.how = CFI_CFA};
	row->regs[CFI_RETURN] = (struct cfi_rule){.how = CFI_SAVED, .offset = -8};
}

static int walk_code(const uint8_t *code, uint32_t size, uint32_t wanted, struct cfi_row *row)
{
	struct walk walk = {.code = code, .size = size, .wanted = wanted, .jump.by_rsp = UNKNOWN};
	struct place place;
	int found = -ENOMEM;

	walk.seen = calloc(size, 1);
	if (walk.seen &&
	    !ZYAN_FAILED(ZydisDecoderInit(&walk.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		found = find(&walk, &place);
	if (found > 0)
		to_row(&place, row);
	free(walk.seen);
	free(walk.todo);
	return found < 0 ? found : 0;
}

int elf_walk_row(struct elf_file *file, struct cfi_row *row)
{
	size_t cnt;
	const struct elf_range *ranges = elf_file_ranges(file, &cnt);
	const struct elf_range *range = elf_range_find(ranges, cnt, row->addr);
	const struct elf_symbol *function = range ? range->symbol : NULL;
	CLEANUP(freep) uint8_t *code = NULL;
	uint64_t offset, size;

	/* A part that the compiler has split off begins in the middle. */
	if (!function || function->is_plt || strstr(function->name, ".cold") ||
	    elf_file_offset(file, function->addr, &offset))
		return 0;
	size = range->end - function->addr;
	if (size < function->size)
		size = function->size;
	if (size > FUNCTION_MAX)
		return 0;
	code = malloc(size);
	if (!code)
		return -ENOMEM;
	size = elf_file_read(file, offset, code, size);
	return walk_code(code, (uint32_t)size, (uint32_t)(row->addr - function->addr), row);
}
