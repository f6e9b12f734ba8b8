/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of a USDT probe, as its note has them: "8@%rdi -4@$-9 4@-20(%rbp) 8@8(%rdi,%rsi,4)
 * 8@sym+4(%rip)", each a size ("-": signed) and an operand in the assembler's words
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
 */
#pragma once

#include <stddef.h>

#include "bpf/usdt_arg.h"
#include "elf/elf_file.h"

/*
 * Fills up to `cap` of ret_args, the rest becomes USDT_ARG_NONE; *ret_cnt: how many the probe has. `file` is
 * where symbols are sought. -ENOTSUP with a sentence: one of the first `cap` is neither an integer nor an
 * address, or is spelled in a way that is not known; -ENOENT with a sentence: its symbol is not in the file.
 */
int usdt_args_parse(const struct elf_usdt *usdt, const struct elf_file *file, struct usdt_arg *ret_args,
		    size_t cap, size_t *ret_cnt);

/* The same, but such arguments become USDT_ARG_NONE. 0 or -ENOMEM. */
int usdt_args_parse_known(const struct elf_usdt *usdt, const struct elf_file *file, struct usdt_arg *ret_args,
			  size_t cap);
