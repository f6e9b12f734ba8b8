/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main of a stripped program: its start-up code hands main's address to __libc_start_main() in rdi (glibc,
 * sysdeps/x86_64/start.S):
 *
 *	_start:	[endbr64]  xor ebp,ebp  mov r9,rdx  pop rsi  mov rdx,rsp  and rsp,-16  push rax  push rsp
 *		[xor | mov | lea  r8, rcx]		without __libc_csu_init since glibc 2.34
 *		lea rdi,[rip+main] | mov rdi,main	position-independent, or not
 *		call __libc_start_main
 *
 * Nothing else is accepted, so that other start-up code (Go's, musl's) gives no main rather than a wrong one.
 */
#include <string.h>

#include "base/array.h"
#include "elf/elf_internal.h"

struct pattern {
	uint8_t len;  /* of the bytes that must be there ... */
	uint8_t rest; /* ... and of those behind, which may be anything */
	uint8_t bytes[4];
	enum { PASS, MAIN_RELATIVE, MAIN_ABSOLUTE, CALL } means;
};

static const struct pattern patterns[] = {
	{4, 0, {0xf3, 0x0f, 0x1e, 0xfa}, PASS}, /* endbr64 */
	{2, 0, {0x31, 0xed}, PASS},		/* xor ebp,ebp */
	{3, 0, {0x49, 0x89, 0xd1}, PASS},	/* mov r9,rdx */
	{1, 0, {0x5e}, PASS},			/* pop rsi */
	{3, 0, {0x48, 0x89, 0xe2}, PASS},	/* mov rdx,rsp */
	{4, 0, {0x48, 0x83, 0xe4, 0xf0}, PASS}, /* and rsp,-16 */
	{1, 0, {0x50}, PASS},			/* push rax */
	{1, 0, {0x54}, PASS},			/* push rsp */
	{3, 0, {0x45, 0x31, 0xc0}, PASS},	/* xor r8d,r8d */
	{2, 0, {0x31, 0xc9}, PASS},		/* xor ecx,ecx */
	{3, 4, {0x49, 0xc7, 0xc0}, PASS},	/* mov r8,imm */
	{3, 4, {0x48, 0xc7, 0xc1}, PASS},	/* mov rcx,imm */
	{3, 4, {0x4c, 0x8d, 0x05}, PASS},	/* lea r8,[rip+disp] */
	{3, 4, {0x48, 0x8d, 0x0d}, PASS},	/* lea rcx,[rip+disp] */
	{3, 4, {0x48, 0x8d, 0x3d}, MAIN_RELATIVE},
	{3, 4, {0x48, 0xc7, 0xc7}, MAIN_ABSOLUTE},
	{1, 4, {0xbf}, MAIN_ABSOLUTE},
	{2, 4, {0xff, 0x15}, CALL}, /* through the GOT */
	{2, 4, {0x67, 0xe8}, CALL},
	{1, 4, {0xe8}, CALL},
};

static const struct pattern *match(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct pattern *pattern = &patterns[i];

		if ((size_t)pattern->len + pattern->rest <= size &&
		    !memcmp(bytes, pattern->bytes, pattern->len))
			return pattern;
	}
	return NULL;
}

/* The address that the code at `entry` hands on; 0: it is none of the kind. */
static uint64_t find_main(const uint8_t *bytes, size_t size, uint64_t entry)
{
	const struct pattern *pattern;
	uint64_t found = 0;

	for (size_t at = 0; (pattern = match(bytes + at, size - at)) && pattern->means != CALL;) {
		int32_t operand;

		at += (size_t)pattern->len + pattern->rest;
		if (pattern->means == PASS)
			continue;
		memcpy(&operand, bytes + at - sizeof(operand), sizeof(operand));
		found = (uint64_t)(int64_t)operand + (pattern->means == MAIN_RELATIVE ? entry + at : 0);
	}
	return pattern ? found : 0;
}

/* The next function that the table of the unwinding information has, or the end of the segment. */
static int next_function(const struct elf_file *file, uint64_t addr, uint64_t *ret_end)
{
	const GElf_Phdr *segment = elf_code_segment(file, addr);
	uint64_t end = segment->p_vaddr + segment->p_memsz;
	CLEANUP(freep) uint64_t *starts = NULL;
	size_t cnt = 0;
	int err = elf_frame_starts(file, &starts, &cnt);

	for (size_t i = 0; i < cnt; i++)
		if (starts[i] > addr && starts[i] < end)
			end = starts[i];
	*ret_end = end;
	return err;
}

/*
 * Static programs have no such table, but the information itself: its rows follow each other within a
 * function, and between functions there is mostly a gap of padding.
 */
static uint64_t rows_end(const struct elf_file *file, uint64_t addr, uint64_t limit)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(file->elf);
	Dwarf_Frame *frame;

	while (cfi && addr < limit && !dwarf_cfi_addrframe(cfi, addr, &frame)) {
		Dwarf_Addr start, end = addr;

		dwarf_frame_info(frame, &start, &end, NULL);
		free(frame);
		if (end <= addr)
			break;
		addr = end;
	}
	if (cfi)
		dwarf_cfi_end(cfi);
	return addr;
}

int elf_main_add(struct elf_file *file)
{
	struct elf_symbol symbol = {
		.name = "main", .type = STT_FUNC, .bind = STB_GLOBAL, .is_default = 1, .is_guess = 1};
	uint8_t bytes[96];
	uint64_t offset;
	GElf_Ehdr header;
	uint64_t end;
	int err;

	if (!gelf_getehdr(file->elf, &header) || elf_file_offset(file, header.e_entry, &offset) ||
	    elf_has_symbol(file, "main"))
		return 0;
	symbol.addr = find_main(bytes, elf_file_read(file, offset, bytes, sizeof(bytes)), header.e_entry);
	if (!elf_code_segment(file, symbol.addr))
		return 0;
	err = next_function(file, symbol.addr, &end);
	end = rows_end(file, symbol.addr, end);
	symbol.size = end > symbol.addr ? end - symbol.addr : 1;
	return err ? err : ARRAY_PUSH(file->symbols, file->symbol_cnt, file->symbol_cap, symbol);
}
