/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions into the code cache. None of those that the runtime adds changes a flag. (SDM vol. 2, chapter
 * 2.)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "decode/code_insn.h"
#include "translate/offsets.h"

struct emitter {
	uint8_t *at;
	struct region *region; /* where it is */
};

static inline void emit_bytes(struct emitter *emitter, const uint8_t *bytes, unsigned int cnt)
{
	uint8_t *at = emitter->at;

	emitter->at += cnt;
	while (cnt--)
		*at++ = *bytes++;
}

static inline void emit_8(struct emitter *emitter, uint8_t value)
{
	*emitter->at++ = value;
}

static inline void emit_32(struct emitter *emitter, uint32_t value)
{
	__builtin_memcpy(emitter->at, &value, sizeof(value));
	emitter->at += sizeof(value);
}

static inline void emit_64(struct emitter *emitter, uint64_t value)
{
	__builtin_memcpy(emitter->at, &value, sizeof(value));
	emitter->at += sizeof(value);
}

/* As few stores as can be: byte by byte, each would wait for the one before it. */
#define EMIT(emitter, ...)                                               \
	do {                                                             \
		const uint8_t bytes_[] = {__VA_ARGS__};                  \
		__builtin_memcpy((emitter)->at, bytes_, sizeof(bytes_)); \
		(emitter)->at += sizeof(bytes_);                         \
	} while (0)

/* A displacement of 32 bits at `at`, which is the end of its instruction, too. */
static inline uint32_t distance(const uint8_t *at, uint64_t to)
{
	return (uint32_t)(to - ((uintptr_t)at + 4));
}

/* The displacement at `place` leads to what is emitted next. */
static inline void emit_here(const struct emitter *emitter, uint8_t *place)
{
	uint32_t away = distance(place, (uintptr_t)emitter->at);

	__builtin_memcpy(place, &away, sizeof(away));
}

/*
 * A copy of an instruction that ends at `end` where `raw` is from. False: what it addresses
 * relative to rip is out of reach.
 */
static inline bool emit_copy(struct emitter *emitter, const uint8_t *raw, const struct code_insn *insn,
			     uint64_t end)
{
	int32_t displacement;
	int64_t moved;

	emit_bytes(emitter, raw, insn->len);
	if (!insn->modrm || (raw[insn->modrm] & 0xc7) != 5)
		return true;
	__builtin_memcpy(&displacement, raw + insn->modrm + 1, sizeof(displacement));
	moved = (int64_t)(end + (uint64_t)(int64_t)displacement - (uintptr_t)emitter->at);
	displacement = (int32_t)moved;
	__builtin_memcpy(emitter->at - insn->len + insn->modrm + 1, &displacement, sizeof(displacement));
	return moved == displacement;
}

/* mov to and from gs:[field]; of the first eight registers */
static inline void emit_save(struct emitter *emitter, enum register_number reg, uint32_t field)
{
	EMIT(emitter, 0x65, 0x48, 0x89, 0x04 | (uint8_t)(reg << 3), 0x25);
	emit_32(emitter, field);
}

static inline void emit_load(struct emitter *emitter, enum register_number reg, uint32_t field)
{
	EMIT(emitter, 0x65, 0x48, 0x8b, 0x04 | (uint8_t)(reg << 3), 0x25);
	emit_32(emitter, field);
}

/* mov reg, value; of the first eight registers */
static inline void emit_constant(struct emitter *emitter, enum register_number reg, uint64_t value)
{
	EMIT(emitter, 0x48, 0xb8 | (uint8_t)reg);
	emit_64(emitter, value);
}

/* lea rcx, [rcx + value] */
static inline void emit_add(struct emitter *emitter, uint32_t value)
{
	EMIT(emitter, 0x48, 0x8d, 0x89);
	emit_32(emitter, value);
}

/* Whether it needs no more than 31 bits, as in programs that are not position-independent. */
static inline bool is_low(uint64_t guest)
{
	return !(guest >> 31);
}

/* rcx, a target, becomes its distance from `guest`. rax is in use: its negative, unless that is low. */
static inline void emit_distance(struct emitter *emitter, uint64_t guest)
{
	if (is_low(guest)) {
		emit_add(emitter, (uint32_t)-guest);
		return;
	}
	emit_constant(emitter, HOST_RAX, -guest);
	EMIT(emitter, 0x48, 0x8d, 0x0c, 0x01); /* lea rcx, [rcx + rax] */
}

/* And back. */
static inline void emit_distance_back(struct emitter *emitter, uint64_t guest)
{
	if (is_low(guest)) {
		emit_add(emitter, (uint32_t)guest);
		return;
	}
	EMIT(emitter, 0x48, 0xf7, 0xd0);	     /* not rax */
	EMIT(emitter, 0x48, 0x8d, 0x4c, 0x01, 0x01); /* lea rcx, [rcx + rax + 1] */
}

/*
 * push value; needs no register. Returns the displacement that emit_pushed() sets, which adds the value where
 * no control comes; or NULL: it is in the instruction.
 */
static inline uint8_t *emit_push(struct emitter *emitter, uint64_t value)
{
	if (value >> 31) {
		EMIT(emitter, 0xff, 0x35); /* push qword [rip + ...] */
		emit_32(emitter, 0);
		return emitter->at - 4;
	}
	emit_8(emitter, 0x68);
	emit_32(emitter, (uint32_t)value);
	return NULL;
}

static inline void emit_pushed(struct emitter *emitter, uint8_t *place, uint64_t value)
{
	/* The program may have asked for alignment checks. */
	while ((uintptr_t)emitter->at & 7)
		emit_8(emitter, 0x90);
	emit_here(emitter, place);
	emit_64(emitter, value);
}

/* lea rcx, [rip + ...]; returns the displacement, which the caller sets. */
static inline uint8_t *emit_place(struct emitter *emitter)
{
	EMIT(emitter, 0x48, 0x8d, 0x0d);
	emit_32(emitter, 0);
	return emitter->at - 4;
}

/* jmp to anywhere */
static inline void emit_far_jump(struct emitter *emitter, uint64_t to)
{
	/* The program may have asked for alignment checks. */
	while (((uintptr_t)emitter->at + 6) & 7)
		emit_8(emitter, 0x90);
	EMIT(emitter, 0xff, 0x25);
	emit_32(emitter, 0);
	emit_64(emitter, to);
}

/* jmp gs:[field], as bytes in memory 65 ff 24 25, and the field */
enum { LEAVE = 0x2524ff65, LEAVE_SIZE = 8 };

static inline void emit_leave(struct emitter *emitter, uint32_t field)
{
	emit_32(emitter, LEAVE);
	emit_32(emitter, field);
}

static inline bool is_leave(const uint8_t *code)
{
	uint32_t word;

	__builtin_memcpy(&word, code, sizeof(word));
	return word == LEAVE;
}

/* To the entry of the target that rcx has; the program's rcx and rax are in the context. */
enum { LOOK_UP_SIZE = 11 };

static inline void emit_look_up(struct emitter *emitter)
{
	EMIT(emitter, 0x0f, 0xb7, 0xc1);       /* movzx eax, cx */
	EMIT(emitter, 0x65, 0xff, 0x24, 0xc5); /* jmp gs:[rax * 8 + SLOT_TARGETS] */
	emit_32(emitter, SLOT_TARGETS);
}

/* Brings into the processor's cache where a return to `guest` will look, which comes from memory else. */
static inline void emit_fetch(struct emitter *emitter, uint64_t guest)
{
	EMIT(emitter, 0x65, 0x0f, 0x18, 0x0c, 0x25); /* prefetcht0 gs:[SLOT_TARGETS + ...] */
	emit_32(emitter, SLOT_TARGETS + (uint32_t)(guest & (TARGETS - 1)) * 8);
}

/* Says which site has come to the runtime. */
static inline void emit_site(struct emitter *emitter, uint32_t site)
{
	EMIT(emitter, 0x65, 0xc7, 0x04, 0x25); /* mov dword gs:[CTX_SITE], site */
	emit_32(emitter, CTX_SITE);
	emit_32(emitter, site);
}

/*
 * A conditional jump: all of the instruction but its displacement, which is returned and may be changed while
 * others execute it, so that it lies within eight bytes.
 */
enum { PADDING = 0x2e /* a prefix without a meaning */, JCC_SIZE = 6 };

static inline uint8_t *emit_cond(struct emitter *emitter, const uint8_t *opcode, unsigned int cnt)
{
	while (((uintptr_t)emitter->at + cnt) % 8 > 4)
		emit_8(emitter, PADDING);
	emit_bytes(emitter, opcode, cnt);
	emit_32(emitter, 0);
	return emitter->at - 4;
}

/* Of what emit_cond() has made: the opcode it was given. */
static inline const uint8_t *cond_opcode(const uint8_t *code)
{
	while (*code == PADDING)
		code++;
	return code;
}

/*
 * Appends `word` to the ring. rcx is in use, its value in context.rcx. Returns the displacement of a jrcxz,
 * taken where that was the ring's last word, or it is time to tell the time, which is more often where a word
 * stands for the branches of a trace: the caller sets it.
 */
static inline uint8_t *emit_word(struct emitter *emitter, uint32_t word, bool is_of_trace)
{
	emit_load(emitter, HOST_RCX, CTX_POS);
	EMIT(emitter, 0x65, 0xc7, 0x01); /* mov dword gs:[rcx], word */
	emit_32(emitter, word);
	EMIT(emitter, 0x48, 0x8d, 0x49, 0x04); /* lea rcx, [rcx + 4] */
	emit_save(emitter, HOST_RCX, CTX_POS);
	EMIT(emitter, 0x8d, 0x0c, 0xcd, 0, 0, 0, 0); /* lea ecx, [rcx * 8] */
	if (is_of_trace)
		EMIT(emitter, 0x8d, 0x0c, 0x8d, 0, 0, 0, 0); /* lea ecx, [rcx * 4] */
	EMIT(emitter, 0x0f, 0xb7, 0xc9);		     /* movzx ecx, cx */
	EMIT(emitter, 0xe3, 0);
	return emitter->at - 1;
}

/*
 * jmp to; returns the displacement. All of it may be changed while others execute the jump (link.c), so that
 * it lies within eight bytes.
 */
static inline uint8_t *emit_jump(struct emitter *emitter, uint64_t to)
{
	while ((uintptr_t)emitter->at % 8 > 3)
		emit_8(emitter, PADDING);
	emit_8(emitter, 0xe9);
	emit_32(emitter, distance(emitter->at, to));
	return emitter->at - 4;
}
