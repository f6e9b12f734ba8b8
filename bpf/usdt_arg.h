/* SPDX-License-Identifier: BSD-2-Clause */
/* The place of an argument of a USDT probe, for BPF programs: its note as data ("-4@-20(%rbp)"). */
#pragma once

#include <linux/types.h>

#include "user/arch/x86_64/registers.h"

enum usdt_arg_kind {
	USDT_ARG_NONE, /* no argument; reads as 0 */
	USDT_ARG_CONSTANT,
	USDT_ARG_REGISTER,
	USDT_ARG_MEMORY,
};

enum { USDT_NO_REG = 0xff };

struct usdt_arg {
	__s64 offset; /* the constant; memory: displacement */
	__u8 kind;    /* enum usdt_arg_kind */
	__s8 size;    /* bytes: 1, 2, 4, 8; negative: signed */
	__u8 base;    /* the register; memory: base register, or USDT_NO_REG (enum hit_reg) */
	__u8 index;   /* memory: index register, or USDT_NO_REG */
	__u8 scale;   /* memory: scale of the index */
	__u8 unused[3];
};

_Static_assert(sizeof(struct usdt_arg) == 16, "struct usdt_arg is shared with BPF: no padding");

static inline __attribute__((always_inline)) __u64 usdt_arg_cut(__u64 value, __s8 size)
{
	__u32 unused_bits = 64 - 8 * (size < 0 ? -size : size);

	unused_bits &= 63;
	value <<= unused_bits;
	return size < 0 ? (__u64)((__s64)value >> unused_bits) : value >> unused_bits;
}

/*
 * The argument in 64 bits; 0: unreadable. `regs` is indexed by enum hit_reg. read() copies memory of the
 * target and returns 0 on success, like bpf_probe_read_user().
 */
static inline __attribute__((always_inline)) __u64
usdt_arg_value(const struct usdt_arg *arg, const __u64 *regs,
	       long (*read)(void *to, __u32 size, const void *address))
{
	__u64 address = (__u64)arg->offset, value = 0;
	__u32 size = (arg->size < 0 ? -arg->size : arg->size);

	if (arg->kind == USDT_ARG_CONSTANT)
		return usdt_arg_cut(address, arg->size);
	if (arg->kind == USDT_ARG_REGISTER)
		return arg->base < HIT_REG_CNT ? usdt_arg_cut(regs[arg->base], arg->size) : 0;
	if (arg->kind != USDT_ARG_MEMORY)
		return 0;
	if (arg->base < HIT_REG_CNT)
		address += regs[arg->base];
	if (arg->index < HIT_REG_CNT)
		address += regs[arg->index] * arg->scale;
	if (read(&value, ((size - 1) & 7) + 1, (const void *)address))
		return 0;
	return usdt_arg_cut(value, arg->size);
}
