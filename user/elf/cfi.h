/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row of a file's call frame information (DWARF 5, section 6.4) in plain form: how to find the caller's
 * frame at an address. Most rows say that the CFA is rsp or rbp plus an offset, and that the return address
 * and some registers are saved at offsets from the CFA.
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
	CFI_LOST,     /* unknown; of the return address: there is no caller */
	CFI_SAVED,    /* in memory at CFA + offset */
	CFI_CFA,      /* CFA + offset */
	CFI_REGISTER, /* register `reg` + offset */
	CFI_SAVED_BY, /* in memory at the expression's value */
	CFI_VALUE_BY, /* the expression's value */
};

struct cfi_rule {
	uint8_t how; /* enum cfi_how */
	uint8_t reg;
	int32_t offset;
	const struct cfi_expression {
		size_t cnt;
		Dwarf_Op ops[];
	} * expression; /* owned by the file */
};

struct cfi_row {
	uint64_t addr;
	bool is_known;	/* false: no other field is valid */
	bool is_guess;	/* by the function's instructions, as compilers use the stack */
	bool is_signal; /* a signal frame: the "caller" was interrupted and made no call */
	struct cfi_rule cfa, regs[CFI_REG_CNT];
};

struct elf_file;
struct image;

/*
 * The row for an address of the file (.eh_frame, else .debug_frame, else by its instructions),
 * valid until the next call. NULL: out of memory. The first call for an address takes
 * microseconds; later ones are a look-up.
 */
const struct cfi_row *elf_file_cfi_at(struct elf_file *file, uint64_t addr);

/*
 * The row for an address of the target; false: nothing is known. Its expressions are valid as long as the
 * image's objects. Thread-safe.
 */
bool image_cfi_at(struct image *image, size_t version, uint64_t ip, struct cfi_row *ret_row);
