/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A breakpoint in the middle of an instruction, or in data, changes what the program does. So no byte counts
 * as a return instruction because it looks like one: the code is followed from the function's beginning, and
 * from where exceptions land, along jumps and over calls.
 *
 *	f:	test %edi,%edi			f.cold:	call error
 *		je   f.cold		-->		jmp  f+9
 *		ret			(exit)
 *		...
 *		jmp  g			(exit: g returns to whoever called f)
 *
 * The targets of a jump table (a switch) cannot be followed. A function with one must therefore be one
 * sequence of instructions, without a jump into the middle of an instruction. Compilers emit such functions,
 * and put tables and constants elsewhere.
 */
#include "probe/exits/exits.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/sort.h"
#include "elf/elf_handlers.h"
#include "elf/elf_range.h"
#include "probe/exits/flow.h"

enum { PART_BYTES_MAX = 16 << 20 };

/* ---- parts ---- */

struct part *flow_part(struct flow *flow, uint64_t addr)
{
	for (size_t i = 0; i < flow->part_cnt; i++)
		if (addr >= flow->parts[i].start && addr < flow->parts[i].end)
			return &flow->parts[i];
	return NULL;
}

bool flow_decode(const struct flow *flow, const struct part *part, uint64_t addr, struct flow_insn *ret_insn)
{
	return !ZYAN_FAILED(ZydisDecoderDecodeFull(&flow->decoder, part->code + (addr - part->start),
						   part->end - addr, &ret_insn->code, ret_insn->operands));
}

static void flow_release(struct flow *flow)
{
	for (size_t i = 0; i < flow->part_cnt; i++) {
		free(flow->parts[i].code);
		free(flow->parts[i].marks);
	}
	free(flow->todo);
}

static int fail_at(const struct flow *flow, uint64_t addr, const char *reason)
{
	const struct elf_symbol *symbol = elf_file_symbol_at(flow->file, flow->entry);

	return fail(-ENOTSUP, "cannot tell where calls of %s in %s end: at 0x%llx it %s",
		    symbol ? symbol->name : "the function", elf_file_path(flow->file),
		    (unsigned long long)addr, reason);
}

/* One instruction after the other, as far as they go. */
static void sweep(const struct flow *flow, struct part *part)
{
	ZydisDecodedInstruction insn;

	part->swept = part->start;
	while (part->swept < part->end &&
	       !ZYAN_FAILED(ZydisDecoderDecodeInstruction(&flow->decoder, NULL,
							  part->code + (part->swept - part->start),
							  part->end - part->swept, &insn))) {
		part->marks[part->swept - part->start] = MARK_INSN;
		part->swept += insn.length;
	}
}

static int add_part(struct flow *flow, uint64_t start, uint64_t end, bool is_shared)
{
	struct part *part = &flow->parts[flow->part_cnt];
	uint64_t offset, size = end - start;

	if (flow->part_cnt == PART_MAX || size > PART_BYTES_MAX)
		return fail_at(flow, start, "continues in more places than trailcam follows");
	if (elf_file_offset(flow->file, start, &offset))
		return fail_at(flow, start, "goes on where the file has no bytes");
	*part = (struct part){.start = start,
			      .end = end,
			      .is_shared = is_shared,
			      .code = malloc(size + 1),
			      .marks = calloc(size + 1, 1)};
	flow->part_cnt++;
	if (!part->code || !part->marks)
		return -ENOMEM;
	if (elf_file_read(flow->file, offset, part->code, size) != size)
		return fail_at(flow, start, "goes on where the file has no bytes");
	sweep(flow, part);
	return 0;
}

static void drop_last_part(struct flow *flow)
{
	struct part *part = &flow->parts[--flow->part_cnt];

	free(part->code);
	free(part->marks);
}

/* Code by hand goes on in the middle of other functions. */
static bool is_of_other(const struct flow *flow, const struct elf_symbol *symbol)
{
	return symbol && symbol->addr != flow->entry && !strstr(symbol->name, ".cold");
}

/* What a symbol or else the unwinding tables say of the function, or part of one, around addr. */
static bool find_extent(const struct flow *flow, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct elf_symbol *symbol = elf_file_symbol_at(flow->file, addr);

	if (!symbol || !symbol->size)
		return !elf_frame_extent(flow->file, addr, ret_start, ret_end);
	*ret_start = symbol->addr;
	*ret_end = symbol->addr + symbol->size;
	return true;
}

/* ---- following ---- */

static int visit(struct flow *flow, uint64_t addr)
{
	return ARRAY_PUSH(flow->todo, flow->todo_cnt, flow->todo_cap, addr);
}

static int add_exit(struct flow *flow, struct exits *exits, struct exit exit)
{
	exit.is_shared = flow_part(flow, exit.addr)->is_shared;
	return ARRAY_PUSH(exits->items, exits->cnt, exits->cap, exit);
}

/*
 * x86 has its conditions in the low four bits of the opcode; EXIT_ALWAYS for jmp; -EINVAL: another kind of
 * condition.
 */
static int condition_of(const ZydisDecodedInstruction *insn)
{
	if (insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return EXIT_ALWAYS;
	if ((insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (insn->opcode & 0xf0) == 0x70) ||
	    (insn->opcode_map == ZYDIS_OPCODE_MAP_0F && (insn->opcode & 0xf0) == 0x80))
		return insn->opcode & 0x0f;
	return -EINVAL;
}

static bool begins_with_mark(struct flow *flow, uint64_t function)
{
	uint8_t code[ARCH_LANDING_MARK_SIZE];
	uint64_t offset;

	return !elf_file_offset(flow->file, function, &offset) &&
	       elf_file_read(flow->file, offset, code, sizeof(code)) == sizeof(code) &&
	       arch_is_landing_mark(code, sizeof(code));
}

/* Compilers jump over the mark for indirect jumps. */
static bool is_beginning(struct flow *flow, uint64_t addr, uint64_t function)
{
	return addr == function ||
	       (addr == function + ARCH_LANDING_MARK_SIZE && begins_with_mark(flow, function));
}

/* jmp *NAME(%rip) is relative, too, but not a jump to there. */
static bool direct_target(const struct flow_insn *insn, uint64_t addr, uint64_t *ret_target)
{
	return insn->code.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE &&
	       insn->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       !ZYAN_FAILED(ZydisCalcAbsoluteAddress(&insn->code, &insn->operands[0], addr, ret_target));
}

/*
 * Whether the code that an unnamed part begins with jumps back into the middle of what is known: another
 * function would not.
 */
static bool jumps_back(struct flow *flow, uint64_t start, uint64_t end)
{
	struct part *part = &flow->parts[flow->part_cnt - 1];
	struct flow_insn insn;
	uint64_t target;

	for (uint64_t at = start; at < end && flow_decode(flow, part, at, &insn); at += insn.code.length) {
		const struct part *known;

		if (insn.code.meta.category == ZYDIS_CATEGORY_CALL || !direct_target(&insn, at, &target))
			continue;
		known = flow_part(flow, target);
		if (known && known != part && !is_beginning(flow, target, flow->entry))
			return true;
	}
	return false;
}

/*
 * An unnamed piece of code that is jumped to at its beginning, with no frame on the stack: it may be a
 * function, or a part of this one.
 */
static int leave_to_unnamed(struct flow *flow, uint64_t start, uint64_t end, bool *ret_is_part)
{
	int err = add_part(flow, start, end, false);

	*ret_is_part = !err && jumps_back(flow, start, end);
	if (!err && !*ret_is_part)
		drop_last_part(flow);
	return err;
}

static bool is_end_of_part(const struct flow *flow, uint64_t addr)
{
	for (size_t i = 0; i < flow->part_cnt; i++)
		if (flow->parts[i].end == addr)
			return true;
	return false;
}

/*
 * A jump out of the parts that are known: to another part of the function (*ret_is_part), or to another
 * function (not 0).
 */
static int leave(struct flow *flow, uint64_t from, uint64_t to, uint64_t *ret_function, bool *ret_is_part)
{
	const struct elf_symbol *symbol = elf_file_symbol_at(flow->file, to);
	uint64_t start, end;
	int err;

	*ret_is_part = false;
	if (symbol && symbol->is_plt) {
		*ret_function = to;
		return 0;
	}
	if (!find_extent(flow, to, &start, &end)) {
		/*
		 * Behind a call that does not come back, compilers jump to the end of the function: to
		 * nowhere.
		 */
		if (is_end_of_part(flow, to))
			return 0;
		/* A label of code by hand is as good as a function, where nothing says how large it is. */
		if (!symbol || symbol->addr != to)
			return fail_at(flow, from, "jumps to where no function is known");
		*ret_function = to;
		return 0;
	}
	if (!is_beginning(flow, to, start) || (symbol && strstr(symbol->name, ".cold")) ||
	    (!symbol && flow_has_frame(flow, from))) {
		*ret_is_part = true;
		return add_part(flow, start, end, is_of_other(flow, symbol));
	}
	err = symbol ? 0 : leave_to_unnamed(flow, start, end, ret_is_part);
	if (!err && !*ret_is_part)
		*ret_function = start;
	return err;
}

static int follow_jump(struct flow *flow, uint64_t addr, const struct flow_insn *insn, uint64_t target,
		       struct exits *exits)
{
	struct exit exit = {addr, 0, EXIT_JUMP, condition_of(&insn->code), false};
	bool is_part = true;
	int err;

	if (!flow_part(flow, target)) {
		err = leave(flow, addr, target, &exit.target, &is_part);
		if (err)
			return err;
	} else if (is_beginning(flow, target, flow->entry)) {
		exit.target = flow->entry;
	}
	if (exit.target && exit.condition != EXIT_ALWAYS && exit.condition < 0)
		return fail_at(flow, addr, "leaves by a jump whose condition is not in the flags");
	err = exit.target ? add_exit(flow, exits, exit) : 0;
	return err || !is_part ? err : visit(flow, target);
}

static int follow_indirect(struct flow *flow, const struct part *part, uint64_t addr,
			   const struct flow_insn *insn, struct exits *exits)
{
	switch (flow_indirect_jump(flow, part, addr, insn)) {
	case JUMP_TABLE:
		flow->has_table = true;
		return 0;
	case JUMP_TAIL:
		return add_exit(flow, exits, (struct exit){addr, 0, EXIT_JUMP, EXIT_ALWAYS, false});
	default:
		return fail_at(flow, addr, "jumps to an unknown address");
	}
}

static bool is_interrupt(const ZydisDecodedInstruction *insn)
{
	return insn->mnemonic == ZYDIS_MNEMONIC_UD2 || insn->mnemonic == ZYDIS_MNEMONIC_UD1 ||
	       insn->mnemonic == ZYDIS_MNEMONIC_UD0 || insn->mnemonic == ZYDIS_MNEMONIC_HLT ||
	       insn->mnemonic == ZYDIS_MNEMONIC_INT3;
}

/* Does what the instruction asks for; *ret_goes_on says whether the one behind it is executed, too. */
static int follow_insn(struct flow *flow, const struct part *part, uint64_t addr,
		       const struct flow_insn *insn, struct exits *exits, bool *ret_goes_on)
{
	uint64_t target;

	*ret_goes_on = false;
	switch (insn->code.meta.category) {
	case ZYDIS_CATEGORY_RET:
		if (insn->code.meta.branch_type != ZYDIS_BRANCH_TYPE_NEAR)
			return fail_at(flow, addr, "returns to another code segment");
		return add_exit(flow, exits, (struct exit){addr, 0, EXIT_RETURN, EXIT_ALWAYS, false});
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
		*ret_goes_on = true;
		if (insn->code.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE)
			return 0; /* the end of a transaction */
		*ret_goes_on = insn->code.meta.category == ZYDIS_CATEGORY_COND_BR;
		if (!direct_target(insn, addr, &target))
			return follow_indirect(flow, part, addr, insn, exits);
		return follow_jump(flow, addr, insn, target, exits);
	default:
		*ret_goes_on = !is_interrupt(&insn->code);
		return 0;
	}
}

/* A call at the end of a function does not come back, nor does anybody come to what fills up behind one. */
static bool may_be_last(const ZydisDecodedInstruction *insn)
{
	return insn->meta.category == ZYDIS_CATEGORY_CALL || insn->meta.category == ZYDIS_CATEGORY_NOP ||
	       insn->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

/* Code by hand may run on into the next function. */
static int run_on(struct flow *flow, uint64_t addr, struct part **ret_part)
{
	uint64_t start, end;
	int err;

	if (!find_extent(flow, addr, &start, &end))
		return fail_at(flow, addr, "runs on into code that is not a function");
	err = add_part(flow, start, end, is_of_other(flow, elf_file_symbol_at(flow->file, addr)));
	if (!err)
		*ret_part = flow_part(flow, addr);
	return err;
}

/*
 * Marks an instruction's bytes. False where another one that is executed, too, has some of them: one of the
 * two is none. But glibc jumps over a lock prefix where there is one thread only.
 */
static bool mark_reached(struct part *part, uint64_t addr, size_t length)
{
	enum { LOCK = 0xf0 };
	size_t at = addr - part->start;
	bool is_unlocked = at && part->code[at - 1] == LOCK;

	if (part->marks[at] & MARK_INSIDE && !is_unlocked)
		return false;
	if (!(part->marks[at] & MARK_INSN) && !is_unlocked)
		part->is_torn = true;
	part->marks[at] |= MARK_INSN | MARK_REACHED;
	for (size_t i = 1; i < length; i++) {
		if (part->marks[at + i] & MARK_REACHED && !(i == 1 && part->code[at] == LOCK))
			return false;
		part->marks[at + i] |= MARK_INSIDE;
	}
	return true;
}

static int follow(struct flow *flow, uint64_t addr, struct exits *exits)
{
	bool goes_on = true;

	while (goes_on) {
		struct part *part = flow_part(flow, addr);
		int err = part ? 0 : run_on(flow, addr, &part);
		struct flow_insn insn;

		if (err)
			return err;
		if (part->marks[addr - part->start] & MARK_REACHED)
			return 0;
		if (!flow_decode(flow, part, addr, &insn) || !mark_reached(part, addr, insn.code.length))
			return fail_at(flow, addr,
				       "has bytes that cannot be decoded as one sequence of instructions");
		err = follow_insn(flow, part, addr, &insn, exits, &goes_on);
		if (err)
			return err;
		addr += insn.code.length;
		if (addr >= part->end && may_be_last(&insn.code))
			return 0;
	}
	return 0;
}

static int follow_all(struct flow *flow, struct exits *exits)
{
	int err = 0;

	while (flow->todo_cnt && !err)
		err = follow(flow, flow->todo[--flow->todo_cnt], exits);
	return err;
}

/* ---- what no jump leads to ---- */

/* Exceptions land in the part itself, or in another one that only they lead to. */
static int visit_landings(struct flow *flow, uint64_t start, uint64_t end)
{
	size_t cnt;
	const struct elf_handler *handlers = elf_file_handlers(flow->file, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		uint64_t landing = handlers[i].handler, part_start, part_end;
		int err = 0;

		if (handlers[i].end <= start || handlers[i].start >= end)
			continue;
		if (!flow_part(flow, landing) && find_extent(flow, landing, &part_start, &part_end))
			err = add_part(flow, part_start, part_end, false);
		if (!err && flow_part(flow, landing))
			err = visit(flow, landing);
		if (err)
			return err;
	}
	return 0;
}

static int visit_unreached(struct flow *flow, const struct part *part)
{
	int err = 0;

	if (part->swept != part->end || part->is_torn)
		return fail_at(flow, part->swept, "has a table or other data among its instructions");
	for (uint64_t at = part->start; at < part->end && !err; at++)
		if ((part->marks[at - part->start] & (MARK_INSN | MARK_REACHED | MARK_INSIDE)) == MARK_INSN)
			err = visit(flow, at);
	return err;
}

/* Parts are found on the way. */
static int follow_parts(struct flow *flow, struct exits *exits)
{
	size_t landed = 0, tabled = 0;
	int err = 0;

	while (!err &&
	       (flow->todo_cnt || landed < flow->part_cnt || (flow->has_table && tabled < flow->part_cnt))) {
		if (flow->todo_cnt) {
			err = follow_all(flow, exits);
		} else if (landed < flow->part_cnt) {
			const struct part *part = &flow->parts[landed++];

			err = visit_landings(flow, part->start, part->end);
		} else {
			err = visit_unreached(flow, &flow->parts[tabled++]);
		}
	}
	return err;
}

int exits_find(struct elf_file *file, uint64_t addr, struct exits *ret_exits)
{
	CLEANUP(flow_release) struct flow flow = {.file = file, .entry = addr};
	size_t cnt = ret_exits->cnt;
	uint64_t start, end;
	int err;

	ZydisDecoderInit(&flow.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!find_extent(&flow, addr, &start, &end) || start != addr)
		return fail_at(&flow, addr,
			       "begins, and neither symbols nor unwinding tables say where it ends");
	err = add_part(&flow, start, end, false);
	if (!err)
		err = visit(&flow, addr);
	if (!err)
		err = follow_parts(&flow, ret_exits);
	if (err)
		ret_exits->cnt = cnt;
	else if (ret_exits->cnt > cnt)
		sort_array(ret_exits->items + cnt, ret_exits->cnt - cnt, sizeof(*ret_exits->items),
			   sort_by_number);
	return err;
}
