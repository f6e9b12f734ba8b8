/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the arguments of a probed place are when the probe fires: arg0, arg1, ...
 *
 *	a function of C		rdi, rsi, rdx, rcx, r8, r9 (System V ABI); what is no integer or
 *				pointer is not among them
 *	a function of Go	rax, rbx, rcx, rdi, rsi, r8, r9, r10, r11 (https://go.dev/s/regabi), a string
 *				takes two of them, a slice three; Go 1.16 and before passed them on the stack,
 *				as assembly still does: then none are known
 *	a USDT probe		as its note says
 *	within a function	none: its code has put them anywhere
 */
#pragma once

#include <stdint.h>

#include "bpf/hit_action.h"
#include "bpf/usdt_arg.h"
#include "elf/elf_file.h"

enum arg_convention { ARGS_C, ARGS_GO, ARGS_GO_STACK, ARGS_USDT, ARGS_WITHIN };

struct arg_layout {
	enum arg_convention convention;
	uint32_t known; /* bit N: args[N] is valid */
	struct usdt_arg args[HIT_ARG_CNT];
};

struct probe;

/* The layout of a function, by its name and address. */
const struct arg_layout *arg_layout_of_function(struct elf_file *file, const struct elf_symbol *function);

/* The layout of a place that is not the beginning of a function. */
const struct arg_layout *arg_layout_within(void);

/*
 * Fills *ret_layout from the note; arguments that are neither integers nor addresses are not known. 0 or
 * -ENOMEM.
 */
int arg_layout_of_usdt(struct arg_layout *ret_layout, struct elf_file *file, const struct elf_usdt *usdt);

/* Returns -EINVAL with a sentence that says why the probe has no argument `nth`. */
int arg_layout_fail(const struct probe *probe, unsigned int nth);
