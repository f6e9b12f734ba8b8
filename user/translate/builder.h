/* SPDX-License-Identifier: BSD-2-Clause */
/* A block under construction (block.c), and its instructions (insn.c). */
#pragma once

#include "translate/emit.h"
#include "translate/runtime.h"

enum { INSNS_MAX = 48 };

struct builder {
	struct emitter emitter;
	struct block *block;
	uint64_t pc;		   /* guest address of the instruction at hand */
	const uint8_t *raw;	   /* its bytes */
	const struct range *range; /* of its memory, if its code may change or is in no file; NULL: neither */
	uint64_t limit;		   /* what is behind it is of another kind */
	uint32_t kept;		   /* bytes of code that are kept so far */
	struct code_insn insn;
	uint8_t opcode;		    /* offset of its opcode, behind prefixes */
	uint8_t rex;		    /* 0: none */
	uint8_t segment, is_narrow; /* prefixes: 64 or 65, or 0; 67 */
	uint8_t has_66, has_f3;
	uint64_t nop;  /* number of the probe before it, + 1; 0: there is none */
	uint8_t *push; /* of its last instruction; NULL: none that emit_pushed() is for */
	bool done;
};

/* Of the instruction at hand: guest address of the next one. */
static inline uint64_t behind(const struct builder *builder)
{
	return builder->pc + builder->insn.len;
}

/* Appends code in place of the instruction at hand. 0, or why that cannot be done. */
enum give_back builder_translate(struct builder *builder);

/*
 * Whether the way from `to` on that makes no word leads to the block. With none on a way around, nobody could
 * tell how often it was gone. (Or it is too long to say.)
 */
bool builder_leads_back(const struct builder *builder, uint64_t to);

/* The block ends here, to go on at `to`: without a word, unless that leads back. */
void builder_go_on(struct builder *builder, uint64_t to);
