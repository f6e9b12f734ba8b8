/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kind and length of branch instructions. libipt's blocks give neither the length of their last instruction nor, for
 * indirect jumps and far transfers, its class; both are asked for with every block, so a disassembler would
 * cost more than the decoding itself. Branches are few and their encodings simple:
 *
 *	opcode [0f opcode] [ModRM [SIB] [displacement]] [immediate]
 *
 * An operand-size prefix does not shorten the displacement of a branch in 64-bit mode (SDM vol. 2, Jcc, CALL, JMP).
 */
#include "decode/branch_insn.h"

#include "decode/branch.h"

/* Bytes of ModRM, SIB and displacement. */
static size_t modrm_len(const uint8_t *bytes, size_t size)
{
	unsigned int mod = bytes[0] >> 6, rm = bytes[0] & 7;
	bool sib = mod != 3 && rm == 4;
	size_t len = 1 + sib;

	if (mod == 1)
		return len + 1;
	if (mod == 2)
		return len + 4;
	if (mod == 0 && (rm == 5 || (sib && size > 1 && (bytes[1] & 7) == 5)))
		return len + 4;
	return len;
}

/* `len` counts from the opcode on. */
static struct branch_insn branch(enum branch_kind kind, size_t len)
{
	return (struct branch_insn){.kind = kind, .len = len};
}

static struct branch_insn direct(enum branch_kind kind, size_t len)
{
	return (struct branch_insn){.kind = kind, .len = len, .direct = true};
}

/* Group 5: ff /2 to /5 */
static struct branch_insn decode_ff(const uint8_t *modrm, size_t size)
{
	if (!size)
		return branch(BRANCH_NONE, 0);
	switch (modrm[0] >> 3 & 7) {
	case 2: /* call r/m */
	case 3: /* far call */
		return branch(BRANCH_CALL, 1 + modrm_len(modrm, size));
	case 4: /* jmp r/m */
	case 5: /* far jmp */
		return branch(BRANCH_JUMP, 1 + modrm_len(modrm, size));
	default:
		return branch(BRANCH_NONE, 0);
	}
}

static struct branch_insn decode_0f(const uint8_t *op, size_t size)
{
	if (!size)
		return branch(BRANCH_NONE, 0);
	if ((op[0] & 0xf0) == 0x80) /* jcc rel32 */
		return branch(BRANCH_COND, 6);
	switch (op[0]) {
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return branch(BRANCH_SYSCALL, 2);
	case 0x07: /* sysret */
	case 0x35: /* sysexit */
	case 0xaa: /* rsm */
		return branch(BRANCH_SYSRET, 2);
	case 0x01: /* vmcall; vmlaunch, vmresume */
		if (size > 1 && op[1] == 0xc1)
			return branch(BRANCH_SYSCALL, 3);
		if (size > 1 && (op[1] == 0xc2 || op[1] == 0xc3))
			return branch(BRANCH_SYSRET, 3);
		return branch(BRANCH_NONE, 0);
	default:
		return branch(BRANCH_NONE, 0);
	}
}

static struct branch_insn decode_opcode(const uint8_t *op, size_t size)
{
	if ((op[0] & 0xf0) == 0x70 || (op[0] & 0xfc) == 0xe0) /* jcc rel8; loop, jrcxz */
		return branch(BRANCH_COND, 2);
	switch (op[0]) {
	case 0x0f:
		return decode_0f(op + 1, size - 1);
	case 0xff:
		return decode_ff(op + 1, size - 1);
	case 0xe8:
		return direct(BRANCH_CALL, 5);
	case 0xe9:
		return direct(BRANCH_JUMP, 5);
	case 0xeb:
		return direct(BRANCH_JUMP, 2);
	case 0xc2: /* ret imm16 */
	case 0xca:
		return branch(BRANCH_RETURN, 3);
	case 0xc3:
	case 0xcb:
		return branch(BRANCH_RETURN, 1);
	case 0xcf: /* iret */
		return branch(BRANCH_SYSRET, 1);
	case 0xcd: /* int n */
		return branch(BRANCH_SYSCALL, 2);
	case 0xcc: /* int3, int1 */
	case 0xf1:
		return branch(BRANCH_SYSCALL, 1);
	default:
		return branch(BRANCH_NONE, 0);
	}
}

struct branch_insn branch_insn_decode(const uint8_t *opcode, size_t size)
{
	struct branch_insn insn = size ? decode_opcode(opcode, size) : branch(BRANCH_NONE, 0);

	return insn.len <= size ? insn : branch(BRANCH_NONE, 0);
}
