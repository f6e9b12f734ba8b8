/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instructions of a condition, one behind the other. What is where:
 *
 *	r6	struct pt_regs *
 *	r7	struct firing *
 *	r8	struct firing.args_known, while arguments are read
 *	r9	where values to be printed go
 *	r10-8 ... r10-192	slots
 *	r10-256 ... r10-193	a string
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "bpf/rule.h"
#include "condition/condition.h"
#include "condition/condition_tree.h"

enum { SLOT_MAX = 24, STRING_AT = -256 };

struct code {
	struct bpf_insn *insns;
	size_t cnt, cap;
	bool args_may_miss;
	bool stays; /* memory that is not there is not brought in: reading it is not the user's wish */
	/* Of a value to be printed: jumps to where it is unreadable. */
	bool is_value;
	size_t *misses;
	size_t miss_cnt, miss_cap;
	bool failed; /* out of memory, or slots */
	bool too_deep;
};

static inline void put(struct code *code, uint8_t opcode, uint8_t dst, uint8_t src, int off, int32_t imm)
{
	struct bpf_insn insn = {
		.code = opcode, .dst_reg = dst & 15, .src_reg = src & 15, .off = (int16_t)off, .imm = imm};

	if (ARRAY_PUSH(code->insns, code->cnt, code->cap, insn))
		code->failed = true;
}

static inline void move(struct code *code, uint8_t dst, uint8_t src)
{
	put(code, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static inline void move_imm(struct code *code, uint8_t dst, int32_t imm)
{
	put(code, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

static inline void load_constant(struct code *code, uint8_t dst, uint64_t value)
{
	if ((uint64_t)(int64_t)(int32_t)value == value) {
		move_imm(code, dst, (int32_t)value);
		return;
	}
	put(code, BPF_LD | BPF_DW | BPF_IMM, dst, 0, 0, (int32_t)value);
	put(code, 0, 0, 0, 0, (int32_t)(value >> 32));
}

static inline void load(struct code *code, uint8_t size, uint8_t dst, uint8_t src, int off)
{
	uint8_t width = size == 1 ? BPF_B : size == 2 ? BPF_H : size == 4 ? BPF_W : BPF_DW;

	put(code, BPF_LDX | BPF_MEM | width, dst, src, off, 0);
}

static inline void store(struct code *code, int off, uint8_t src)
{
	put(code, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, src, off, 0);
}

static inline void address_of(struct code *code, uint8_t dst, int off)
{
	move(code, dst, BPF_REG_10);
	put(code, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, off);
}

static inline void call(struct code *code, int32_t helper)
{
	put(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static inline void exit_with(struct code *code, int32_t value)
{
	move_imm(code, BPF_REG_0, value);
	put(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* A jump whose target comes later. */
static inline size_t jump(struct code *code, uint8_t op, uint8_t dst, int32_t imm)
{
	put(code, BPF_JMP | op | BPF_K, dst, 0, 0, imm);
	return code->cnt - 1;
}

static inline void land(struct code *code, size_t from)
{
	if (!code->failed)
		code->insns[from].off = (int16_t)(code->cnt - from - 1);
}

/* r0 becomes 1 or 0 as `holds` says of the jump instruction just put: taken or not. */
static inline void boolean(struct code *code, size_t taken)
{
	size_t over;

	move_imm(code, BPF_REG_0, 0);
	over = jump(code, BPF_JA, 0, 0);
	land(code, taken);
	move_imm(code, BPF_REG_0, 1);
	land(code, over);
}

/* Sign or zero extends the low bytes of r0. */
static inline void narrow(struct code *code, struct value_type type)
{
	int32_t bits = 64 - 8 * type.size;

	if (!bits || type.depth)
		return;
	put(code, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_0, 0, 0, bits);
	put(code, BPF_ALU64 | (type.is_signed ? BPF_ARSH : BPF_RSH) | BPF_K, BPF_REG_0, 0, 0, bits);
}

static inline int slot_at(struct code *code, int slot)
{
	if (slot >= SLOT_MAX) {
		code->too_deep = true;
		slot = SLOT_MAX - 1;
	}
	return -8 * (slot + 1);
}

/* Gives up: a condition cannot be judged then, and a value is not written. */
static inline void give_up(struct code *code)
{
	if (!code->is_value)
		exit_with(code, -1);
	else if (ARRAY_PUSH(code->misses, code->miss_cnt, code->miss_cap, jump(code, BPF_JA, 0, 0)))
		code->failed = true;
}

/* A helper's negative result. */
static inline void fail_if_negative(struct code *code)
{
	size_t fine = jump(code, BPF_JSGE, BPF_REG_0, 0);

	give_up(code);
	land(code, fine);
}

/*
 * Copies memory of the program to the stack, bringing it in if it is not there, or not. The address is in r0.
 * Leaves 0 or a negative errno there.
 */
static inline void copy_from_user(struct code *code, int at, int32_t size)
{
	move(code, BPF_REG_3, BPF_REG_0);
	address_of(code, BPF_REG_1, at);
	move_imm(code, BPF_REG_2, size);
	call(code, code->stays ? BPF_FUNC_probe_read_user : BPF_FUNC_copy_from_user);
}

static inline int arg_at(uint64_t arg)
{
	return (int)(offsetof(struct firing, args) + 8 * arg);
}

/* Reads the arguments into struct firing, for probes that do not find them where C's convention puts them. */
void condition_read_args(struct code *code, const struct condition_code *wanted);
