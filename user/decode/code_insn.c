/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	prefixes* [REX] opcode [ModRM [SIB] [displacement]] [immediate]
 *	VEX (c5 or c4) or EVEX (62) payload in place of prefix and escape bytes
 *
 * A table has one byte for each opcode that says what follows it. Opcodes that are undefined, obsolete or
 * ambiguous between processors have ODD: length 0.
 */
#include "decode/code_insn.h"

#include <string.h>

#include "base/array.h"
#include "model/branch.h"

enum follows {
	NO = 0,
	M = 1 << 0,   /* ModRM, and what it asks for */
	I1 = 1 << 1,  /* an immediate of one byte */
	I2 = 1 << 2,  /* of two */
	IZ = 1 << 3,  /* of four, two with an operand-size prefix */
	IV = 1 << 4,  /* of eight with REX.W, else as IZ */
	OFF = 1 << 5, /* an address */
	G3 = 1 << 6,  /* f6, f7: test has an immediate */
	ODD = 1 << 7,
};

#define X4(x)  x, x, x, x
#define X8(x)  X4(x), X4(x)
#define X16(x) X8(x), X8(x)
/*
 * Arithmetic: register and memory, then with an immediate; the rest is push and pop of segments, prefixes,
 * decimal adjust.
 */
#define ARITH  X4(M), I1, IZ, ODD, ODD

static const uint8_t one_byte[256] = {
	ARITH,	 ARITH,	 ARITH,	 ARITH,		     /* 00 */
	ARITH,	 ARITH,	 ARITH,	 ARITH,		     /* 20 */
	X16(NO),				     /* 40: REX, or inc and dec */
	X16(NO),				     /* 50 */
	ODD,	 ODD,	 ODD,	 M,		     /* 60 */
	X4(ODD),				     /* 64: prefixes */
	IZ,	 M | IZ, I1,	 M | I1,	     /* 68 */
	X4(NO),					     /* 6c */
	X16(I1),				     /* 70 */
	M | I1,	 M | IZ, ODD,	 M | I1,	     /* 80 */
	X8(M),	 M,	 M,	 M,		     /* 84 */
	ODD,					     /* 8f: pop, XOP */
	X8(NO),	 NO,	 NO,	 ODD,	 NO, X4(NO), /* 90 */
	X4(OFF), X4(NO),			     /* a0 */
	I1,	 IZ,	 X4(NO), NO,	 NO,	     /* a8 */
	X8(I1),	 X8(IV),			     /* b0 */
	M | I1,	 M | I1, I2,	 NO,		     /* c0 */
	ODD,	 ODD,	 M | I1, M | IZ,	     /* c4: VEX */
	I2 | I1, NO,	 I2,	 NO,		     /* c8 */
	NO,	 I1,	 ODD,	 NO,		     /* cc */
	X4(M),	 ODD,	 ODD,	 ODD,	 NO,	     /* d0 */
	X8(M),					     /* d8 */
	X4(I1),	 X4(I1),			     /* e0 */
	IZ,	 IZ,	 ODD,	 I1,		     /* e8 */
	X4(NO),					     /* ec */
	ODD,	 NO,	 ODD,	 ODD,		     /* f0 */
	NO,	 NO,	 M | G3, M | G3,	     /* f4 */
	X4(NO),	 NO,	 NO,	 M,	 M,	     /* f8 */
};

/* 0f, also by VEX and EVEX */
static const uint8_t two_byte[256] = {
	X4(M),	 ODD,	 NO,	 NO,	 NO,				    /* 00 */
	NO,	 NO,	 ODD,	 NO,					    /* 08 */
	ODD,	 M,	 ODD,	 ODD,					    /* 0c */
	X16(M),								    /* 10 */
	X4(M),	 ODD,	 ODD,	 ODD,	 ODD,				    /* 20 */
	X8(M),								    /* 28 */
	X4(NO),	 NO,	 NO,	 ODD,	 NO,				    /* 30 */
	ODD,	 ODD,	 ODD,	 ODD,	 X4(ODD),			    /* 38: escapes */
	X16(M),								    /* 40 */
	X16(M),	 X16(M),						    /* 50 */
	M | I1,	 M | I1, M | I1, M | I1,				    /* 70 */
	M,	 M,	 M,	 NO,					    /* 74 */
	M,	 M,	 ODD,	 ODD,	 X4(M),				    /* 78 */
	X16(IZ),							    /* 80 */
	X16(M),								    /* 90 */
	NO,	 NO,	 NO,	 M,	 M | I1,  M,	  ODD,	  ODD,	    /* a0 */
	NO,	 NO,	 NO,	 M,	 M | I1,  M,	  M,	  M,	    /* a8 */
	X8(M),	 M,	 M,	 M | I1, M,	  X4(M),		    /* b0 */
	M,	 M,	 M | I1, M,	 M | I1,  M | I1, M | I1, M,	    /* c0 */
	X8(NO),								    /* c8 */
	X16(M),	 X16(M),						    /* d0 */
	X8(M),	 M,	 M,	 M,	 M,	  M,	  M,	  M,   ODD, /* f0 */
};

struct cursor {
	const uint8_t *bytes;
	size_t size, at;
	bool is_64, has_66, has_67, has_lock, rex_w, has_rex;
	uint8_t repeat; /* f2 or f3, the last of them */
	uint8_t modrm;	/* where it stands */
};

/* ModRM, SIB and displacement with 32- or 64-bit addresses. 0: too few bytes */
static size_t modrm_len(const struct cursor *cursor)
{
	const uint8_t *modrm = cursor->bytes + cursor->at;
	size_t left = cursor->size - cursor->at;
	unsigned int mod, rm;

	if (!left)
		return 0;
	mod = modrm[0] >> 6;
	rm = modrm[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4 && left < 2)
		return 0;
	if (mod == 1)
		return 2 + (rm == 4);
	if (mod == 2 || (rm == 4 && (modrm[1] & 7) == 5))
		return 5 + (rm == 4);
	return rm == 5 ? 5 : 1 + (rm == 4);
}

/* What stands behind the opcode. False: not known. */
static bool skip_operands(struct cursor *cursor, unsigned int follows)
{
	size_t z = cursor->has_66 && !cursor->rex_w ? 2 : 4;

	if (follows & ODD)
		return false;
	if (follows & M) {
		size_t len = modrm_len(cursor);

		cursor->modrm = (uint8_t)cursor->at;
		/* 16-bit addresses have another ModRM. */
		if (!len || (cursor->has_67 && !cursor->is_64))
			return false;
		if (follows & G3 && !(cursor->bytes[cursor->at] & 0x30))
			cursor->at += cursor->bytes[cursor->at - 1] & 1 ? z : 1;
		cursor->at += len;
	}
	if (follows & I1)
		cursor->at += 1;
	if (follows & I2)
		cursor->at += 2;
	if (follows & IZ)
		cursor->at += z;
	if (follows & IV)
		cursor->at += cursor->rex_w ? 8 : z;
	if (follows & OFF)
		cursor->at += (cursor->is_64 ? 8 : 4) >> cursor->has_67;
	return true;
}

enum prefix { LEGACY = 1, OPERAND_SIZE = 2, ADDRESS_SIZE = 4, REPEAT = 8, LOCK = 16, REX = 32 };

static const uint8_t prefixes[256] = {
	[0x26] = LEGACY,
	[0x2e] = LEGACY,
	[0x36] = LEGACY,
	[0x3e] = LEGACY,
	[0x64] = LEGACY,
	[0x65] = LEGACY,
	[0x66] = LEGACY | OPERAND_SIZE,
	[0x67] = LEGACY | ADDRESS_SIZE,
	[0xf0] = LEGACY | LOCK,
	[0xf2] = LEGACY | REPEAT,
	[0xf3] = LEGACY | REPEAT,
	[0x40 ... 0x4f] = REX,
};

static void skip_prefixes(struct cursor *cursor)
{
	for (; cursor->at < cursor->size; cursor->at++) {
		uint8_t byte = cursor->bytes[cursor->at], prefix = prefixes[byte];

		if (!prefix || (prefix == REX && !cursor->is_64))
			return;
		cursor->has_66 |= !!(prefix & OPERAND_SIZE);
		cursor->has_67 |= !!(prefix & ADDRESS_SIZE);
		if (prefix & REPEAT)
			cursor->repeat = byte;
		cursor->has_lock |= !!(prefix & LOCK);
		/* It counts only right before the opcode. */
		cursor->has_rex = prefix == REX;
		cursor->rex_w = prefix == REX && byte & 8;
	}
}

/* Opcode maps by number: 1 is 0f, 2 is 0f 38, 3 is 0f 3a; 5 and 6 are EVEX only. */
static bool skip_mapped(struct cursor *cursor, unsigned int map)
{
	uint8_t opcode;

	if (cursor->at >= cursor->size)
		return false;
	opcode = cursor->bytes[cursor->at++];
	switch (map) {
	case 1:
		/* Control and debug registers, whatever mod says; SSE4a's extrq and insertq. */
		if ((opcode & 0xfc) == 0x20 && cursor->at < cursor->size && cursor->bytes[cursor->at] < 0xc0)
			return false;
		if ((opcode & 0xfe) == 0x78 && (cursor->has_66 || cursor->repeat))
			return false;
		return skip_operands(cursor, two_byte[opcode]);
	case 3:
		return skip_operands(cursor, M | I1);
	case 2:
	case 5:
	case 6:
		return skip_operands(cursor, M);
	default:
		return false;
	}
}

struct opcodes {
	uint8_t first, last;
};

static bool is_among(const struct opcodes *ranges, size_t cnt, uint8_t opcode)
{
	for (size_t i = 0; i < cnt; i++)
		if (opcode >= ranges[i].first && opcode <= ranges[i].last)
			return true;
	return false;
}

/* Opcodes of map 1 that there are with VEX (but for 77) or EVEX, and of map 5. */
static bool is_vex_opcode(unsigned int map, uint8_t opcode)
{
	static const struct opcodes in_1[] = {{0x10, 0x17}, {0x28, 0x2f}, {0x41, 0x4b}, {0x50, 0x76},
					      {0x7c, 0x7f}, {0x90, 0x93}, {0x98, 0x99}, {0xae, 0xae},
					      {0xc2, 0xc2}, {0xc4, 0xc6}, {0xd0, 0xfe}};
	static const struct opcodes in_5[] = {{0x10, 0x11}, {0x1d, 0x1d}, {0x2a, 0x2a}, {0x2c, 0x2f},
					      {0x51, 0x51}, {0x58, 0x5f}, {0x6e, 0x6e}, {0x78, 0x7e}};

	if (map == 1)
		return is_among(in_1, ARRAY_SIZE(in_1), opcode);
	return map != 5 || is_among(in_5, ARRAY_SIZE(in_5), opcode);
}

/* `payload` bytes behind c5, c4 or 62. */
static bool skip_vex(struct cursor *cursor, unsigned int payload)
{
	unsigned int map = 1;
	bool is_evex = payload == 3;

	if (cursor->size - cursor->at < 2 + payload || cursor->has_66 || cursor->repeat || cursor->has_lock ||
	    cursor->has_rex)
		return false;
	if (payload > 1)
		map = cursor->bytes[cursor->at + 1] & (is_evex ? 7 : 0x1f);
	/* What is reserved in EVEX. */
	if (is_evex && (cursor->bytes[cursor->at + 1] & 0x08 || !(cursor->bytes[cursor->at + 2] & 0x04)))
		return false;
	cursor->at += 1 + payload;
	if (!is_evex && map > 3)
		return false;
	if (!is_vex_opcode(map, cursor->bytes[cursor->at]) && (is_evex || cursor->bytes[cursor->at] != 0x77))
		return false;
	return skip_mapped(cursor, map);
}

static bool skip_opcode(struct cursor *cursor)
{
	uint8_t opcode, next;

	if (cursor->at >= cursor->size)
		return false;
	opcode = cursor->bytes[cursor->at];
	next = cursor->at + 1 < cursor->size ? cursor->bytes[cursor->at + 1] : 0;
	if (opcode == 0x0f) {
		unsigned int map = next == 0x38 ? 2 : next == 0x3a ? 3 : 1;

		cursor->at += map == 1 ? 1 : 2;
		return skip_mapped(cursor, map);
	}
	/* In 32-bit mode these are VEX where they would name a register for an address. */
	if (cursor->is_64 || next >= 0xc0) {
		if (opcode == 0xc5)
			return skip_vex(cursor, 1);
		if (opcode == 0xc4)
			return skip_vex(cursor, 2);
		if (opcode == 0x62)
			return skip_vex(cursor, 3);
	}
	cursor->at++;
	if (opcode == 0x8f && !(next & 0x38))
		return skip_operands(cursor, M);
	/* Groups of which only a part is defined: mov, and xabort and xbegin; test; inc and dec. */
	if ((opcode & 0xfe) == 0xc6 && next & 0x38 && next != 0xf8)
		return false;
	if ((opcode & 0xfe) == 0xf6 && (next & 0x38) == 0x08)
		return false;
	if ((opcode == 0xfe && next & 0x30) || (opcode == 0xff && (next & 0x38) == 0x38))
		return false;
	return skip_operands(cursor, one_byte[opcode]);
}

/* ---- branches ---- */

static enum branch_kind kind_of_0f(uint8_t opcode, uint8_t modrm)
{
	if ((opcode & 0xf0) == 0x80) /* jcc rel32 */
		return BRANCH_COND;
	switch (opcode) {
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return BRANCH_SYSCALL;
	case 0x07: /* sysret */
	case 0x35: /* sysexit */
	case 0xaa: /* rsm */
		return BRANCH_SYSRET;
	case 0x01: /* vmcall; vmlaunch, vmresume */
		if (modrm == 0xc1)
			return BRANCH_SYSCALL;
		return modrm == 0xc2 || modrm == 0xc3 ? BRANCH_SYSRET : BRANCH_NONE;
	default:
		return BRANCH_NONE;
	}
}

static enum branch_kind kind_of(const uint8_t *opcode, size_t size)
{
	uint8_t first = opcode[0], second = size > 1 ? opcode[1] : 0;

	if ((first & 0xf0) == 0x70 || (first & 0xfc) == 0xe0) /* jcc rel8; loop, jrcxz */
		return BRANCH_COND;
	switch (first) {
	case 0x0f:
		return kind_of_0f(second, size > 2 ? opcode[2] : 0);
	case 0xff:			     /* group 5 */
		if ((second & 0x30) == 0x10) /* /2, /3: near, far call */
			return BRANCH_CALL;
		return (second & 0x30) == 0x20 ? BRANCH_JUMP : BRANCH_NONE; /* /4, /5 */
	case 0xe8:
		return BRANCH_CALL;
	case 0xe9:
	case 0xeb:
		return BRANCH_JUMP;
	case 0xc2: /* ret imm16 */
	case 0xca:
	case 0xc3:
	case 0xcb:
		return BRANCH_RETURN;
	case 0xcf: /* iret */
		return BRANCH_SYSRET;
	case 0xcd: /* int n */
	case 0xcc: /* int3, int1 */
	case 0xf1:
		return BRANCH_SYSCALL;
	default:
		return BRANCH_NONE;
	}
}

static int32_t read_rel(const uint8_t *end, bool is_byte)
{
	int32_t rel;

	if (is_byte)
		return (int8_t)end[-1];
	memcpy(&rel, end - 4, sizeof(rel));
	return rel;
}

/* Where it goes. */
static void describe_branch(struct code_insn *insn, const uint8_t *bytes, const uint8_t *opcode)
{
	bool is_conditional = insn->kind == BRANCH_COND;

	insn->direct = opcode[0] == 0xe8 || opcode[0] == 0xe9 || opcode[0] == 0xeb;
	insn->is_near = insn->direct || (opcode[0] & 0xfe) == 0xc2 ||
			(opcode[0] == 0xff && ((opcode[1] & 0x38) == 0x10 || (opcode[1] & 0x38) == 0x20));
	/* Virtual machines and system management. */
	insn->is_odd |= opcode[0] == 0x0f && (opcode[1] == 0x01 || opcode[1] == 0xaa);
	if (!insn->is_odd && (insn->direct || is_conditional))
		insn->rel = read_rel(bytes + insn->len,
				     opcode[0] == 0xeb || (is_conditional && opcode[0] != 0x0f));
}

/* ---- what callers ask ---- */

/* At the opcode, behind all prefixes. */
static struct cursor cursor_at_opcode(const uint8_t *bytes, size_t size, bool is_64)
{
	struct cursor cursor = {
		.bytes = bytes, .size = size < CODE_INSN_MAX ? size : CODE_INSN_MAX, .is_64 = is_64};

	skip_prefixes(&cursor);
	return cursor;
}

void code_insn_decode(struct code_insn *ret_insn, const uint8_t *bytes, size_t size, bool is_64)
{
	struct cursor cursor = cursor_at_opcode(bytes, size, is_64);
	const uint8_t *opcode = bytes + cursor.at;
	struct code_insn insn = {0};

	*ret_insn = insn;
	if (cursor.at == cursor.size)
		return;
	insn.kind = kind_of(opcode, cursor.size - cursor.at);
	if (insn.kind != BRANCH_NONE) {
		/* In 32-bit mode, 16-bit displacements and addresses. */
		insn.is_odd = !is_64 && (cursor.has_66 || cursor.has_67);
		/* In 64-bit mode, it does not shorten displacements (SDM vol. 2, Jcc, CALL, JMP). */
		cursor.has_66 &= !is_64;
	}
	if (!skip_opcode(&cursor) || cursor.at > cursor.size)
		return;
	insn.len = (uint8_t)cursor.at;
	insn.modrm = cursor.modrm;
	if (insn.kind != BRANCH_NONE)
		describe_branch(&insn, bytes, opcode);
	*ret_insn = insn;
}

/* f3 0f ae /4 */
bool code_insn_is_ptwrite(const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_at_opcode(bytes, size, true);
	const uint8_t *opcode = bytes + cursor.at;

	return cursor.at + 3 <= cursor.size && cursor.repeat == 0xf3 && !cursor.has_66 && !cursor.has_lock &&
	       opcode[0] == 0x0f && opcode[1] == 0xae && (opcode[2] & 0x38) == 0x20;
}

/* 0f 22 /3 */
bool code_insn_is_mov_cr3(const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_at_opcode(bytes, size, true);
	const uint8_t *opcode = bytes + cursor.at;

	return cursor.at + 3 <= cursor.size && opcode[0] == 0x0f && opcode[1] == 0x22 &&
	       (opcode[2] & 0x38) == 0x18;
}

/* 0f 01 c2, 0f 01 c3 */
bool code_insn_is_vm_entry(const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_at_opcode(bytes, size, true);
	const uint8_t *opcode = bytes + cursor.at;

	return cursor.at + 3 <= cursor.size && opcode[0] == 0x0f && opcode[1] == 0x01 &&
	       (opcode[2] & 0xfe) == 0xc2;
}
