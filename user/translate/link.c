/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jumps between blocks: those of sites, which each block knows that they lead to, and entries for indirect
 * branches. What is taken back leads to the runtime.
 *
 * Most blocks are translated when a branch comes to them. Then the stub of that branch, or the entry, stands
 * right before the block, and its jump is a nop: a compiler has more jumps than the processor predicts well.
 */
#include "translate/emit.h"
#include "translate/runtime.h"

static bool fits(int64_t value)
{
	return value == (int32_t)value;
}

uint64_t cond_target(uint64_t jump)
{
	const int32_t *away = (const int32_t *)jump;

	return jump + 4 + (uint64_t)(int64_t)*away;
}

static void set_cond(uint64_t jump, uint64_t to)
{
	__atomic_store_n((uint32_t *)jump, distance((const uint8_t *)jump, to), __ATOMIC_RELEASE);
}

/* ---- jumps of five bytes (emit_jump()): jmp, or a nop if they lead to what is right behind them ---- */

enum { JUMP = 0xe9, NOP = 0x441f0f /* nop [rax + rax + 0] */ };

/* The eight bytes that have all of the jump, and by how many bits it is shifted there. */
static uint64_t *word_of(uint64_t jump, unsigned int *ret_shift)
{
	*ret_shift = (unsigned int)(jump - 1) % 8 * 8;
	return (uint64_t *)((jump - 1) & ~7ull);
}

static void set_jump(uint64_t jump, uint64_t to)
{
	const uint64_t bytes = (1ull << 40) - 1,
		       code = to == jump + 4 ? NOP
					     : (uint64_t)distance((const uint8_t *)jump, to) << 8 | JUMP;
	unsigned int shift;
	uint64_t *word = word_of(jump, &shift);

	__atomic_store_n(word, (*word & ~(bytes << shift)) | code << shift, __ATOMIC_RELEASE);
}

uint64_t jump_target(uint64_t jump)
{
	unsigned int shift;
	const uint64_t *word = word_of(jump, &shift), code = __atomic_load_n(word, __ATOMIC_ACQUIRE) >> shift;

	return jump + 4 + ((code & 0xff) == JUMP ? (uint64_t)(int64_t)(int32_t)(code >> 8) : 0);
}

static bool reaches(uint64_t jump, uint64_t to)
{
	return fits((int64_t)(to - (jump + 4)));
}

/* ---- sites ---- */

/* A displacement of eight bits at `place`, which ends its instruction. */
static void set_short(uint8_t *place, const uint8_t *to)
{
	*place = (uint8_t)(to - (place + 1));
}

/* Returns what emit_word() does. */
static uint8_t *emit_word_and_jump(struct emitter *emitter, struct site *site)
{
	uint8_t *wrap;

	emit_save(emitter, HOST_RCX, CTX_RCX);
	wrap = emit_word(emitter, site_number(site), block_at(site->block)->is_trace);
	emit_load(emitter, HOST_RCX, CTX_RCX);
	site->jump = (uintptr_t)emit_jump(emitter, emitter->region->start);
	return wrap;
}

void emit_branch(struct emitter *emitter, struct site *site)
{
	uint8_t *wrap = emit_word_and_jump(emitter, site);

	set_short(wrap, emitter->at);
	emit_leave(emitter, CTX_WRAP);
	site_link_if_known(site);
}

uint64_t emit_away(struct region *region, const struct site *site, uint32_t to)
{
	enum { SIZE = 17 };
	struct emitter away = {.at = (uint8_t *)(region->end -= SIZE)};

	emit_site(&away, site_number(site));
	emit_8(&away, 0xe9); /* jmp */
	emit_32(&away, distance(away.at, region->start + to));
	return region->end;
}

void emit_bare(struct emitter *emitter, struct site *site, const uint8_t *opcode, unsigned int cnt)
{
	uint8_t *jump = emit_cond(emitter, opcode, cnt);

	set_cond((uintptr_t)jump, emit_away(emitter->region, site, REGION_TAKEN));
	site->jump = (uintptr_t)jump;
	site->has_no_stub = 1;
}

void site_make_stub(struct site *site)
{
	struct region *region = cache_room(site->jump);
	struct emitter emitter;
	uint64_t jump = site->jump, leave;

	if (!region || !site_is_current(site))
		return;
	emitter = (struct emitter){.at = (uint8_t *)region->at, .region = region};
	site->has_no_stub = 0;
	leave = region->at;
	emit_leave(&emitter, CTX_WRAP);
	set_short(emit_word_and_jump(&emitter, site), (const uint8_t *)leave);
	site_link_if_known(site);
	set_cond(jump, leave + LEAVE_SIZE);
	region->at = (uintptr_t)emitter.at;
}

uint64_t block_host(const struct block *block)
{
	return block->trace ? block_at(block->trace - 1)->host : block->host;
}

/* Where a jump to the block goes, which is in reach: to its trace, if that is, too. */
static uint64_t host_from(uint64_t jump, const struct block *block)
{
	return reaches(jump, block_host(block)) ? block_host(block) : block->host;
}

void site_link(struct site *site, struct block *block)
{
	if (site->is_linked || site->has_no_stub || !reaches(site->jump, block->host))
		return;
	site->is_linked = 1;
	site->next = block->incoming;
	block->incoming = site_number(site) + 1;
	set_jump(site->jump, host_from(site->jump, block));
}

void site_remove(struct site *site)
{
	struct block *block = site->is_linked ? known_find(site->to) : NULL;
	uint32_t *link = block ? &block->incoming : NULL;

	while (link && *link != site_number(site) + 1)
		link = &site_at(*link - 1)->next;
	if (link)
		*link = site->next;
}

void block_set_trace(struct block *block, const struct block *trace)
{
	uint64_t entry_jump = block->entry + block->entry_jump;

	block->trace = trace ? block_number(trace) + 1 : 0;
	for (uint32_t i = block->incoming; i; i = site_at(i - 1)->next)
		set_jump(site_at(i - 1)->jump, host_from(site_at(i - 1)->jump, block));
	if (block->entry)
		set_jump(entry_jump, host_from(entry_jump, block));
}

void site_link_if_known(struct site *site)
{
	struct block *block = known_find(site->to);

	if (block)
		site_link(site, block);
}

void site_unlink(struct site *site)
{
	if (!site->is_linked)
		return;
	site->is_linked = 0;
	set_jump(site->jump, region_of(site->jump)->start + site->away);
}

/* From its entry the runtime is reached, after the word that says so. */
void block_unlink(struct block *block)
{
	for (uint32_t i = block->incoming; i; i = site_at(i - 1)->next)
		site_unlink(site_at(i - 1));
	block->incoming = 0;
	if (block->entry)
		set_jump(block->entry + block->entry_jump, block->entry - LEAVE_SIZE);
}

/*
 * To the entry `next`, with the target in rcx; 0: there is none.
 */
static void emit_next_entry(struct emitter *emitter, uint64_t next)
{
	int64_t away;

	if (!next) {
		emit_leave(emitter, CTX_MISS);
		return;
	}
	away = (int64_t)(next - ((uintptr_t)emitter->at + 5));
	if (fits(away)) {
		emit_8(emitter, 0xe9);
		emit_32(emitter, (uint32_t)(int32_t)away);
	} else {
		emit_far_jump(emitter, next);
	}
}

/*
 * Is it this block? rcx is the target, rcx and rax are saved. If not, it is one of those that share its
 * number among the targets: each leads to the one before it. What leads elsewhere stands before the entry.
 */
void emit_entry(struct emitter *emitter, struct block *block)
{
	const uint8_t *other = emitter->at, *leave;

	emit_distance_back(emitter, block->guest);
	emit_next_entry(emitter, *head_of(block->guest));
	leave = emitter->at;
	emit_leave(emitter, CTX_WRAP_INDIRECT);
	block->entry = (uintptr_t)emitter->at;
	emit_distance(emitter, block->guest);
	EMIT(emitter, 0xe3, 2, 0xeb, 0); /* jrcxz over the jump */
	set_short(emitter->at - 1, other);
	set_short(emit_word(emitter, BLOCK_WORD | block_number(block), false), leave);
	emit_load(emitter, HOST_RCX, CTX_RCX);
	emit_load(emitter, HOST_RAX, CTX_RAX);
	block->entry_jump = (uint16_t)((uintptr_t)emit_jump(emitter, block->host) - block->entry);
}

void block_use_entry(struct block *block)
{
	uint64_t jump = block->entry + block->entry_jump;

	set_jump(jump, host_from(jump, block));
	*head_of(block->guest) = block->entry;
}

bool block_make_entry(struct block *block)
{
	struct region *region = block->entry ? NULL : cache_region(block->host);
	struct emitter emitter;

	if (!region)
		return block->entry;
	emitter = (struct emitter){.at = (uint8_t *)region->at};
	emit_entry(&emitter, block);
	region->at = (uintptr_t)emitter.at;
	block_use_entry(block);
	return true;
}
