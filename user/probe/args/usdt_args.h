/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of a USDT probe from its note: "8@%rdi -4@$-9 4@-20(%rbp) 8@8(%rdi,%rsi,4) 8@sym+4(%rip)".
 * Each has a size ("-": signed) and an operand in assembler syntax
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
 */
#pragma once

#include <stddef.h>

#include "bpf/usdt_arg.h"
#include "elf/elf_file.h"

/*
 * Fills up to `cap` of ret_args, the rest with USDT_ARG_NONE; *ret_cnt is the number of arguments. Symbols
 * are looked up in `file`. With a sentence: -ENOTSUP: one of the first `cap` is neither an integer nor an
 * address, or has an unknown syntax; -ENOENT: its symbol is not in the file.
 */
int usdt_args_parse(const struct elf_usdt *usdt, const struct elf_file *file, struct usdt_arg *ret_args,
		    size_t cap, size_t *ret_cnt);

/* The same, but unsupported arguments become USDT_ARG_NONE. 0 or -ENOMEM. */
int usdt_args_parse_known(const struct elf_usdt *usdt, const struct elf_file *file, struct usdt_arg *ret_args,
			  size_t cap);
