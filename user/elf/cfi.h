/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a frame's caller is found: one row of the table that is a file's call frame information (DWARF 5,
 * section 6.4), in plain form. Most rows of most programs say: the CFA is rsp or rbp plus so much, the return
 * address and some registers are saved at so much below it.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * DWARF's numbers of registers (System V ABI for AMD64, figure 3.36): rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp,
 * r8 to r15, the return address.
 */
enum { CFI_RSP = 7, CFI_RBP = 6, CFI_RETURN = 16, CFI_REG_CNT };

enum cfi_how {
	CFI_SAME,     /* the callee left the register alone */
	CFI_LOST,     /* it cannot be known; of the return address: there is no caller */
	CFI_SAVED,    /* in memory at CFA + offset */
	CFI_CFA,      /* is CFA + offset */
	CFI_REGISTER, /* is register `reg` + offset */
	CFI_SAVED_BY, /* in memory where the expression says */
	CFI_VALUE_BY, /* what the expression says */
};

struct cfi_rule {
	uint8_t how; /* enum cfi_how */
	uint8_t reg;
	int32_t offset;
	const struct cfi_expression {
		size_t cnt;
		Dwarf_Op ops[];
	} * expression; /* the file's */
};

struct cfi_row {
	uint64_t addr;
	bool is_known;	/* nothing else is, where it is not */
	bool is_signal; /* the "caller" was interrupted, and made no call */
	struct cfi_rule cfa, regs[CFI_REG_CNT];
};

struct elf_file;
struct image;

/*
 * The row for an address of the file (.eh_frame, else .debug_frame), good until the next call; NULL: out of
 * memory. The first time at an address is slow, in microseconds; later times are a look-up.
 */
const struct cfi_row *elf_file_cfi_at(struct elf_file *file, uint64_t addr);

/*
 * The same for an address of the target; false where nothing is known. Its expressions are good as long as
 * the image's objects. Thread-safe.
 */
bool image_cfi_at(struct image *image, size_t version, uint64_t ip, struct cfi_row *ret_row);
