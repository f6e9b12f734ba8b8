/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions of a block stay as they are, but for branches and for addresses relative to rip.
 *
 *	guest			host
 *	jcc T			jcc stub	...	stub: word, jmp T	(made when it is taken first)
 *	jcc T, taken at once	jncc stub, jmp T	stub: word, jmp to what is behind	(block_turn())
 *	jmp T, backward		word, jmp T
 *	jmp T, forward		jmp T
 *	call T			push the guest's return address, jmp T
 *	... that leads back	word, jmp T	(builder_leads_back())
 *	ret, jmp r, call r	target to rcx, jmp gs:[targets + cx * 8] ... entry of T: is it T? word, jmp T
 *	syscall			to the gate
 */
#include "model/branch.h"
#include "translate/builder.h"

static void read_prefixes(struct builder *builder)
{
	builder->rex = builder->segment = builder->is_narrow = builder->has_66 = builder->has_f3 = 0;
	for (unsigned int i = 0; i < builder->insn.len; i++) {
		uint8_t byte = builder->raw[i];

		builder->opcode = (uint8_t)i;
		if ((byte & 0xf0) == 0x40) {
			builder->rex = byte;
			builder->opcode++;
			return;
		}
		if (byte == 0x64 || byte == 0x65)
			builder->segment = byte;
		else if (byte == 0x67)
			builder->is_narrow = 1;
		else if (byte == 0x66)
			builder->has_66 = 1;
		else if (byte == 0xf3)
			builder->has_f3 = 1;
		else if (byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0xf0 &&
			 byte != 0xf2)
			return;
	}
}

static uint64_t target_of(const struct builder *builder)
{
	return behind(builder) + (uint64_t)(int64_t)builder->insn.rel;
}

/* ---- sites ---- */

static struct site *new_site(struct builder *builder, uint64_t from, uint64_t to)
{
	struct site *site = site_at(shared()->site_cnt++);

	*site = (struct site){.to = to,
			      .block = block_number(builder->block),
			      .from = (uint16_t)(from - builder->block->guest),
			      .conds_before = builder->block->cond_cnt};
	builder->block->site_cnt++;
	return site;
}

/* A jump that makes no word. */
static void emit_on(struct builder *builder, struct site *site)
{
	struct emitter *emitter = &builder->emitter;
	uint64_t away = emit_away(emitter->region, site, REGION_LINK_ON);

	site->jump = (uintptr_t)emit_jump(emitter, away);
	site->away = (uint32_t)(away - emitter->region->start);
	site_link_if_known(site);
}

static void end(struct builder *builder, enum block_end how, uint64_t next)
{
	builder->block->end = (uint8_t)how;
	builder->block->next = next;
	builder->done = true;
}

bool builder_leads_back(const struct builder *builder, uint64_t to)
{
	enum { BLOCKS = 64 };

	for (unsigned int i = 0; i < BLOCKS; i++) {
		const struct block *block = known_find(to);

		if (to == builder->block->guest)
			return true;
		if (!block || block->end != BLOCK_GOES_ON)
			return false;
		to = block->next;
	}
	return true;
}

static void branch_to(struct builder *builder, uint64_t to)
{
	end(builder, BLOCK_BRANCHES, 0);
	emit_branch(&builder->emitter, new_site(builder, builder->pc, to));
}

void builder_go_on(struct builder *builder, uint64_t to)
{
	if (builder_leads_back(builder, to)) {
		branch_to(builder, to);
		return;
	}
	end(builder, BLOCK_GOES_ON, to);
	emit_on(builder, new_site(builder, builder->pc, to));
}

/* ---- instructions ---- */

/* A copy, at another address. */
static enum give_back copy(struct builder *builder)
{
	const struct code_insn *insn = &builder->insn;

	if (builder->is_narrow && insn->modrm && (builder->raw[insn->modrm] & 0xc7) == 5)
		return GIVE_UNKNOWN;
	return emit_copy(&builder->emitter, builder->raw, insn, behind(builder)) ? GIVE_NOTHING : GIVE_REACH;
}

static enum give_back translate_cond(struct builder *builder)
{
	struct emitter *emitter = &builder->emitter;
	uint8_t opcode = builder->raw[builder->opcode];
	struct site *site = new_site(builder, builder->pc, target_of(builder));
	uint8_t code[6];
	struct emitter scratch = {.at = code};

	site->is_jcc = (opcode & 0xfc) != 0xe0;
	if (site->is_jcc) {
		uint8_t condition = opcode == 0x0f ? builder->raw[builder->opcode + 1] : opcode;

		EMIT(&scratch, 0x0f, 0x80 | (condition & 0xf));
	} else {
		/* loop, jrcxz: +2 over a jump over the jump to the stub */
		if (builder->is_narrow)
			emit_8(&scratch, 0x67);
		EMIT(&scratch, opcode, 2, 0xeb, 5, 0xe9);
	}
	emit_bare(emitter, site, code, (unsigned int)(scratch.at - code));
	builder->block->cond_cnt++;
	return GIVE_NOTHING;
}

/* call, jmp */
static enum give_back translate_direct(struct builder *builder)
{
	struct emitter *emitter = &builder->emitter;
	uint64_t to = target_of(builder);

	if (builder->insn.kind == BRANCH_CALL) {
		emit_fetch(emitter, behind(builder));
		builder->push = emit_push(emitter, behind(builder));
	}
	if (to <= builder->pc && builder->insn.kind != BRANCH_CALL)
		branch_to(builder, to);
	else
		builder_go_on(builder, to);
	return GIVE_NOTHING;
}

static void emit_saves(struct builder *builder)
{
	emit_save(&builder->emitter, HOST_RCX, CTX_RCX);
	emit_save(&builder->emitter, HOST_RAX, CTX_RAX);
}

static enum give_back translate_return(struct builder *builder)
{
	struct emitter *emitter = &builder->emitter;
	const uint8_t *opcode = builder->raw + builder->opcode;

	emit_saves(builder);
	emit_8(emitter, 0x59); /* pop rcx */
	if (*opcode == 0xc2) {
		EMIT(emitter, 0x48, 0x8d, 0xa4, 0x24, opcode[1], opcode[2], 0,
		     0); /* lea rsp, [rsp + imm16] */
	}
	emit_look_up(emitter);
	end(builder, BLOCK_INDIRECT, 0);
	return GIVE_NOTHING;
}

/* call, jmp through a register or memory: mov rcx, what it has */
static enum give_back translate_indirect(struct builder *builder)
{
	struct emitter *emitter = &builder->emitter;
	const uint8_t *raw = builder->raw;
	unsigned int modrm = builder->insn.modrm;
	uint8_t load[CODE_INSN_MAX + 2];
	struct emitter scratch = {.at = load};
	struct code_insn insn = {0};

	if (builder->is_narrow && (raw[modrm] & 0xc7) == 5)
		return GIVE_UNKNOWN;
	if (builder->segment)
		emit_8(&scratch, builder->segment);
	if (builder->is_narrow)
		emit_8(&scratch, 0x67);
	EMIT(&scratch, 0x48 | (builder->rex & 0x3), 0x8b);
	insn.modrm = (uint8_t)(scratch.at - load);
	emit_8(&scratch, (raw[modrm] & 0xc7) | HOST_RCX << 3);
	emit_bytes(&scratch, raw + modrm + 1, builder->insn.len - modrm - 1);
	insn.len = (uint8_t)(scratch.at - load);
	emit_saves(builder);
	if (!emit_copy(emitter, load, &insn, behind(builder)))
		return GIVE_REACH;
	if (builder->insn.kind == BRANCH_CALL) {
		emit_fetch(emitter, behind(builder));
		emit_constant(emitter, HOST_RAX, behind(builder));
		emit_8(emitter, 0x50); /* push rax */
	}
	emit_look_up(emitter);
	end(builder, BLOCK_INDIRECT, 0);
	return GIVE_NOTHING;
}

/* Behind it the cache goes on as after a jump. */
static enum give_back translate_syscall(struct builder *builder)
{
	struct emitter *emitter = &builder->emitter;
	uint8_t *resume;

	emit_constant(emitter, HOST_RCX, behind(builder));
	EMIT(emitter, 0x4c, 0x8d, 0x1d); /* lea r11, [rip + ...] */
	resume = emitter->at;
	emit_32(emitter, 0);
	emit_leave(emitter, CTX_GATE);
	emit_here(emitter, resume);
	end(builder, BLOCK_SYSCALL, behind(builder));
	emit_on(builder, new_site(builder, builder->pc, behind(builder)));
	return GIVE_NOTHING;
}

/* The program's own: it raises a signal, as if it stood where it stands. */
static enum give_back translate_break(struct builder *builder)
{
	emit_bytes(&builder->emitter, builder->raw, builder->insn.len);
	end(builder, BLOCK_BREAK, behind(builder));
	emit_on(builder, new_site(builder, builder->pc, behind(builder)));
	return GIVE_NOTHING;
}

/* What reads or writes gs, or jumps where copies cannot. */
static bool is_foreign(const struct builder *builder)
{
	const uint8_t *opcode = builder->raw + builder->opcode;
	uint8_t next = builder->opcode + 1u < builder->insn.len ? opcode[1] : 0;

	if (builder->segment == 0x65)
		return true;
	if (opcode[0] == 0x8e && (next & 0x38) == 0x28) /* mov gs, */
		return true;
	if (opcode[0] == 0xc7 && next == 0xf8) /* xbegin */
		return true;
	if (opcode[0] != 0x0f || builder->insn.len < builder->opcode + 3u)
		return opcode[0] == 0x0f && (next == 0xa9 || next == 0x05 || next == 0xa1); /* pop gs, fs */
	if (next == 0xb5)								    /* lgs */
		return true;
	/* rdgsbase, wrgsbase */
	return next == 0xae && builder->has_f3 && (opcode[2] & 0xe8) == 0xc8;
}

/* Of 16 bits, unless the processor is Intel's. */
static bool is_short_branch(const struct builder *builder)
{
	return builder->has_66 && !(builder->rex & 8) && builder->insn.kind != BRANCH_NONE;
}

enum give_back builder_translate(struct builder *builder)
{
	const struct code_insn *insn = &builder->insn;
	const uint8_t *opcode;

	read_prefixes(builder);
	opcode = builder->raw + builder->opcode;
	if (insn->kind == BRANCH_SYSCALL) {
		if (opcode[0] == 0x0f && opcode[1] == 0x05)
			return translate_syscall(builder);
		return opcode[0] == 0xcc || (opcode[0] == 0xcd && opcode[1] == 3) ? translate_break(builder)
										  : GIVE_UNKNOWN;
	}
	if (insn->is_odd || is_foreign(builder) || is_short_branch(builder))
		return GIVE_UNKNOWN;
	switch (insn->kind) {
	case BRANCH_NONE:
		return copy(builder);
	case BRANCH_COND:
		return translate_cond(builder);
	case BRANCH_JUMP:
	case BRANCH_CALL:
		if (!insn->is_near)
			return GIVE_UNKNOWN;
		return insn->direct ? translate_direct(builder) : translate_indirect(builder);
	case BRANCH_RETURN:
		return insn->is_near ? translate_return(builder) : GIVE_UNKNOWN;
	default:
		return GIVE_UNKNOWN;
	}
}
