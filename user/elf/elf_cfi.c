/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libdw finds the row and gives an expression for each register. That takes microseconds, and call stacks
 * repeat, so rows are cached by address, and the usual expressions become plain rules:
 *
 *	call_frame_cfa, plus_uconst N			saved at CFA + N
 *	call_frame_cfa, plus_uconst N, stack_value	is CFA + N
 *	breg7 N						(the CFA) is rsp + N
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "elf/cfi.h"
#include "elf/elf_internal.h"

struct elf_cfi {
	Dwarf_CFI *exceptions; /* .eh_frame */
	Dwarf_CFI *debug;      /* .debug_frame; the file's debug information owns it */
	bool debug_sought;
	struct hash_index index;
	struct cfi_row *rows;
	size_t cnt, cap;
	struct cfi_expression **expressions;
	size_t expression_cnt, expression_cap;
};

static struct elf_cfi *get_cfi(struct elf_file *file)
{
	if (!file->cfi) {
		file->cfi = calloc(1, sizeof(*file->cfi));
		if (file->cfi)
			file->cfi->exceptions = dwarf_getcfi_elf(file->elf);
	}
	return file->cfi;
}

void elf_cfi_release(struct elf_file *file)
{
	struct elf_cfi *cfi = file->cfi;

	if (!cfi)
		return;
	if (cfi->exceptions)
		dwarf_cfi_end(cfi->exceptions);
	for (size_t i = 0; i < cfi->expression_cnt; i++)
		free(cfi->expressions[i]);
	free(cfi->expressions);
	free(cfi->rows);
	hash_index_release(&cfi->index);
	free(cfi);
}

/* ---- expressions to rules ---- */

static bool is_offset(const Dwarf_Op *op, int32_t *ret_offset)
{
	*ret_offset = (int32_t)op->number;
	return op->atom == DW_OP_plus_uconst && (int64_t)op->number == *ret_offset;
}

/* call_frame_cfa [plus_uconst N] [stack_value] */
static bool by_cfa(const Dwarf_Op *ops, size_t cnt, struct cfi_rule *ret_rule)
{
	struct cfi_rule rule = {.how = CFI_SAVED};

	if (cnt && ops[cnt - 1].atom == DW_OP_stack_value) {
		rule.how = CFI_CFA;
		cnt--;
	}
	if (!cnt || ops[0].atom != DW_OP_call_frame_cfa || cnt > 2 ||
	    (cnt == 2 && !is_offset(&ops[1], &rule.offset)))
		return false;
	*ret_rule = rule;
	return true;
}

/* regN, or bregN OFFSET */
static bool by_register(const Dwarf_Op *ops, size_t cnt, struct cfi_rule *ret_rule)
{
	uint8_t atom = ops[0].atom;
	uint64_t reg = ops[0].number, offset = 0;

	if (cnt != 1)
		return false;
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		reg = atom - DW_OP_reg0;
	} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		reg = atom - DW_OP_breg0;
		offset = ops[0].number;
	} else if (atom == DW_OP_bregx) {
		offset = ops[0].number2;
	} else if (atom != DW_OP_regx) {
		return false;
	}
	if (reg >= CFI_REG_CNT || (int64_t)offset != (int32_t)offset)
		return false;
	*ret_rule = (struct cfi_rule){.how = CFI_REGISTER, .reg = (uint8_t)reg, .offset = (int32_t)offset};
	return true;
}

static int by_expression(struct elf_cfi *cfi, const Dwarf_Op *ops, size_t cnt, struct cfi_rule *ret_rule)
{
	size_t size = cnt * sizeof(*ops);
	struct cfi_expression *copy = malloc(sizeof(*copy) + size);

	if (ARRAY_TAKE(cfi->expressions, cfi->expression_cnt, cfi->expression_cap, copy))
		return -ENOMEM;
	copy->cnt = cnt;
	memcpy(copy->ops, ops, size);
	ret_rule->how = ops[cnt - 1].atom == DW_OP_stack_value ? CFI_VALUE_BY : CFI_SAVED_BY;
	ret_rule->expression = copy;
	return 0;
}

static int read_cfa(struct elf_cfi *cfi, Dwarf_Frame *frame, struct cfi_rule *ret_rule)
{
	Dwarf_Op *ops;
	size_t cnt;
	int err;

	ret_rule->how = CFI_LOST;
	if (dwarf_frame_cfa(frame, &ops, &cnt) || !cnt || by_register(ops, cnt, ret_rule))
		return 0;
	err = by_expression(cfi, ops, cnt, ret_rule);
	ret_rule->how = CFI_VALUE_BY;
	return err;
}

static int read_register(struct elf_cfi *cfi, Dwarf_Frame *frame, int reg, struct cfi_rule *ret_rule)
{
	Dwarf_Op memory[3], *ops;
	size_t cnt;

	ret_rule->how = CFI_LOST;
	if (dwarf_frame_register(frame, reg, memory, &ops, &cnt))
		return 0;
	if (!cnt) {
		ret_rule->how = ops ? CFI_LOST : CFI_SAME;
		return 0;
	}
	if (by_cfa(ops, cnt, ret_rule) || by_register(ops, cnt, ret_rule))
		return 0;
	return by_expression(cfi, ops, cnt, ret_rule);
}

/* ---- rows ---- */

/* Debug information is opened only where it is needed: it may be large. */
static Dwarf_CFI *debug_frames(struct elf_file *file)
{
	struct elf_cfi *cfi = file->cfi;

	if (!cfi->debug_sought) {
		cfi->debug_sought = true;
		elf_dwarf_open(file);
		cfi->debug = file->dwarf ? dwarf_getcfi(file->dwarf) : NULL;
	}
	return cfi->debug;
}

/* The caller's to free, or NULL. */
static Dwarf_Frame *find_frame(struct elf_file *file, uint64_t addr)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *debug;

	if (file->cfi->exceptions && !dwarf_cfi_addrframe(file->cfi->exceptions, addr, &frame))
		return frame;
	debug = debug_frames(file);
	return debug && !dwarf_cfi_addrframe(debug, addr, &frame) ? frame : NULL;
}

static int read_row(struct elf_file *file, struct cfi_row *row)
{
	CLEANUP(freep) Dwarf_Frame *frame = find_frame(file, row->addr);
	Dwarf_Addr start, end;
	int err;

	if (!frame)
		return elf_walk_row(file, row);
	if (dwarf_frame_info(frame, &start, &end, &row->is_signal) != CFI_RETURN)
		return 0;
	err = read_cfa(file->cfi, frame, &row->cfa);
	for (int reg = 0; !err && reg < CFI_REG_CNT; reg++)
		err = read_register(file->cfi, frame, reg, &row->regs[reg]);
	row->is_known = row->cfa.how != CFI_LOST;
	return err;
}

const struct cfi_row *elf_file_cfi_at(struct elf_file *file, uint64_t addr)
{
	struct elf_cfi *cfi = get_cfi(file);
	struct cfi_row row = {.addr = addr};
	uint64_t hash = hash_number(0, addr);

	if (!cfi)
		return NULL;
	for (size_t at = 0, i; (i = hash_index_next(&cfi->index, hash, &at)) != HASH_INDEX_END;)
		if (cfi->rows[i].addr == addr)
			return &cfi->rows[i];
	if (read_row(file, &row) || ARRAY_PUSH(cfi->rows, cfi->cnt, cfi->cap, row) ||
	    hash_index_add(&cfi->index, hash, cfi->cnt - 1))
		return NULL;
	return &cfi->rows[cfi->cnt - 1];
}
