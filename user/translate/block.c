/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One block of the program is copied into the cache, up to the first jump that is always taken: conditional
 * jumps that are not taken cost nothing. What becomes of each instruction is in insn.c.
 *
 * Code that may change unnoticed is looked at before each time that it is executed (check.c).
 */
#include "decode/code_insn.h"
#include "model/branch.h"
#include "translate/builder.h"

/* ---- probes and times ---- */

/* To where the time is told. rcx is in use. Returns the displacement of where that goes on. */
static uint8_t *emit_leave_to_stamp(struct emitter *emitter, uint64_t guest)
{
	uint8_t *place;

	emit_constant(emitter, HOST_RCX, guest);
	emit_save(emitter, HOST_RCX, CTX_STAMP_GUEST);
	place = emit_place(emitter);
	emit_leave(emitter, CTX_STAMP);
	return place;
}

/* Tells the time to the ring, before the instruction. */
static void emit_stamp(struct builder *builder)
{
	struct emitter *emitter = &builder->emitter;

	builder->block->tells_time = 1;
	emit_save(emitter, HOST_RCX, CTX_RCX);
	emit_here(emitter, emit_leave_to_stamp(emitter, builder->pc));
}

/* Behind each word: to `end`, if it was the ring's last one. */
static void emit_next_word(struct emitter *emitter, const uint8_t *end)
{
	EMIT(emitter, 0x48, 0x8d, 0x49, 0x04); /* lea rcx, [rcx + 4] */
	EMIT(emitter, 0xe3, (uint8_t)(end - (emitter->at + 2)));
}

/*
 * The same for a call or a return, of which there are many: in place, without a jump that the processor would
 * have to guess the target of. Where the ring ends, nothing is told yet, and it is done once more where the
 * ring begins.
 */
static void emit_call_stamp(struct builder *builder)
{
	enum { SIZE = 52 };
	struct emitter *emitter = &builder->emitter;
	struct emitter away = {.at = (uint8_t *)(emitter->region->end -= SIZE)};
	const struct emitter begin = *emitter;
	uint32_t tag = builder->insn.kind == BRANCH_CALL && builder->insn.direct ? RING_CALL : RING_TIME;
	const uint8_t *end;

	builder->block->tells_time = 1;
	emit_save(emitter, HOST_RCX, CTX_RCX);
	emit_save(emitter, HOST_RAX, CTX_RAX);
	emit_save(emitter, HOST_RDX, CTX_RDX);
	EMIT(emitter, 0xeb, 5); /* jmp over the next one */
	end = emitter->at;
	emit_8(emitter, 0xe9); /* jmp */
	emit_32(emitter, distance(emitter->at, (uintptr_t)away.at));
	emit_load(emitter, HOST_RCX, CTX_POS);
	EMIT(emitter, 0x0f, 0x31, 0x65, 0x89, 0x01); /* rdtsc; mov gs:[rcx], eax */
	emit_next_word(emitter, end);
	EMIT(emitter, 0x65, 0x89, 0x11); /* mov gs:[rcx], edx */
	emit_next_word(emitter, end);
	EMIT(emitter, 0x65, 0xc7, 0x01); /* mov dword gs:[rcx], tag */
	emit_32(emitter, tag);
	emit_next_word(emitter, end);
	emit_save(emitter, HOST_RCX, CTX_POS);
	emit_load(emitter, HOST_RDX, CTX_RDX);
	emit_load(emitter, HOST_RAX, CTX_RAX);
	emit_load(emitter, HOST_RCX, CTX_RCX);
	emit_load(&away, HOST_RDX, CTX_RDX);
	emit_load(&away, HOST_RAX, CTX_RAX);
	emit_here(&begin, emit_leave_to_stamp(&away, builder->pc));
}

static bool wants_time(const struct builder *builder)
{
	return shared()->times_calls &&
	       (builder->insn.kind == BRANCH_CALL || builder->insn.kind == BRANCH_RETURN);
}

/*
 * To the probe's nop, with the program's own registers. Where the file is mapped twice, only one of both
 * places can be behind it.
 */
static void emit_probe(struct builder *builder)
{
	uint64_t probe = builder->nop - 1;

	if (*guest_of(probe) && *guest_of(probe) != builder->pc) {
		shared()->missed++;
		builder->nop = 0;
		return;
	}
	emit_stamp(builder);
	emit_far_jump(&builder->emitter, NOPS_AT + probe * NOP_SIZE);
}

/* ---- blocks ---- */

static bool is_checked(const struct builder *builder)
{
	return builder->range && builder->range->is_checked;
}

/* What is kept is what is translated, even if it changes meanwhile. */
static const uint8_t *bytes_of_insn(struct builder *builder, size_t size)
{
	uint8_t *copy = code_of(builder->block) + builder->kept;

	if (!builder->range)
		return (const uint8_t *)builder->pc;
	__builtin_memcpy(copy, (const uint8_t *)builder->pc, size);
	return copy;
}

/* Code may end with its page. False: trailcam is gone, and only it knows the byte under a breakpoint. */
static bool read_insn(struct context *context, struct builder *builder)
{
	size_t room = 4096 - (builder->pc & 4095), size = room < CODE_INSN_MAX ? room : CODE_INSN_MAX;

	context->reading = builder->pc;
	__atomic_store_n(&context->is_reading, 1, __ATOMIC_RELEASE);
	builder->raw = bytes_of_insn(builder, size);
	builder->nop = 0;
	/* Probes stand in files only. */
	if (builder->raw[0] == 0xcc && !is_checked(builder)) {
		__atomic_store_n(&context->is_reading, 0, __ATOMIC_RELEASE);
		if (!ask_original(context, builder->pc))
			return false;
		builder->raw = context->original;
		if (builder->range)
			__builtin_memcpy(code_of(builder->block) + builder->kept, context->original,
					 CODE_INSN_MAX);
		builder->nop = context->nop;
		size = room = CODE_INSN_MAX;
	}
	code_insn_decode(&builder->insn, builder->raw, size, true);
	/* If there is no more, the processor says what is wrong. */
	if (!builder->insn.len && room < CODE_INSN_MAX && is_readable(builder->pc + room)) {
		builder->raw = bytes_of_insn(builder, CODE_INSN_MAX);
		code_insn_decode(&builder->insn, builder->raw, CODE_INSN_MAX, true);
	}
	__atomic_store_n(&context->is_reading, 0, __ATOMIC_RELEASE);
	return true;
}

/* Code of the cache in place of the instruction. Nothing is left of it where that fails. */
static enum give_back add_insn(struct builder *builder)
{
	uint8_t *at = builder->emitter.at;
	struct block *block = builder->block;
	uint16_t sites = block->site_cnt;
	uint64_t resume;
	enum give_back problem = builder->insn.len ? GIVE_NOTHING : GIVE_UNKNOWN;

	if (!problem && builder->nop)
		emit_probe(builder);
	resume = (uintptr_t)builder->emitter.at;
	if (!problem && wants_time(builder))
		emit_call_stamp(builder);
	if (!problem)
		problem = builder_translate(builder);
	if (problem) {
		shared()->site_cnt -= block->site_cnt - sites;
		block->site_cnt = sites;
		builder->emitter.at = at;
		return problem;
	}
	if (builder->nop) {
		block->has_probe = 1;
		*resume_of(builder->nop - 1) = resume;
		*guest_of(builder->nop - 1) = builder->pc;
	}
	*length_at(shared()->length_cnt++) =
		(struct length){builder->insn.len, (uint8_t)(builder->emitter.at - at)};
	block->length_cnt++;
	block->last_kind = builder->insn.kind;
	builder->kept += builder->insn.len;
	builder->pc = behind(builder);
	return GIVE_NOTHING;
}

/* Whether the block ends here, to go on as another one. */
static bool is_enough(const struct builder *builder)
{
	const struct block *block = builder->block;

	if (!block->length_cnt)
		return false;
	return block->length_cnt == INSNS_MAX || builder->pc >= builder->limit || known_find(builder->pc) ||
	       (is_checked(builder) && may_write_code(builder->raw, &builder->insn, builder->opcode));
}

static enum give_back build(struct context *context, struct builder *builder)
{
	while (!builder->done) {
		enum give_back problem;

		if (is_enough(builder)) {
			builder_go_on(builder, builder->pc);
			break;
		}
		problem = read_insn(context, builder) ? add_insn(builder) : leaving();
		if (problem && !builder->block->length_cnt)
			return problem;
		if (problem)
			builder_go_on(builder, builder->pc);
	}
	if (builder->push)
		emit_pushed(&builder->emitter, builder->push, builder->pc);
	return GIVE_NOTHING;
}

/* Code that is in no file is kept, and looked at again if it may change. */
static void look_at_memory(struct builder *builder, uint64_t guest)
{
	const struct range *range = range_behind(guest);

	builder->limit = range ? range->start : UINT64_MAX;
	if (!range || range->start > guest)
		return;
	builder->range = range;
	builder->limit = range->end;
	builder->block->is_kept = 1;
}

static void finish(struct builder *builder)
{
	struct block *block = builder->block;

	block->guest_end = builder->pc;
	if (is_checked(builder))
		emit_checks(&builder->emitter, block);
	if (builder->range)
		shared()->byte_cnt += (uint32_t)sizeof(uint64_t) + builder->kept;
	block->host_end = (uintptr_t)builder->emitter.at;
	shared()->block_cnt++;
	cache_add(block);
}

/*
 * Natively a thread faults at what may not be executed.
 * *ret_end: where what may be ends.
 */
static enum give_back look_at_place(struct context *context, uint64_t guest, uint64_t *ret_end)
{
	if (executable_find(guest, ret_end))
		return GIVE_NOTHING;
	if (!ask_executable(context, guest))
		return leaving();
	*ret_end = context->executable_end;
	if (*ret_end) {
		executable_note(context->executable_start, *ret_end);
		/* It was there at first, or no call has told: a stack has grown, data may be executed. */
		if (context->executable_changes)
			range_mark(context->executable_start, *ret_end, RANGE_CHECKED);
		return GIVE_NOTHING;
	}
	fault_at(context, guest);
	return GIVE_UNMAPPED;
}

enum give_back block_translate(struct context *context, uint64_t guest, bool is_indirect,
			       struct block **ret_block)
{
	struct shared *all = shared();
	struct region *region;
	struct block *block;
	struct builder builder = {.pc = guest};
	enum give_back problem;
	uint64_t end;

	if (is_kernel_code(guest))
		return GIVE_VSYSCALL;
	problem = look_at_place(context, guest, &end);
	if (problem)
		return problem;
	region = cache_room(guest);
	if (!region)
		return GIVE_MEMORY;
	builder.block = block = block_at(all->block_cnt);
	*block = (struct block){.guest = guest,
				.first_length = all->length_cnt,
				.first_site = all->site_cnt,
				.first_byte = all->byte_cnt,
				.generation = all->generation};
	context->going = guest;
	builder.emitter = (struct emitter){.at = (uint8_t *)region->at, .region = region};
	if (is_indirect)
		emit_entry(&builder.emitter, block);
	block->host = (uintptr_t)builder.emitter.at;
	look_at_memory(&builder, guest);
	builder.limit = end < builder.limit ? end : builder.limit;
	if (block->is_kept)
		*ended_at(block) = 0;
	problem = build(context, &builder);
	if (problem)
		return problem;
	finish(&builder);
	region->at = block->host_end;
	if (is_indirect)
		block_use_entry(block);
	*ret_block = block;
	return GIVE_NOTHING;
}

/* ---- blocks that are executed for the first time ---- */

unsigned int block_insns_before(const struct block *block, uint64_t guest)
{
	uint64_t at = block->guest;
	unsigned int cnt = 0;

	for (; cnt < block->length_cnt && at < guest; cnt++)
		at += length_at(block->first_length + cnt)->guest;
	return cnt;
}

/*
 * Whether the thread is in it for the first time, and no other one can be: without a word it cannot have come
 * there again.
 */
static bool is_fresh(const struct context *context, const struct block *block)
{
	const struct shared *all = shared();

	return context->fresh == block_number(block) + 1 && context->fresh_end == bytes_written(context) &&
	       all->block_cnt == context->fresh && all->site_cnt == block->first_site + block->site_cnt &&
	       region_of(block->host)->at == block->host_end && !all->has_threads && !all->ran_before;
}

/* The block ends with the jump of the site, before `guest`, the last one of so many instructions. */
static void cut(struct block *block, struct site *site, uint64_t guest, unsigned int insns)
{
	struct shared *all = shared();
	uint32_t next = site_number(site) + 1;

	for (uint32_t i = next; i != all->site_cnt; i++)
		site_remove(site_at(i));
	all->site_cnt = next;
	all->length_cnt = block->first_length + insns;
	block->site_cnt = block->cond_cnt = (uint16_t)(next - block->first_site);
	block->length_cnt = (uint16_t)insns;
	block->last_kind = BRANCH_COND;
	block->guest_end = guest;
}

bool block_turn(struct context *context, struct site *site)
{
	struct block *block = block_at(site->block);
	struct region *region = region_of(block->host);
	uint8_t *jump = (uint8_t *)site->jump;
	uint64_t guest = block->guest + site->from;
	unsigned int before = block_insns_before(block, guest);
	struct builder builder = {.emitter = {.at = jump + 4, .region = region}, .block = block};

	builder.pc = guest + length_at(block->first_length + before)->guest;
	if (!is_fresh(context, block) || !site->is_jcc || block->is_kept || block->has_probe ||
	    site->to <= builder.pc || builder_leads_back(&builder, site->to))
		return false;
	cut(block, site, builder.pc, before + 1);
	block->is_turned = 1;
	jump[-1] ^= 1; /* the opposite condition */
	region->end = cond_target(site->jump);
	context->site = shared()->site_cnt;
	builder_go_on(&builder, site->to);
	site->to = builder.pc;
	block->host_end = region->at = (uintptr_t)builder.emitter.at;
	return true;
}
