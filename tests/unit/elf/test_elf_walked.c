/* SPDX-License-Identifier: BSD-2-Clause */
/* What the instructions of this program say of the stack, against its call frame information. */
#include "assertions.h"

#include "elf/cfi.h"
#include "elf/elf_internal.h"

enum { ADDRESSES = 10000 };

struct tally {
	size_t all, known, right, returns;
};

static void compare(struct elf_file *file, uint64_t addr, struct tally *tally)
{
	const struct cfi_row *told = elf_file_cfi_at(file, addr);
	struct cfi_row walked = {.addr = addr};

	assert_non_null(told);
	if (!told->is_known || told->cfa.how != CFI_REGISTER || told->cfa.reg != CFI_RSP)
		return;
	assert_ok(elf_walk_row(file, &walked));
	tally->all++;
	if (!walked.is_known || walked.cfa.reg != CFI_RSP)
		return;
	assert_true(walked.is_guess);
	tally->known++;
	tally->right += walked.cfa.offset == told->cfa.offset;
	tally->returns += walked.regs[CFI_RETURN].how == CFI_SAVED && walked.regs[CFI_RETURN].offset == -8;
}

TEST(test_as_told)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const struct elf_symbol *symbols;
	struct tally tally = {0};
	size_t cnt;

	assert_ok(elf_file_open(&file, "/proc/self/exe"));
	symbols = elf_file_symbols(file, &cnt);
	for (size_t i = 0; i < cnt && tally.all < ADDRESSES; i++)
		for (uint64_t at = 0; at < symbols[i].size && !symbols[i].is_plt; at++)
			compare(file, symbols[i].addr + at, &tally);
	print_message("%zu addresses, %zu known, %zu right\n", tally.all, tally.known, tally.right);
	assert_true(tally.all >= ADDRESSES);
	assert_true(tally.known * 100 >= tally.all * 95);
	assert_true(tally.right * 1000 >= tally.known * 985);
	assert_int_equal(tally.returns, tally.known);
}

TEST_MAIN(NULL, NULL)
