/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame is the registers in a function. A step computes the caller's frame:
 *
 *	stack copy	| locals | saved rbp | return address | caller's frame ...
 *			^ rsp				      ^ CFA: the caller's rsp
 *
 * A caller is looked up by the byte before the return address, because a call of a function that never
 * returns may be the last instruction of its function.
 */
#include "image/unwind.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "elf/cfi.h"
#include "image/image.h"

enum { EXPRESSION_DEPTH = 16 };

struct unwind {
	struct image *image;
	size_t version;
	const uint8_t *stack;
	uint64_t start, size; /* where `stack` stood */
	uint64_t regs[CFI_REG_CNT];
	bool is_exact; /* regs[CFI_RETURN] is an instruction that is executed next, else a return address */
	uint64_t cfa;  /* of the frame that the last step was to leave, even if it could not; 0: not known */
	bool is_whole; /* ... which has no caller */
	const struct jit_function *jit; /* that of the frame; NULL: it is no JIT compiler's */
	bool is_left_out;
};

_Static_assert((int)CFI_REG_CNT == ARCH_DWARF_CNT, "DWARF's numbers");

static bool load(const struct unwind *unwind, uint64_t addr, uint64_t *ret_word)
{
	uint64_t at = addr - unwind->start;

	if (unwind->size < sizeof(*ret_word) || at > unwind->size - sizeof(*ret_word))
		return false;
	memcpy(ret_word, unwind->stack + at, sizeof(*ret_word));
	return true;
}

/* ---- expressions: those of PLTs, of signal frames, and of assembly that realigns its stack ---- */

struct operands {
	uint64_t items[EXPRESSION_DEPTH];
	size_t cnt;
};

static bool push(struct operands *operands, uint64_t number)
{
	if (operands->cnt == EXPRESSION_DEPTH)
		return false;
	operands->items[operands->cnt++] = number;
	return true;
}

static bool push_register(const struct unwind *unwind, struct operands *operands, uint64_t reg,
			  uint64_t offset)
{
	return reg < CFI_REG_CNT && push(operands, unwind->regs[reg] + offset);
}

static bool apply_two(struct operands *operands, uint8_t atom)
{
	uint64_t right, *left;

	if (operands->cnt < 2)
		return false;
	right = operands->items[--operands->cnt];
	left = &operands->items[operands->cnt - 1];
	switch (atom) {
	case DW_OP_plus:
		*left += right;
		return true;
	case DW_OP_minus:
		*left -= right;
		return true;
	case DW_OP_and:
		*left &= right;
		return true;
	case DW_OP_shl:
		*left = right < 64 ? *left << right : 0;
		return true;
	case DW_OP_ge:
		*left = (int64_t)*left >= (int64_t)right;
		return true;
	default:
		return false;
	}
}

static bool apply(const struct unwind *unwind, struct operands *operands, const Dwarf_Op *op, uint64_t cfa)
{
	uint64_t *top = operands->cnt ? &operands->items[operands->cnt - 1] : NULL;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(operands, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(unwind, operands, op->atom - DW_OP_breg0, op->number);
	if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		return push(operands, op->number);
	switch (op->atom) {
	case DW_OP_bregx:
		return push_register(unwind, operands, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return push(operands, cfa);
	case DW_OP_plus_uconst:
		if (top)
			*top += op->number;
		return top;
	case DW_OP_deref:
		return top && load(unwind, *top, top);
	default:
		return apply_two(operands, op->atom);
	}
}

static bool evaluate(const struct unwind *unwind, const struct cfi_expression *expression, uint64_t cfa,
		     uint64_t *ret_value)
{
	struct operands operands = {0};

	for (size_t i = 0; i < expression->cnt && expression->ops[i].atom != DW_OP_stack_value; i++)
		if (!apply(unwind, &operands, &expression->ops[i], cfa))
			return false;
	if (!operands.cnt)
		return false;
	*ret_value = operands.items[operands.cnt - 1];
	return true;
}

/* ---- frames ---- */

static bool find_value(const struct unwind *unwind, const struct cfi_rule *rule, uint64_t cfa,
		       uint64_t *value)
{
	switch (rule->how) {
	case CFI_SAME:
		return true;
	case CFI_SAVED:
		return load(unwind, cfa + (uint64_t)(int64_t)rule->offset, value);
	case CFI_CFA:
		*value = cfa + (uint64_t)(int64_t)rule->offset;
		return true;
	case CFI_REGISTER:
		*value = unwind->regs[rule->reg] + (uint64_t)(int64_t)rule->offset;
		return true;
	case CFI_SAVED_BY:
		return evaluate(unwind, rule->expression, cfa, value) && load(unwind, *value, value);
	case CFI_VALUE_BY:
		return evaluate(unwind, rule->expression, cfa, value);
	default:
		return false;
	}
}

/* In a copy words may be left out, and are 0: what is reckoned from one is no address. */
enum { LEFT_OUT_MAX = 1 << 16 };

/* Only a signal handler's stack may be another one; all else lies above what it called. */
static bool step_by_row(struct unwind *unwind, const struct cfi_row *row)
{
	uint64_t regs[CFI_REG_CNT], cfa;

	unwind->is_whole = row->regs[CFI_RETURN].how == CFI_LOST;
	if (!find_value(unwind, &row->cfa, 0, &cfa))
		return false;
	unwind->cfa = cfa > LEFT_OUT_MAX ? cfa : 0;
	memcpy(regs, unwind->regs, sizeof(regs));
	for (int reg = 0; reg < CFI_REG_CNT; reg++)
		if (!find_value(unwind, &row->regs[reg], cfa, &regs[reg]) &&
		    (reg == CFI_RETURN || reg == CFI_RSP))
			return false;
	if (!row->is_signal && regs[CFI_RSP] <= unwind->regs[CFI_RSP])
		return false;
	memcpy(unwind->regs, regs, sizeof(regs));
	unwind->is_exact = row->is_signal;
	return true;
}

static bool step_by_frame_pointer(struct unwind *unwind)
{
	uint64_t frame = unwind->regs[CFI_RBP], caller_frame, caller;

	if (frame % 8 || frame < unwind->regs[CFI_RSP] || !load(unwind, frame, &caller_frame) ||
	    !load(unwind, frame + 8, &caller))
		return false;
	unwind->is_whole = !caller && !caller_frame && !unwind->is_left_out;
	unwind->cfa = frame + 16;
	unwind->regs[CFI_RSP] = frame + 16;
	unwind->regs[CFI_RBP] = caller_frame;
	unwind->regs[CFI_RETURN] = caller;
	unwind->is_exact = false;
	return true;
}

static uint64_t looked_up(const struct unwind *unwind)
{
	return unwind->regs[CFI_RETURN] - !unwind->is_exact;
}

/* What is found is a caller if there is code. */
static bool is_at_code(const struct unwind *unwind)
{
	return image_section_at(unwind->image, unwind->version, looked_up(unwind));
}

/* The frame pointer stands below the return address, unless `is_leaf`. */
static bool step_to(struct unwind *unwind, uint64_t cfa, bool is_leaf)
{
	struct unwind caller = *unwind;

	if (!load(unwind, cfa - 8, &caller.regs[CFI_RETURN]) ||
	    (!is_leaf && !load(unwind, cfa - 16, &caller.regs[CFI_RBP])))
		return false;
	caller.regs[CFI_RSP] = caller.cfa = cfa;
	caller.is_exact = false;
	if (!is_at_code(&caller))
		return false;
	*unwind = caller;
	return true;
}

/*
 * At its beginning and at its end a function has no frame, or only the caller's frame pointer in it. In
 * between it may have pushed a word; frames are multiples of 16 bytes.
 */
static bool step_by_size(struct unwind *unwind, const struct jit_function *jit)
{
	uint64_t sp = unwind->regs[CFI_RSP];
	bool at_begin = unwind->is_exact && looked_up(unwind) - jit->symbol.start < jit->frame.complete;

	if (!at_begin && step_to(unwind, (sp + jit->frame.bytes + 15) & ~15ull, false))
		return true;
	return unwind->is_exact && (step_to(unwind, sp + 8, true) || step_to(unwind, sp + 16, false));
}

/* What the interpreter has pushed for a compiled caller is not that one's. */
static bool step_by_interpreter(struct unwind *unwind)
{
	uint64_t frame = unwind->regs[CFI_RBP], sender;

	if (!step_by_frame_pointer(unwind) || !is_at_code(unwind))
		return false;
	if (load(unwind, frame - 8, &sender) && sender % 8 == 0 && sender >= frame + 16 &&
	    sender - unwind->start <= unwind->size)
		unwind->regs[CFI_RSP] = sender;
	return true;
}

enum { INTERPRETED_METHOD = 24 };

/*
 * In the place of an address in the interpreter that of the method which it interprets, to which a word of
 * its frame points (interpreter_frame_method_offset in HotSpot's cpu/x86/frame_x86.hpp); 0: it is not known.
 */
static uint64_t interpreted(const struct unwind *unwind)
{
	const struct jit_function *jit = unwind->jit;
	uint64_t method;

	if (!jit || !jit->frame.is_interpreter ||
	    !load(unwind, unwind->regs[CFI_RBP] - INTERPRETED_METHOD, &method))
		return 0;
	jit = image_jit_at(unwind->image, unwind->version, method);
	return jit && jit->symbol.start == method ? method : 0;
}

static bool step_by_jit(struct unwind *unwind, const struct jit_function *jit)
{
	return jit->frame.is_interpreter ? step_by_interpreter(unwind) : step_by_size(unwind, jit);
}

/* Where the frame pointer leads to no code it was none, and the frame's end is not known. */
static bool step_to_caller(struct unwind *unwind)
{
	if (!step_by_frame_pointer(unwind))
		return false;
	if (is_at_code(unwind))
		return true;
	if (!unwind->is_whole)
		unwind->cfa = 0;
	return false;
}

static bool step(struct unwind *unwind)
{
	const struct jit_function *jit = unwind->jit;
	struct unwind before;
	struct cfi_row row;

	unwind->is_whole = false;
	unwind->cfa = 0;
	before = *unwind;
	if (!image_cfi_at(unwind->image, unwind->version, looked_up(unwind), &row)) {
		if (jit && (jit->frame.bytes || jit->frame.is_interpreter) && step_by_jit(unwind, jit))
			return true;
		*unwind = before;
		return step_to_caller(unwind);
	}
	if (step_by_row(unwind, &row) && is_at_code(unwind))
		return true;
	if (!row.is_guess)
		return false;
	*unwind = before;
	return step_to_caller(unwind);
}

/* ---- where stacks end that no call frame information tells so ---- */

enum stack_end { END_NONE, END_ROOT, END_SWITCH };

/* Of Go's (runtime/asm_amd64.s), whichever calling convention is behind the name, and the loader's. */
static enum stack_end end_at(const struct unwind *unwind, uint64_t ip)
{
	static const struct {
		const char *name;
		enum stack_end end;
	} ends[] = {
		{"runtime.goexit", END_ROOT},
		{"runtime.mstart", END_ROOT},
		{"runtime.clone", END_ROOT},
		{"runtime.rt0_go", END_ROOT},
		{"runtime.systemstack", END_SWITCH},
		{"runtime.mcall", END_SWITCH},
		{"runtime.morestack", END_SWITCH},
		{"runtime.asmcgocall", END_SWITCH},
		{"_dl_start_user", END_ROOT},
		{"_start", END_ROOT},
		{"__clone", END_ROOT},
	};
	const struct symbol *symbol = image_symbol_at(unwind->image, unwind->version, ip);

	for (size_t i = 0; symbol && i < ARRAY_SIZE(ends); i++) {
		size_t length = strlen(ends[i].name);

		if (!strncmp(symbol->name, ends[i].name, length) &&
		    (!symbol->name[length] || !strcmp(symbol->name + length, ".abi0")))
			return ends[i].end;
	}
	return END_NONE;
}

/* By frame pointers, which Go's functions have: the first one beyond this stack's end. */
static uint64_t frame_elsewhere(const struct unwind *unwind, uint64_t frame, uint64_t end)
{
	while (frame >= unwind->start && frame < end && load(unwind, frame, &frame))
		;
	return frame;
}

/*
 * What Go's runtime puts above the function that has switched stacks is no caller: its own tracebacks end
 * there.
 */
static void find_end(const struct unwind *unwind, const uint64_t *regs, struct unwound *unwound)
{
	for (size_t i = unwound->cnt; i-- > 0 && i + 2 >= unwound->cnt;) {
		enum stack_end end = end_at(unwind, unwound->ips[i] - !!i);

		if (end == END_NONE)
			continue;
		unwound->is_whole = end == END_ROOT;
		unwound->is_switched = end == END_SWITCH;
		if (unwound->is_switched) {
			unwound->reached = frame_elsewhere(unwind, regs[arch_dwarf_registers[CFI_RBP]],
							   unwound->reached);
			if (unwound->cfas)
				unwound->cfas[i] = unwound->reached;
		}
		unwound->cnt = i + 1;
		return;
	}
}

void unwind_frames(struct image *image, size_t version, const uint64_t *regs, const uint8_t *stack,
		   size_t stack_size, struct unwound *unwound)
{
	struct unwind unwind = {.image = image,
				.version = version,
				.stack = stack,
				.start = regs[HIT_SP],
				.size = stack_size,
				.is_exact = true,
				.is_left_out = unwound->is_left_out};

	for (size_t i = 0; i < CFI_REG_CNT; i++)
		unwind.regs[i] = regs[arch_dwarf_registers[i]];
	unwound->cnt = 0;
	for (bool more = true; more && unwound->cnt < unwound->cap; unwound->cnt++) {
		uint64_t method;

		unwind.jit = image_jit_at(image, version, looked_up(&unwind));
		method = interpreted(&unwind);
		unwound->ips[unwound->cnt] = (method ? method : looked_up(&unwind)) + !!unwound->cnt;
		unwound->reached = unwind.regs[CFI_RSP];
		more = step(&unwind);
		if (unwound->cfas)
			unwound->cfas[unwound->cnt] = unwind.cfa;
	}
	unwound->is_whole = unwind.is_whole;
	unwound->is_switched = false;
	if (!unwound->is_whole)
		find_end(&unwind, regs, unwound);
}

size_t unwind_stack(struct image *image, size_t version, const uint64_t *regs, const uint8_t *stack,
		    size_t stack_size, uint64_t *ret_ips, size_t cap)
{
	struct unwound unwound = {.ips = ret_ips, .cap = cap};

	unwind_frames(image, version, regs, stack, stack_size, &unwound);
	return unwound.cnt;
}
