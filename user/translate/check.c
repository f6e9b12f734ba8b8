/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that may change unnoticed is compared with what it was translated from each time before it is
 * executed. A block of such code ends behind each instruction that may write to code, so that what is
 * executed is what stands there then. No comparison here may change a flag:
 *
 *	code ...	fail: mov ecx, number	jmp to the runtime
 *			host: save rcx, rax
 *			      mov rax, [guest]	mov rcx, -what it was
 *			      lea rcx, [rcx + rax]	jrcxz +5   jmp fail
 *			      ... the next 8, 4, 2 bytes or one, aligned ...
 *			      restore both	jmp code
 */
#include "translate/emit.h"
#include "translate/runtime.h"

enum { RSP = 4, RBP = 5 };

/* Bytes of the code as one number. */
static uint64_t number_of(const uint8_t *bytes, unsigned int width)
{
	uint64_t number = 0;

	__builtin_memcpy(&number, bytes, width);
	return number;
}

/* mov rax, [addr]; of 8, 4, 2 or 1 bytes */
static void emit_read(struct emitter *emitter, uint64_t addr, unsigned int width)
{
	if (width >= 4) {
		if (width == 8)
			emit_8(emitter, 0x48);
		emit_8(emitter, 0xa1);
		emit_64(emitter, addr);
		return;
	}
	emit_constant(emitter, HOST_RCX, addr);
	EMIT(emitter, 0x0f, width == 2 ? 0xb7 : 0xb6, 0x01); /* movzx eax, [rcx] */
}

static void emit_compare(struct emitter *emitter, uint64_t guest, const uint8_t *was, unsigned int width,
			 uint64_t fail)
{
	emit_read(emitter, guest, width);
	emit_constant(emitter, HOST_RCX, -number_of(was, width));
	EMIT(emitter, 0x48, 0x8d, 0x0c, 0x01); /* lea rcx, [rcx + rax] */
	EMIT(emitter, 0xe3, 5);
	emit_8(emitter, 0xe9);
	emit_32(emitter, distance(emitter->at, fail));
}

void emit_checks(struct emitter *emitter, struct block *block)
{
	const unsigned int size = (unsigned int)(block->guest_end - block->guest);
	const uint8_t *was = code_of(block);
	uint64_t code = block->host, fail = (uintptr_t)emitter->at;

	emit_8(emitter, 0xb9); /* mov ecx, */
	emit_32(emitter, block_number(block));
	emit_leave(emitter, CTX_STALE);
	block->host = (uintptr_t)emitter->at;
	block->check_off = (uint16_t)(block->host - code);
	emit_save(emitter, HOST_RCX, CTX_RCX);
	emit_save(emitter, HOST_RAX, CTX_RAX);
	for (unsigned int at = 0, width; at < size; at += width) {
		/* The program may have asked for alignment checks. */
		for (width = 8; width > size - at || (block->guest + at) % width; width /= 2)
			;
		emit_compare(emitter, block->guest + at, was + at, width, fail);
	}
	emit_load(emitter, HOST_RCX, CTX_RCX);
	emit_load(emitter, HOST_RAX, CTX_RAX);
	emit_8(emitter, 0xe9);
	emit_32(emitter, distance(emitter->at, code));
}

/* ---- what may write to code ---- */

/* Whether the instruction with that opcode only reads its operand in memory; `reg`: of its ModRM byte. */
static bool only_reads(uint8_t opcode, uint8_t reg)
{
	if (opcode < 0x40)
		return opcode & 2 || (opcode & 0xf8) == 0x38;
	switch (opcode) {
	case 0x63: /* movsxd */
	case 0x69: /* imul */
	case 0x6b:
	case 0x84: /* test */
	case 0x85:
	case 0x8a: /* mov */
	case 0x8b:
	case 0x8d: /* lea */
		return true;
	case 0x80: /* cmp */
	case 0x81:
	case 0x83:
		return reg == 7;
	case 0xf6: /* test, mul, imul, div, idiv */
	case 0xf7:
		return reg < 2 || reg > 3;
	case 0xff: /* call, jmp, push */
		return reg >= 2;
	default:
		return false;
	}
}

/* The same of those behind 0f: of vectors, too. */
static bool only_reads_0f(uint8_t opcode)
{
	switch (opcode) {
	case 0x10:
	case 0x12:
	case 0x14:
	case 0x15:
	case 0x16:
	case 0x18: /* prefetch, nop */
	case 0x1e:
	case 0x1f:
	case 0x28:
	case 0x2a:
	case 0x2c:
	case 0x2d:
	case 0x2e:
	case 0x2f:
	case 0xa3: /* bt */
	case 0xaf: /* imul */
	case 0xb6: /* movzx, popcnt, bsf, movsx */
	case 0xb7:
	case 0xb8:
	case 0xbc:
	case 0xbd:
	case 0xbe:
	case 0xbf:
	case 0xc2:
	case 0xc4:
	case 0xc6:
		return true;
	default:
		return (opcode >= 0x40 && opcode < 0x77) ||
		       (opcode >= 0xd0 && opcode != 0xd6 && opcode != 0xe7 && opcode != 0xf7);
	}
}

bool may_write_code(const uint8_t *raw, const struct code_insn *insn, unsigned int opcode)
{
	enum { VEX_2 = 0xc5, VEX_3 = 0xc4, EVEX = 0x62 };
	uint8_t modrm = raw[insn->modrm], mod = modrm >> 6, rm = modrm & 7, reg = modrm >> 3 & 7;
	bool is_extended = opcode && (raw[opcode - 1] & 0xf1) == 0x41; /* REX.B: r12, r13 */

	if (!insn->modrm)
		/* ins, mov to an address, movs, stos */
		return (raw[opcode] & 0xfe) == 0x6c || (raw[opcode] & 0xfe) == 0xa2 ||
		       (raw[opcode] & 0xfe) == 0xa4 || (raw[opcode] & 0xfe) == 0xaa;
	if (mod == 3)
		return false;
	/* On the stack. (Of longer prefixes it is not known which register it is.) */
	if (!is_extended && raw[opcode] != VEX_3 && raw[opcode] != EVEX &&
	    ((rm == RSP && (raw[insn->modrm + 1] & 7) == RSP) || (rm == RBP && mod)))
		return false;
	if (raw[opcode] == VEX_2)
		return !only_reads_0f(raw[insn->modrm - 1]);
	if (raw[opcode] == 0x0f)
		return insn->modrm != opcode + 2 || !only_reads_0f(raw[opcode + 1]);
	return insn->modrm != opcode + 1 || !only_reads(raw[opcode], reg);
}
