/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree walk that leaves each value in r0. A value that must survive the walk of another subtree is saved in
 * a stack slot, one per level of nesting. (Instruction set:
 * Documentation/bpf/standardization/instruction-set.rst, helper numbers: linux/bpf.h.)
 */
#include <linux/bpf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/error.h"
#include "bpf/rule.h"
#include "condition/condition_code.h"
#include "elf/types/elf_fields.h"

/* ---- values ---- */

static void emit(struct code *code, const struct condition_node *node, int slot);

static void emit_arg(struct code *code, uint64_t arg)
{
	if (code->args_may_miss) {
		size_t known;

		load(code, 4, BPF_REG_0, BPF_REG_7, offsetof(struct firing, args_known));
		known = jump(code, BPF_JSET, BPF_REG_0, 1 << arg);
		give_up(code);
		land(code, known);
	}
	load(code, 8, BPF_REG_0, BPF_REG_7, arg_at(arg));
}

/* The address of a parameter on the stack. */
static void emit_stack(struct code *code, uint64_t offset)
{
	load(code, 8, BPF_REG_0, BPF_REG_7, offsetof(struct firing, stack));
	put(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_0, 0, 0, (int32_t)offset);
}

static void emit_elapsed(struct code *code)
{
	load(code, 8, BPF_REG_0, BPF_REG_7, offsetof(struct firing, end_ns));
	load(code, 8, BPF_REG_1, BPF_REG_7, offsetof(struct firing, begin_ns));
	put(code, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
}

static void emit_id(struct code *code, bool tid)
{
	load(code, 8, BPF_REG_0, BPF_REG_7, offsetof(struct firing, id));
	put(code, BPF_ALU64 | (tid ? BPF_LSH : BPF_RSH) | BPF_K, BPF_REG_0, 0, 0, 32);
	if (tid)
		put(code, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
}

static void emit_in_cgroup(struct code *code, const struct condition_node *node)
{
	move_imm(code, BPF_REG_1, node->level);
	call(code, BPF_FUNC_get_current_ancestor_cgroup_id);
	load_constant(code, BPF_REG_1, node->number);
	put(code, BPF_JMP | BPF_JEQ | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
	boolean(code, code->cnt - 1);
}

/* ---- strings ---- */

/* Whether the first `size` bytes in the string buffer are those of the text. */
static void compare_text(struct code *code, const struct condition_node *node, size_t size)
{
	size_t differs[8], cnt = 0, over;

	for (size_t at = 0; at < size; at += 8) {
		uint64_t word = 0, mask = 0;
		size_t part = size - at < 8 ? size - at : 8;

		memcpy(&word, node->text + at, part);
		memset(&mask, 0xff, part);
		load(code, 8, BPF_REG_0, BPF_REG_10, STRING_AT + (int)at);
		load_constant(code, BPF_REG_1, mask);
		put(code, BPF_ALU64 | BPF_AND | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
		load_constant(code, BPF_REG_1, word);
		put(code, BPF_JMP | BPF_JNE | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
		differs[cnt++] = code->cnt - 1;
	}
	move_imm(code, BPF_REG_0, 1);
	if (!cnt)
		return; /* "*": instructions that nothing leads to are refused */
	over = jump(code, BPF_JA, 0, 0);
	for (size_t i = 0; i < cnt; i++)
		land(code, differs[i]);
	move_imm(code, BPF_REG_0, 0);
	land(code, over);
}

static void emit_comm_is(struct code *code, const struct condition_node *node)
{
	address_of(code, BPF_REG_1, STRING_AT);
	move_imm(code, BPF_REG_2, HIT_COMM_BYTES);
	call(code, BPF_FUNC_get_current_comm);
	compare_text(code, node, strlen(node->text) + !node->is_prefix);
}

/* Words are compared: their unused bytes must have been written. */
static void clear_text(struct code *code, size_t size)
{
	move_imm(code, BPF_REG_0, 0);
	for (size_t word = 0; word < size; word += 8)
		store(code, STRING_AT + (int)word, BPF_REG_0);
}

/* Only as many bytes are read as are there. */
static void emit_counted_text_is(struct code *code, const struct condition_node *node, int slot)
{
	int32_t len = (int32_t)strlen(node->text);
	size_t fits, over;

	emit(code, node->left->count, slot);
	fits = jump(code, node->is_prefix ? BPF_JGE : BPF_JEQ, BPF_REG_0, len);
	move_imm(code, BPF_REG_0, 0);
	over = jump(code, BPF_JA, 0, 0);
	land(code, fits);
	if (len) {
		clear_text(code, (size_t)len);
		emit(code, node->left, slot);
		copy_from_user(code, STRING_AT, len);
		fail_if_negative(code);
	}
	compare_text(code, node, (size_t)len);
	land(code, over);
}

/*
 * How long the text is, is not known, so it cannot be copied as other memory is; the helper for strings does
 * not bring memory in. So its first byte and the last one that matters are touched before. One byte more than
 * is compared is copied: the helper ends it with a 0.
 */
static void emit_text_is(struct code *code, const struct condition_node *node, int slot)
{
	int32_t len = (int32_t)strlen(node->text);
	size_t size = ((size_t)len + 2 + 7) & ~7ull;
	int at = slot_at(code, slot);

	emit(code, node->left, slot);
	store(code, at, BPF_REG_0);
	copy_from_user(code, STRING_AT, 1);
	load(code, 8, BPF_REG_0, BPF_REG_10, at);
	put(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_0, 0, 0, len);
	copy_from_user(code, STRING_AT, 1);
	clear_text(code, size);
	load(code, 8, BPF_REG_3, BPF_REG_10, at);
	address_of(code, BPF_REG_1, STRING_AT);
	move_imm(code, BPF_REG_2, len + 2);
	call(code, BPF_FUNC_probe_read_user_str);
	fail_if_negative(code);
	compare_text(code, node, (size_t)len + !node->is_prefix);
}

/* ---- operators ---- */

static void emit_load(struct code *code, const struct condition_node *node, int slot)
{
	int at = slot_at(code, slot);
	uint8_t size = node->type.depth ? 8 : node->type.size;

	emit(code, node->left, slot);
	copy_from_user(code, at, size);
	fail_if_negative(code);
	load(code, size, BPF_REG_0, BPF_REG_10, at);
	if (node->type.is_signed)
		narrow(code, node->type);
}

static void emit_not(struct code *code, const struct condition_node *node, int slot)
{
	emit(code, node->left, slot);
	boolean(code, jump(code, BPF_JEQ, BPF_REG_0, 0));
}

/* The second operand is not looked at where the first decides: it may guard a load. */
static void emit_and_or(struct code *code, const struct condition_node *node, int slot)
{
	size_t decided;

	emit(code, node->left, slot);
	decided = jump(code, node->kind == NODE_AND ? BPF_JEQ : BPF_JNE, BPF_REG_0, 0);
	emit(code, node->right, slot);
	land(code, decided);
	boolean(code, jump(code, BPF_JNE, BPF_REG_0, 0));
}

static bool is_comparison(enum binary_op op)
{
	return op >= OP_EQ && op <= OP_GE;
}

/* The first operand is in r0, the second in r1. */
static void emit_op(struct code *code, enum binary_op op, bool is_signed)
{
	static const uint8_t arithmetic[] = {
		[OP_BITOR] = BPF_OR, [OP_BITXOR] = BPF_XOR, [OP_BITAND] = BPF_AND, [OP_SHL] = BPF_LSH,
		[OP_SHR] = BPF_RSH,  [OP_ADD] = BPF_ADD,    [OP_SUB] = BPF_SUB,	   [OP_MUL] = BPF_MUL,
		[OP_DIV] = BPF_DIV,  [OP_MOD] = BPF_MOD,
	};
	static const uint8_t jumps[][2] = {
		[OP_EQ] = {BPF_JEQ, BPF_JEQ},  [OP_NE] = {BPF_JNE, BPF_JNE},  [OP_LT] = {BPF_JLT, BPF_JSLT},
		[OP_LE] = {BPF_JLE, BPF_JSLE}, [OP_GT] = {BPF_JGT, BPF_JSGT}, [OP_GE] = {BPF_JGE, BPF_JSGE},
	};

	if (is_comparison(op)) {
		put(code, BPF_JMP | jumps[op][is_signed] | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
		boolean(code, code->cnt - 1);
		return;
	}
	if (op == OP_SHL || op == OP_SHR)
		put(code, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_1, 0, 0, 63);
	put(code, BPF_ALU64 | (op == OP_SHR && is_signed ? BPF_ARSH : arithmetic[op]) | BPF_X, BPF_REG_0,
	    BPF_REG_1, 0, 0);
}

static void emit_binary(struct code *code, const struct condition_node *node, int slot)
{
	emit(code, node->left, slot);
	if (node->right->kind == NODE_NUMBER) {
		load_constant(code, BPF_REG_1, node->right->number);
	} else {
		store(code, slot_at(code, slot), BPF_REG_0);
		emit(code, node->right, slot + 1);
		move(code, BPF_REG_1, BPF_REG_0);
		load(code, 8, BPF_REG_0, BPF_REG_10, slot_at(code, slot));
	}
	emit_op(code, node->op, node->is_signed);
}

static void emit(struct code *code, const struct condition_node *node, int slot)
{
	switch (node->kind) {
	case NODE_NUMBER:
		load_constant(code, BPF_REG_0, node->number);
		break;
	case NODE_REGISTER:
		load(code, 8, BPF_REG_0, BPF_REG_6, (int)(8 * node->number));
		narrow(code, node->type);
		break;
	case NODE_ARG:
		if (elf_is_on_stack((unsigned int)node->number))
			emit_stack(code, node->number - ELF_ON_STACK);
		else
			emit_arg(code, node->number);
		break;
	case NODE_RET:
		load(code, 8, BPF_REG_0, BPF_REG_6, 8 * HIT_RESULT);
		break;
	case NODE_ELAPSED:
		emit_elapsed(code);
		break;
	case NODE_PID:
	case NODE_TID:
		emit_id(code, node->kind == NODE_TID);
		break;
	case NODE_CPU:
		call(code, BPF_FUNC_get_smp_processor_id);
		break;
	case NODE_CGROUP:
		call(code, BPF_FUNC_get_current_cgroup_id);
		break;
	case NODE_IN_CGROUP:
		emit_in_cgroup(code, node);
		break;
	case NODE_COMM_IS:
		emit_comm_is(code, node);
		break;
	case NODE_TEXT_IS:
		(node->left->count ? emit_counted_text_is : emit_text_is)(code, node, slot);
		break;
	case NODE_CAST:
		emit(code, node->left, slot);
		narrow(code, node->type);
		break;
	case NODE_LOAD:
		emit_load(code, node, slot);
		break;
	case NODE_NEGATE:
		emit(code, node->left, slot);
		put(code, BPF_ALU64 | BPF_NEG, BPF_REG_0, 0, 0, 0);
		break;
	case NODE_COMPLEMENT:
		emit(code, node->left, slot);
		put(code, BPF_ALU64 | BPF_XOR | BPF_K, BPF_REG_0, 0, 0, -1);
		break;
	case NODE_NOT:
		emit_not(code, node, slot);
		break;
	case NODE_AND:
	case NODE_OR:
		emit_and_or(code, node, slot);
		break;
	case NODE_BINARY:
		emit_binary(code, node, slot);
		break;
	}
}

/* ---- values to be printed ---- */

static void write_value(struct code *code, uint32_t offset)
{
	put(code, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_9, BPF_REG_0, (int)offset, 0);
}

/* As emit_text_is(): the beginning and the farthest byte of the text are brought in before. */
static void bring_in(struct code *code, const struct print_item *item, int at)
{
	copy_from_user(code, STRING_AT, 1);
	load(code, 8, BPF_REG_0, BPF_REG_10, at);
	put(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_0, 0, 0, (int32_t)item->max);
	copy_from_user(code, STRING_AT, 1);
}

static void print_text(struct code *code, const struct print_item *item)
{
	int at = slot_at(code, 0);

	store(code, at, BPF_REG_0);
	if (!code->stays)
		bring_in(code, item, at);
	load(code, 8, BPF_REG_3, BPF_REG_10, at);
	move(code, BPF_REG_1, BPF_REG_9);
	put(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, (int32_t)item->offset + 8);
	move_imm(code, BPF_REG_2, (int32_t)item->max + 2);
	call(code, BPF_FUNC_probe_read_user_str);
	write_value(code, item->offset);
}

/* The address is in r0. */
static void print_counted_text(struct code *code, const struct print_item *item)
{
	int at = slot_at(code, 0), count_at = slot_at(code, 1);
	size_t fits, unreadable;

	store(code, at, BPF_REG_0);
	emit(code, item->root->count, 1);
	fits = jump(code, BPF_JLE, BPF_REG_0, (int32_t)item->max + 1);
	move_imm(code, BPF_REG_0, (int32_t)item->max + 1);
	land(code, fits);
	store(code, count_at, BPF_REG_0);
	move(code, BPF_REG_2, BPF_REG_0);
	load(code, 8, BPF_REG_3, BPF_REG_10, at);
	move(code, BPF_REG_1, BPF_REG_9);
	put(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, (int32_t)item->offset + 8);
	call(code, code->stays ? BPF_FUNC_probe_read_user : BPF_FUNC_copy_from_user);
	unreadable = jump(code, BPF_JNE, BPF_REG_0, 0);
	load(code, 8, BPF_REG_0, BPF_REG_10, count_at);
	put(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_0, 0, 0, 1);
	write_value(code, item->offset);
	land(code, unreadable);
}

static void print_number(struct code *code, const struct print_item *item)
{
	write_value(code, item->offset + 8);
	move_imm(code, BPF_REG_0, 1);
	write_value(code, item->offset);
}

static void print_values(struct code *code, const struct prints *prints)
{
	code->is_value = true;
	code->stays = prints->is_automatic;
	for (size_t i = 0; i < prints->cnt; i++) {
		const struct print_item *item = &prints->items[i];

		if (item->lack)
			continue;
		put(code, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_9, 0, (int)item->offset, 0);
		emit(code, item->root, 0);
		if (item->is_text && item->root->count)
			print_counted_text(code, item);
		else if (item->is_text)
			print_text(code, item);
		else
			print_number(code, item);
		while (code->miss_cnt)
			land(code, code->misses[--code->miss_cnt]);
	}
	code->is_value = code->stays = false;
	exit_with(code, 0);
}

int condition_emit(const struct condition_code *wanted, struct bpf_insn **ret_insns, size_t *ret_cnt)
{
	struct code code = {.args_may_miss = wanted->args_may_miss};

	move(&code, BPF_REG_6, BPF_REG_1);
	move(&code, BPF_REG_7, BPF_REG_2);
	if (wanted->prints) {
		size_t judges;

		move(&code, BPF_REG_9, BPF_REG_3);
		judges = jump(&code, BPF_JEQ, BPF_REG_9, 0);
		print_values(&code, wanted->prints);
		land(&code, judges);
	}
	condition_read_args(&code, wanted);
	if (wanted->condition) {
		emit(&code, wanted->condition->root, 0);
		boolean(&code, jump(&code, BPF_JNE, BPF_REG_0, 0));
		put(&code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	} else {
		exit_with(&code, 1);
	}
	free(code.misses);
	if (code.failed || code.too_deep || code.cnt > INT16_MAX) {
		free(code.insns);
		return code.failed ? -ENOMEM
				   : fail(-EINVAL, "this condition is too large, or the probe has too many "
						   "places: simplify it");
	}
	*ret_insns = code.insns;
	*ret_cnt = code.cnt;
	return 0;
}
