/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where arguments are, as the probe knows it: in registers, in memory that registers point to, or constants.
 */
#include "condition/condition_code.h"
#include "probe/args/arg_layout.h"

static void add_register(struct code *code, uint8_t reg, uint8_t scale)
{
	if (reg >= HIT_REG_CNT)
		return;
	load(code, 8, BPF_REG_1, BPF_REG_6, 8 * reg);
	put(code, BPF_ALU64 | BPF_MUL | BPF_K, BPF_REG_1, 0, 0, scale);
	put(code, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
}

/* Into r0. What cannot be read is passed by: *ret_missing jumps there. */
static bool read_memory_arg(struct code *code, const struct usdt_arg *arg, uint8_t size, size_t *ret_missing)
{
	int at = slot_at(code, 0);

	load_constant(code, BPF_REG_0, (uint64_t)arg->offset);
	add_register(code, arg->base, 1);
	add_register(code, arg->index, arg->scale);
	copy_from_user(code, at, size);
	*ret_missing = jump(code, BPF_JNE, BPF_REG_0, 0);
	load(code, size, BPF_REG_0, BPF_REG_10, at);
	return true;
}

static void read_arg(struct code *code, const struct usdt_arg *arg, unsigned int nth)
{
	uint8_t size = (uint8_t)(arg->size < 0 ? -arg->size : arg->size);
	bool may_miss = false;
	size_t missing;

	if (arg->kind == USDT_ARG_NONE)
		return;
	if (arg->kind == USDT_ARG_CONSTANT)
		load_constant(code, BPF_REG_0, usdt_arg_cut((uint64_t)arg->offset, arg->size));
	else if (arg->kind == USDT_ARG_REGISTER)
		load(code, 8, BPF_REG_0, BPF_REG_6, 8 * arg->base);
	else
		may_miss = read_memory_arg(code, arg, size, &missing);
	if (arg->kind != USDT_ARG_CONSTANT)
		narrow(code, (struct value_type){.size = size, .is_signed = arg->size < 0});
	put(code, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_0, arg_at(nth), 0);
	put(code, BPF_ALU64 | BPF_OR | BPF_K, BPF_REG_8, 0, 0, 1 << nth);
	if (may_miss)
		land(code, missing);
}

/* All that C's convention gave is forgotten. */
static void read_args(struct code *code, const struct arg_layout *layout)
{
	move_imm(code, BPF_REG_8, 0);
	for (unsigned int i = 0; i < HIT_ARG_CNT; i++) {
		put(code, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_7, 0, arg_at(i), 0);
		read_arg(code, &layout->args[i], i);
	}
	put(code, BPF_STX | BPF_MEM | BPF_W, BPF_REG_7, BPF_REG_8, offsetof(struct firing, args_known), 0);
}

/* Each layout's code is passed by where the probe has another one. */
void condition_read_args(struct code *code, const struct condition_code *wanted)
{
	for (size_t i = 0; i < wanted->layout_cnt; i++) {
		size_t other;

		if (wanted->layouts[i]->convention == ARGS_C)
			continue;
		load(code, 4, BPF_REG_0, BPF_REG_7, offsetof(struct firing, layout));
		other = jump(code, BPF_JNE, BPF_REG_0, (int32_t)i);
		read_args(code, wanted->layouts[i]);
		land(code, other);
	}
}
