/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every offset of this machine's C library, in the middle of instructions, too: what is known agrees with
 * Zydis.
 */
#include "assertions.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "decode/code_insn.h"

struct text {
	const uint8_t *bytes;
	size_t size;
};

static int find_text(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct text *text = ctx;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			*text = (struct text){(const uint8_t *)(info->dlpi_addr + segment->p_vaddr),
					      segment->p_memsz};
	}
	return 1;
}

/* What share of the instructions that run is known. */
struct score {
	size_t known, unknown;
};

static void compare_at(const ZydisDecoder *zydis, const uint8_t *bytes, size_t size, bool is_64,
		       struct score *score)
{
	ZydisDecodedInstruction theirs;
	struct code_insn ours;
	bool valid = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(zydis, NULL, bytes, size, &theirs));

	code_insn_decode(&ours, bytes, size, is_64);
	if (!valid)
		return;
	if (!ours.len) {
		score->unknown++;
		return;
	}
	score->known++;
	if (ours.len != theirs.length) {
		for (int i = 0; i < 15; i++)
			fprintf(stderr, "%02x ", bytes[i]);
		fail_msg("%d bytes, not %d", theirs.length, ours.len);
	}
}

/* `rarely`: of how many one may be unknown. */
static void compare(ZydisMachineMode mode, ZydisStackWidth width, bool is_64, size_t rarely)
{
	struct text text = {0};
	struct score score = {0};
	ZydisDecoder zydis;

	dl_iterate_phdr(find_text, &text);
	assert_non_null(text.bytes);
	ZydisDecoderInit(&zydis, mode, width);
	for (size_t at = 0; at + 32 < text.size; at++)
		compare_at(&zydis, text.bytes + at, 15, is_64, &score);
	assert_true(score.known > rarely * score.unknown);
}

TEST(test_64)
{
	compare(ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64, true, 100);
}

TEST(test_32)
{
	compare(ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32, false, 10);
}

TEST_MAIN(NULL, NULL)
