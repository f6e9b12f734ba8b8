/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include "base/array.h"
#include "source/insn.h"

enum { IP = 0x1000 };

static const struct {
	const char *text;
	uint8_t bytes[12];
	enum insn_kind kind;
	uint8_t len;
	uint64_t target;
} cases[] = {
	{"nop", {0x90}, INSN_OTHER, 1, 0},
	{"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, INSN_OTHER, 4, 0},
	{"je +5", {0x74, 0x05}, INSN_COND, 2, IP + 7},
	{"jne -16 (near)", {0x0f, 0x85, 0xf0, 0xff, 0xff, 0xff}, INSN_COND, 6, IP + 6 - 16},
	{"jrcxz +0", {0xe3, 0x00}, INSN_COND, 2, IP + 2},
	{"loop -2", {0xe2, 0xfe}, INSN_COND, 2, IP},
	{"jmp +16", {0xeb, 0x10}, INSN_JUMP, 2, IP + 18},
	{"jmp near", {0xe9, 0x00, 0x01, 0x00, 0x00}, INSN_JUMP, 5, IP + 5 + 0x100},
	{"bnd jmp near", {0xf2, 0xe9, 0x00, 0x01, 0x00, 0x00}, INSN_JUMP, 6, IP + 6 + 0x100},
	{"jmp *%rax", {0xff, 0xe0}, INSN_JUMP_INDIRECT, 2, 0},
	{"notrack jmp *%rax", {0x3e, 0xff, 0xe0}, INSN_JUMP_INDIRECT, 3, 0},
	{"jmp *8(%rip)", {0xff, 0x25, 0x08, 0x00, 0x00, 0x00}, INSN_JUMP_INDIRECT, 6, 0},
	{"call +16", {0xe8, 0x10, 0x00, 0x00, 0x00}, INSN_CALL, 5, IP + 21},
	{"call +0", {0xe8, 0x00, 0x00, 0x00, 0x00}, INSN_CALL_NEXT, 5, 0},
	{"call *%rdx", {0xff, 0xd2}, INSN_CALL_INDIRECT, 2, 0},
	{"lcall *(%rax)", {0xff, 0x18}, INSN_FAR, 2, 0},
	{"ret", {0xc3}, INSN_RETURN, 1, 0},
	{"repz ret", {0xf3, 0xc3}, INSN_RETURN, 2, 0},
	{"ret 8", {0xc2, 0x08, 0x00}, INSN_RETURN, 3, 0},
	{"lret", {0xcb}, INSN_FAR, 1, 0},
	{"iretq", {0x48, 0xcf}, INSN_FAR, 2, 0},
	{"syscall", {0x0f, 0x05}, INSN_SYSCALL, 2, 0},
	{"int 0x80", {0xcd, 0x80}, INSN_SYSCALL, 2, 0},
	{"int3", {0xcc}, INSN_BREAK, 1, 0},
	{"int 3", {0xcd, 0x03}, INSN_BREAK, 2, 0},
	{"int1", {0xf1}, INSN_BREAK, 1, 0},
	{"pushf", {0x9c}, INSN_PUSHF, 1, 0},
	{"mov %eax,%ss", {0x8e, 0xd0}, INSN_MOV_SS, 2, 0},
	{"mov %ss,%eax", {0x8c, 0xd0}, INSN_OTHER, 2, 0},
	{"rep movsb", {0xf3, 0xa4}, INSN_REP, 2, 0},
	{"repne scasb", {0xf2, 0xae}, INSN_REP, 2, 0},
	{"invalid", {0x06}, INSN_UNKNOWN, 0, 0},
};

TEST(test_kinds)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct insn insn = insn_classify(IP, cases[i].bytes, sizeof(cases[i].bytes));

		if (insn.kind != cases[i].kind || insn.len != cases[i].len || insn.target != cases[i].target)
			fail_msg("%s: kind %d len %d target %lx", cases[i].text, insn.kind, insn.len,
				 (unsigned long)insn.target);
		assert_int_equal(insn.ip, IP);
	}
}

/* Cut off at the end of a mapping. */
TEST(test_truncated)
{
	static const uint8_t call[] = {0xe8, 0x10, 0x00, 0x00, 0x00};

	for (size_t size = 0; size < sizeof(call); size++)
		assert_int_equal(insn_classify(IP, call, size).kind, INSN_UNKNOWN);
	assert_int_equal(insn_classify(IP, call, sizeof(call)).kind, INSN_CALL);
}

TEST_MAIN(NULL, NULL)
