/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces: ways that are taken often, found in the ring itself. Each time that the ring has got some thousand
 * words more, one place in it is looked at. Where a loop begins, or an indirect branch arrives, and that has
 * been seen often, the words from there on say which way is taken mostly.
 *
 *	block			trace
 *	jcc T, taken		jncc stub		stub: word, jmp to what is behind (as in insn.c)
 *	jcc T, not taken	jcc stub		stub: word, jmp T
 *	jmp T			nothing
 *	call T			push the guest's return address
 *	ret, jmp r, call r	target to rcx, is it T?	stub: word, jmp gs:[targets + cx * 8]
 *	the end			word, jmp T
 *
 * A trace is made of the code of its blocks in the cache: the program's own memory is not read. (The idea:
 * Bala et al., Dynamo, PLDI 2000.)
 */
#include "decode/code_insn.h"
#include "model/branch.h"
#include "translate/emit.h"
#include "translate/path.h"

enum {
	SEEN_OFTEN = 8,
	TRACED_NEVER = 255,
	NEWS_ALL = 1 << 16,
};

/* ---- making one ---- */

/* Where a trace is left for another target. */
struct way_out {
	uint8_t *jump; /* displacement, which is to lead to its stub */
	uint32_t site;
	uint64_t followed; /* the target that the trace follows */
};

struct constant {
	uint8_t *place; /* displacement */
	uint64_t value;
};

struct maker {
	struct emitter emitter;
	struct block *trace;
	unsigned int step;
	unsigned int exit_cnt, constant_cnt;
	struct way_out exits[STEPS_MAX];
	struct constant constants[STEPS_MAX];
};

static struct site *new_site(struct maker *maker, unsigned int cond, uint64_t to)
{
	struct site *site = site_at(shared()->site_cnt++);

	*site = (struct site){.to = to,
			      .block = block_number(maker->trace),
			      .conds_before = (uint16_t)maker->step,
			      .from = (uint16_t)cond};
	return site;
}

/* A conditional jump of a block, as it is or the opposite, where the program leaves the trace. */
static void add_exit(struct maker *maker, const uint8_t *opcode, unsigned int cnt, unsigned int cond,
		     uint64_t to)
{
	struct site *site = new_site(maker, cond, to);

	emit_bare(&maker->emitter, site, opcode, cnt);
}

/* Code of the cache, at another address. False: that is out of reach. */
static bool copy(struct emitter *emitter, const uint8_t *from, const uint8_t *end)
{
	while (from < end) {
		struct code_insn insn;

		code_insn_decode(&insn, from, CODE_INSN_MAX, true);
		if (!insn.len || !emit_copy(emitter, from, &insn, (uintptr_t)from + insn.len))
			return false;
		from += insn.len;
	}
	return true;
}

/* Is rcx the target that the trace follows? The program's rcx and rax are in the context. */
static void add_guess(struct maker *maker, uint64_t target)
{
	struct emitter *emitter = &maker->emitter;

	emit_distance(emitter, target);
	EMIT(emitter, 0xe3, 5, 0xe9); /* jrcxz over the jump */
	maker->exits[maker->exit_cnt++] =
		(struct way_out){emitter->at, site_number(new_site(maker, NO_COND, 0)), target};
	emit_32(emitter, 0);
	emit_load(emitter, HOST_RCX, CTX_RCX);
	emit_load(emitter, HOST_RAX, CTX_RAX);
}

/* The branch that a block ends with, which has that word. False: it is out of reach. */
static bool add_end(struct maker *maker, const struct block *block, const uint8_t *code, struct length length,
		    uint32_t word)
{
	struct emitter *emitter = &maker->emitter;
	uint8_t *place;

	if (block->end == BLOCK_INDIRECT) {
		if (!copy(emitter, code, code + length.host - LOOK_UP_SIZE))
			return false;
		add_guess(maker, target_of_word(word));
		return true;
	}
	place = block->last_kind == BRANCH_CALL ? emit_push(emitter, block->guest_end) : NULL;
	if (place)
		maker->constants[maker->constant_cnt++] = (struct constant){place, block->guest_end};
	return true;
}

static void add_length(struct maker *maker, uint8_t guest, const uint8_t *host)
{
	*length_at(shared()->length_cnt++) = (struct length){guest, (uint8_t)(maker->emitter.at - host)};
	maker->trace->length_cnt++;
}

/* One block up to the branch that is followed. */
static bool add_step(struct maker *maker, const struct trace_step *step)
{
	struct emitter *emitter = &maker->emitter;
	const struct block *block = block_at(step->block);
	const uint8_t *code = (const uint8_t *)block->host;
	uint64_t guest = block->guest;
	unsigned int cond = 0;

	for (unsigned int i = 0; i < block->length_cnt; i++) {
		struct length length = *length_at(block->first_length + i);
		const struct site *site = site_at(block->first_site + cond);
		bool is_cond = cond < block->cond_cnt && block->guest + site->from == guest;
		bool is_followed = is_cond && step->word == block->first_site + cond;
		const uint8_t *at = emitter->at, *opcode = is_cond ? cond_opcode(code) : code;

		if (is_followed) {
			const uint8_t *jcc = code + length.host - JCC_SIZE;

			add_exit(maker, (const uint8_t[]){jcc[0], jcc[1] ^ 1}, 2, cond,
				 site_opposite(block, site, guest + length.guest));
		} else if (is_cond) {
			add_exit(maker, opcode, (unsigned int)(code + length.host - 4 - opcode), cond,
				 site->to);
		} else if (i + 1u == block->length_cnt && block->last_kind != BRANCH_NONE) {
			if (!add_end(maker, block, code, length, step->word))
				return false;
		} else if (!copy(emitter, code, code + length.host)) {
			return false;
		}
		add_length(maker, length.guest, at);
		if (is_followed)
			break;
		cond += is_cond;
		guest += length.guest;
		code += length.host;
	}
	add_length(maker, 0, emitter->at);
	return true;
}

/* The target is not the one that the trace follows: rcx is the distance from there. */
static void emit_other_target(struct emitter *emitter, uint32_t site, uint64_t followed)
{
	uint8_t *wrap;

	emit_distance_back(emitter, followed);
	emit_save(emitter, HOST_RCX, CTX_NEXT);
	wrap = emit_word(emitter, site, true);
	emit_load(emitter, HOST_RCX, CTX_NEXT);
	emit_look_up(emitter);
	*wrap = (uint8_t)(emitter->at - (wrap + 1));
	emit_leave(emitter, CTX_WRAP_MISS);
}

static void emit_exits(struct maker *maker)
{
	struct emitter *emitter = &maker->emitter;

	for (unsigned int i = 0; i < maker->exit_cnt; i++) {
		const struct way_out *out = &maker->exits[i];

		emit_here(emitter, out->jump);
		emit_other_target(emitter, out->site, out->followed);
	}
	for (unsigned int i = 0; i < maker->constant_cnt; i++)
		emit_pushed(emitter, maker->constants[i].place, maker->constants[i].value);
}

static bool add_steps(struct maker *maker, const struct path *path)
{
	for (; maker->step < path->cnt; maker->step++)
		if (!add_step(maker, &path->steps[maker->step]))
			return false;
	return true;
}

/* Whether its word is that of a block. */
static bool is_arrival(const struct trace_step *step)
{
	return step->word < RING_TAG && step->word & BLOCK_WORD;
}

/* Behind it, its blocks know that they are in it, and who comes to the first one comes to it. */
static void finish(struct maker *maker, const struct path *path, struct region *region)
{
	struct shared *all = shared();
	struct block *trace = maker->trace;

	emit_branch(&maker->emitter, new_site(maker, NO_COND, path->to));
	emit_exits(maker);
	trace->host_end = region->at = (uintptr_t)maker->emitter.at;
	trace->step_cnt = (uint8_t)path->cnt;
	for (unsigned int i = 0; i < path->cnt; i++) {
		steps_of(trace)[i] = path->steps[i];
		block_at(path->steps[i].block)->is_traced = 1;
		if (is_arrival(&path->steps[i]))
			block_of_word(path->steps[i].word)->is_traced = 1;
	}
	all->byte_cnt += (uint32_t)(path->cnt * sizeof(struct trace_step));
	trace->trace = all->newest_trace;
	all->newest_trace = ++all->block_cnt;
	block_set_trace(block_at(path->steps[0].block), trace);
}

/* False: it is not possible. */
static bool make(const struct path *path)
{
	struct shared *all = shared();
	const struct block *head = block_at(path->steps[0].block);
	struct region *region = cache_spare_room(head->guest);
	struct maker maker;
	uint32_t sites = all->site_cnt, lengths = all->length_cnt;
	uint64_t end;

	if (!region)
		return false;
	end = region->end;
	all->byte_cnt = (all->byte_cnt + 7) & ~7u;
	maker.emitter = (struct emitter){.at = (uint8_t *)region->at, .region = region};
	maker.trace = block_at(all->block_cnt);
	maker.step = maker.exit_cnt = maker.constant_cnt = 0;
	*maker.trace = (struct block){.guest = head->guest,
				      .host = region->at,
				      .first_length = lengths,
				      .first_site = sites,
				      .first_byte = all->byte_cnt,
				      .generation = all->generation,
				      .born = all->epoch,
				      .is_trace = 1};
	if (add_steps(&maker, path)) {
		finish(&maker, path, region);
		return true;
	}
	all->site_cnt = sites;
	all->length_cnt = lengths;
	region->end = end;
	return false;
}

/* ---- when ---- */

/*
 * Where a word leads, if traces may begin there: where loops do, and functions, and
 * where traces were left; or 0.
 */
static uint64_t head_behind(uint32_t word)
{
	const struct site *site = site_at(word);
	const struct block *block;

	if (is_current_block(word))
		return target_of_word(word);
	if (!is_current_site(word))
		return 0;
	block = block_at(site->block);
	return block->is_trace || site->to <= block->guest + site->from ? site->to : 0;
}

/* Of two branches at least, and twice what there is. */
static bool is_worth(const struct path *path, const struct block *head)
{
	return path->word_cnt >= 2 && (!head->trace || path->cnt > 2u * block_at(head->trace - 1)->step_cnt);
}

static void look_from(struct context *context, const uint32_t *words, unsigned int at)
{
	enum { STEPS = 64, LOOKS = 64 };
	struct block *head = NULL;
	struct path path;

	for (unsigned int i = 0; i < STEPS && at < CHUNK_WORDS && !head; i++, at++)
		head = known_find(head_behind(words[at]));
	context->news += ((head && head->seen ? 0 : NEWS_ALL) - context->news) / LOOKS;
	if (!can_be_traced(head) || head->seen == TRACED_NEVER || ++head->seen % SEEN_OFTEN)
		return;
	path_follow(&path, head, words, at);
	if (is_worth(&path, head) && !make(&path))
		head->seen = TRACED_NEVER;
}

/*
 * Ways that are taken often are found soon; later on a look is rarely worth its time, but a loop that begins
 * then is found within some milliseconds all the same. Nor is it worth that in a program that does something
 * else each time, as a compiler does: many looks find a place that none has seen before.
 */
bool trace_is_due(const struct context *context)
{
	enum {
		NEAR = 64, /* bytes: else the word of a trace has come here in the middle of a part */
		EAGER = 16384,
		GAP_MAX = 32,
		NEWS_GAP = 24,
	};
	uint64_t written = bytes_written(context), parts = written / TIME_EVERY;
	uint64_t gap = 1 + parts / EAGER + (uint64_t)context->news * NEWS_GAP / NEWS_ALL;

	return !shared()->times_calls && !shared()->hold && written % TIME_EVERY <= NEAR &&
	       parts % (gap < GAP_MAX ? gap : GAP_MAX) == 0;
}

void trace_look(struct context *context)
{
	int64_t end = context->pos & -(int64_t)TIME_EVERY;
	uint64_t random = __builtin_ia32_rdtsc();
	const uint32_t *words;

	if (end == context->ring_start)
		end = 0;
	words = (const uint32_t *)(context->self + (uint64_t)end - TIME_EVERY);
	random = random * 6364136223846793005u + 1442695040888963407u; /* (Knuth, MMIX) */
	look_from(context, words, (unsigned int)(random >> 33) % CHUNK_WORDS);
}

static bool has_dead_step(const struct block *trace)
{
	for (unsigned int i = 0; i < trace->step_cnt; i++) {
		const struct trace_step *step = &steps_of(trace)[i];

		if (block_at(step->block)->died || (is_arrival(step) && block_of_word(step->word)->died))
			return true;
	}
	return false;
}

void traces_end(void)
{
	struct shared *all = shared();

	all->trace_has_died = 0;
	for (uint32_t *link = &all->newest_trace, number; *link;) {
		struct block *trace = block_at(*link - 1), *head = block_at(steps_of(trace)->block);

		if (!has_dead_step(trace)) {
			link = &trace->trace;
			continue;
		}
		number = *link;
		trace->died = all->epoch;
		*link = trace->trace;
		if (head->trace != number)
			continue;
		if (head->died)
			head->trace = 0;
		else
			block_set_trace(head, NULL);
	}
}
