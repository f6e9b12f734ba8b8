/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/boundary.h"

#include <Zydis/Zydis.h>

#include "arch/arch.h"
#include "base/error.h"
#include "elf/elf_range.h"
#include "probe/site.h"

enum { INSN_MAX = 15 };

static size_t code_at(const struct elf_file *file, uint64_t addr, uint8_t code[static INSN_MAX])
{
	uint64_t offset;

	return elf_file_offset(file, addr, &offset) ? 0 : elf_file_read(file, offset, code, INSN_MAX);
}

static bool decode(const struct elf_file *file, uint64_t addr, ZydisDecodedInstruction *ret_insn)
{
	uint8_t code[INSN_MAX];
	size_t size = code_at(file, addr, code);
	ZydisDecoder decoder;

	return !ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
	       !ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code, size, ret_insn));
}

/* It may be divided by others inside of it. */
bool boundary_function_start(struct elf_file *file, uint64_t addr, uint64_t *ret_start)
{
	size_t cnt;
	const struct elf_range *ranges = elf_file_ranges(file, &cnt);
	const struct elf_range *range = elf_range_find(ranges, cnt, addr);

	if (!range)
		return false;
	*ret_start = range->symbol ? range->symbol->addr : range->start;
	return true;
}

int boundary_check(struct elf_file *file, uint64_t addr)
{
	uint64_t at, before = 0;

	if (!elf_file_is_code(file, addr) || !boundary_function_start(file, addr, &at))
		return fail(-ENOENT, "there is no code at 0x%llx in %s", (unsigned long long)addr,
			    elf_file_path(file));
	while (at < addr) {
		ZydisDecodedInstruction insn;

		if (!decode(file, at, &insn))
			return fail(-ENOENT,
				    "cannot tell whether an instruction begins at 0x%llx in %s: the code "
				    "before it, at 0x%llx, cannot be decoded",
				    (unsigned long long)addr, elf_file_path(file), (unsigned long long)at);
		before = at;
		at += insn.length;
	}
	if (at == addr)
		return 0;
	return fail(-EINVAL,
		    "0x%llx in %s is inside an instruction; the ones beside it begin at 0x%llx and 0x%llx",
		    (unsigned long long)addr, elf_file_path(file), (unsigned long long)before,
		    (unsigned long long)at);
}

uint64_t boundary_best_entry(struct elf_file *file, uint64_t addr)
{
	ZydisDecodedInstruction next;
	uint8_t code[INSN_MAX];

	if (!arch_is_landing_mark(code, code_at(file, addr, code)) ||
	    !elf_file_is_code(file, addr + ARCH_LANDING_MARK_SIZE) ||
	    !decode(file, addr + ARCH_LANDING_MARK_SIZE, &next) || !site_is_emulated(&next))
		return addr;
	return addr + ARCH_LANDING_MARK_SIZE;
}
