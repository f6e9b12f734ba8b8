/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens when a program leaves its translated code: the next block is found or translated, and the jump
 * that led here is made to lead there. One lock is for all: threads come here only for what is new.
 */
#include "translate/runtime.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "translate/emit.h"
#include "translate/slot.h"

enum { FLAG_TRAP = 0x100 };

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);

void *memcpy(void *to, const void *from, size_t size)
{
	void *result = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
	return result;
}

void *memset(void *to, int byte, size_t size)
{
	void *result = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
	return result;
}

static void take_lock(struct context *context)
{
	enum { SPINS = 200 };

	/* Who has it may be waiting for this processor. */
	for (unsigned int i = 1; __atomic_exchange_n(&shared()->lock, 1, __ATOMIC_ACQUIRE); i++) {
		__builtin_ia32_pause();
		if (i % SPINS == 0)
			call(SYS_sched_yield, 0, 0, 0, 0);
	}
	__atomic_store_n(&context->has_lock, 1, __ATOMIC_RELEASE);
}

static void leave_lock(struct context *context)
{
	__atomic_store_n(&context->has_lock, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&shared()->lock, 0, __ATOMIC_RELEASE);
}

/* ---- the ring ---- */

static uint32_t *word_at(const struct context *context, int64_t pos)
{
	return (uint32_t *)(context->self + (uint64_t)pos);
}

static uint32_t newest_word(const struct context *context)
{
	return *word_at(context, (context->pos == context->ring_start ? 0 : context->pos) - 4);
}

/* Who reads the ring from outside sees all of them or none. */
static void append(struct context *context, const uint32_t *words, unsigned int cnt)
{
	int64_t pos = context->pos;

	for (unsigned int i = 0; i < cnt; i++) {
		*word_at(context, pos) = words[i];
		pos += 4;
		if (pos)
			continue;
		pos = context->ring_start;
		context->laps_next++;
	}
	__atomic_store_n(&context->pos, pos, __ATOMIC_RELEASE);
	__atomic_store_n(&context->laps, context->laps_next, __ATOMIC_RELEASE);
}

void append_address(struct context *context, uint64_t addr, uint32_t tag)
{
	append(context, (const uint32_t[]){(uint32_t)addr, (uint32_t)(addr >> 32), tag}, 3);
}

/* A ring of which the first part is full is in huge pages from there on, if there are some. */
static void ask_for_huge_pages(const struct context *context)
{
	enum { SMALL = 1 << 20, ENOUGH = 16 * TIME_EVERY };
	uint64_t written = (uint64_t)(context->pos - context->ring_start);

	if (shared()->has_huge_pages && !context->laps && written - SMALL < ENOUGH)
		call(SYS_madvise, context->self + (uint64_t)context->ring_start + SMALL,
		     shared()->ring_size - SMALL, MADV_HUGEPAGE, 0);
}

static void append_tsc(struct context *context, uint64_t tsc)
{
	append_address(context, tsc, RING_TIME);
	context->told_at = tsc;
}

static void append_time(struct context *context)
{
	ask_for_huge_pages(context);
	append_tsc(context, __builtin_ia32_rdtsc());
}

/*
 * If the newest word is the ring's last one, it has filled the ring, or was led there to
 * make the thread come here.
 */
static void settle_ring(struct context *context)
{
	bool is_last = !context->pos;
	uint32_t word = *word_at(context, -4);

	if (!context->held_pos) {
		if (!is_last)
			return;
		__atomic_store_n(&context->pos, context->ring_start, __ATOMIC_RELEASE);
		__atomic_store_n(&context->laps, ++context->laps_next, __ATOMIC_RELEASE);
		return;
	}
	/* A time that was not told may have come there, too. */
	*word_at(context, -4) = context->held_word;
	context->pos = context->held_pos;
	context->held_pos = 0;
	if (is_last)
		append(context, &word, 1);
}

/*
 * While the rings are copied, what a thread had written up to the next part that is worth a time stays: from
 * there on it writes one part of the ring again and again.
 */
static void hold_ring(struct context *context, uint64_t guest)
{
	uint64_t size = shared()->ring_size, end = context->laps * size + (uint64_t)context->pos + size;
	uint32_t hold = __atomic_load_n(&shared()->hold, __ATOMIC_ACQUIRE);

	if (!hold)
		return;
	if (context->hold != hold) {
		context->held_end = context->held_reach = end;
		context->held_epoch = context->epoch;
		__atomic_store_n(&context->hold, hold, __ATOMIC_RELEASE);
		return;
	}
	if (context->held_reach < end)
		__atomic_store_n(&context->held_reach, end, __ATOMIC_RELEASE);
	/* In this order, who reads both from outside does not take the position for a later one. */
	context->laps_next = context->held_end / size;
	__atomic_store_n(&context->laps, context->laps_next, __ATOMIC_RELEASE);
	__atomic_store_n(&context->pos, (int64_t)(context->held_end % size) + context->ring_start,
			 __ATOMIC_RELEASE);
	append_address(context, guest, RING_LOST);
	if (context->epoch != context->held_epoch)
		append_address(context, context->epoch, RING_EPOCH);
}

/* ---- signals, and the way back ---- */

void fault_at(struct context *context, uint64_t guest)
{
	const siginfo_t info = {
		.si_signo = SIGSEGV, .si_code = SEGV_ACCERR, .si_addr = (void *)guest /* all others 0 */};

	context->going = context->reading = guest;
	__atomic_store_n(&context->is_reading, 1, __ATOMIC_RELEASE);
	call(SYS_rt_tgsigqueueinfo, (uint64_t)call(SYS_getpid, 0, 0, 0, 0),
	     (uint64_t)call(SYS_gettid, 0, 0, 0, 0), SIGSEGV, (uintptr_t)&info);
	__atomic_store_n(&context->is_reading, 0, __ATOMIC_RELEASE);
}

uint64_t give_back(struct context *context, uint64_t guest, enum give_back why, uint32_t tag)
{
	append_address(context, guest, tag);
	context->why = why;
	context->regs[HOST_RSP] = stack_pointer_of(context, context->regs[HOST_RSP]);
	return guest;
}

/* One that is not pending, since it would not queue beside a real one. */
static uint32_t pick_stand_in(void)
{
	uint64_t pending = 0;
	uint32_t signal;

	call(SYS_rt_sigpending, (uintptr_t)&pending, sizeof(pending), 0, 0);
	signal = stand_in_beside(pending);
	return signal ? signal : stand_in_beside(0);
}

/*
 * The signal that was held back comes now that the thread stands at an instruction of its own: who is outside
 * delivers it in place of a stand-in. If nobody is outside any more, it is sent again.
 */
static void let_signal_come(struct context *context)
{
	const uint64_t pid = (uint64_t)call(SYS_getpid, 0, 0, 0, 0),
		       tid = (uint64_t)call(SYS_gettid, 0, 0, 0, 0);
	uint64_t stand_in;

	if (!tracer_is_dead()) {
		if (!context->stand_in)
			context->stand_in = pick_stand_in();
		stand_in = 1ull << (context->stand_in - 1);
		call(SYS_tgkill, pid, tid, context->stand_in, 0);
		change_mask(SIG_UNBLOCK, (uintptr_t)&stand_in, 0, sizeof(stand_in));
	}
	if (!context->has_signal)
		return;
	context->has_signal = 0;
	call(SYS_rt_tgsigqueueinfo, pid, tid, *(const uint32_t *)(const void *)context->signal,
	     (uintptr_t)context->signal);
	change_mask(SIG_SETMASK, (uintptr_t)&context->mask, 0, sizeof(context->mask));
}

uint64_t runtime_answer(struct context *context)
{
	context->asked = 0;
	if (context->has_signal)
		let_signal_come(context);
	if (leaving() && !context->why)
		return give_back(context, context->here, leaving(), RING_STOP);
	return context->host;
}

/* ---- branches ---- */

/*
 * The guest address to go to. Numbers in the ring and the context are those of code that is not flushed yet.
 */
static uint64_t destination(const struct context *context, unsigned int why)
{
	uint32_t word = newest_word(context);

	switch (why) {
	case WHY_LINK:
		return site_at(word)->to;
	case WHY_LINK_ON:
	case WHY_TAKEN:
		return site_at((uint32_t)context->site)->to;
	case WHY_STALE:
		return block_at((uint32_t)context->site)->guest;
	case WHY_REPORT:
		return context->syscall_next;
	case WHY_WRAP:
		return target_of_word(word);
	case WHY_SIGRETURN:
		return context->returned;
	default:
		return context->next;
	}
}

static void link(struct context *context, unsigned int why, struct block *block)
{
	struct site *site = site_at(why == WHY_LINK ? newest_word(context) : (uint32_t)context->site);

	if (site_is_current(site))
		site_link(site, block);
}

/* Of a site that has no stub yet. What is left to do is as if it had had one. */
static unsigned int take(struct context *context)
{
	struct site *site = site_at((uint32_t)context->site);

	if (site_is_current(site) && site->has_no_stub && block_turn(context, site))
		return WHY_LINK_ON;
	append(context, &(uint32_t){(uint32_t)context->site}, 1);
	if (site_is_current(site) && site->has_no_stub)
		site_make_stub(site);
	return context->pos % TIME_EVERY ? WHY_LINK : WHY_WRAP;
}

static void aim(struct context *context, struct block *block)
{
	if (block_make_entry(block))
		targets_of(context)[block->guest & (TARGETS - 1)] = *head_of(block->guest);
}

/* An indirect branch has come to the block. */
static void arrive(struct context *context, struct block *block)
{
	append(context, &(uint32_t){BLOCK_WORD | block_number(block)}, 1);
	aim(context, block);
}

/* It has come here by the entry of a block that is no more. */
static bool came_by_entry(const struct context *context, unsigned int why)
{
	return why == WHY_WRAP && newest_word(context) & BLOCK_WORD;
}

/* Up to here the ring is that of blocks of former epochs. */
static void begin_epoch(struct context *context, uint64_t guest)
{
	append_address(context, guest, RING_STOP);
	append_time(context);
	append_address(context, shared()->epoch, RING_EPOCH);
	append_address(context, guest, RING_GO);
	context->epoch = shared()->epoch;
}

static bool is_indirect(unsigned int why)
{
	return why == WHY_MISS || why == WHY_WRAP_MISS;
}

static enum give_back find_block(struct context *context, unsigned int why, uint64_t guest,
				 struct block **ret_block)
{
	enum give_back problem = context->flags & FLAG_TRAP ? GIVE_TRAP : leaving();

	if (problem)
		return problem;
	if (why == WHY_STALE)
		cache_end(block_at((uint32_t)context->site));
	*ret_block = known_find(guest);
	if (*ret_block)
		return GIVE_NOTHING;
	problem = block_translate(context, guest, is_indirect(why), ret_block);
	context->fresh = problem ? 0 : shared()->block_cnt;
	return problem;
}

/*
 * Of code that is new. To translate it takes far longer than the branches that led here: they would share
 * that time, and seem to be later than they were.
 */
static void tell_arrival(struct context *context, uint64_t tsc)
{
	enum { TOLD_EVERY = 1 << 15 /* of the TSC: some 10 us */ };

	if (context->fresh && __builtin_ia32_rdtsc() - context->told_at > TOLD_EVERY)
		append_tsc(context, tsc);
}

static uint64_t go(struct context *context, unsigned int entered, uint64_t guest)
{
	const uint64_t tsc = __builtin_ia32_rdtsc();
	unsigned int why = entered == WHY_TAKEN ? take(context) : entered;
	bool by_entry = came_by_entry(context, why);
	bool wraps = why == WHY_WRAP || why == WHY_WRAP_MISS, arrives = is_indirect(why);
	struct block *block = NULL;
	enum give_back problem;

	behind_syscall(context);
	context->fresh = 0;
	problem = find_block(context, why, guest, &block);
	if (!problem && (why == WHY_LINK || why == WHY_LINK_ON))
		link(context, why, block);
	tell_arrival(context, tsc);
	if (!problem && arrives)
		arrive(context, block);
	if (wraps && (!problem || why == WHY_WRAP))
		hold_ring(context, guest);
	if (wraps || why == WHY_GO)
		append_time(context);
	if (why == WHY_GO || why == WHY_SIGRETURN || why == WHY_REPORT)
		append_address(context, guest, RING_GO);
	context->here = guest;
	if (problem)
		return give_back(context, guest, problem, arrives ? RING_LEAVE : RING_STOP);
	if (by_entry)
		aim(context, block);
	if (context->epoch != shared()->epoch)
		begin_epoch(context, guest);
	if (wraps && trace_is_due(context))
		trace_look(context);
	context->fresh_end = bytes_written(context);
	return block_host(block);
}

/* Whether there is nothing to do but to tell the time. */
static bool has_only_time_to_tell(const struct context *context)
{
	const struct shared *all = shared();

	return !leaving() && !all->hold && !context->owed && context->epoch == all->epoch &&
	       (uint32_t)~context->not_generation == all->generation && !trace_is_due(context);
}

/*
 * Where the jump behind the newest word leads; 0: to the runtime. It is read once: others may link it, or
 * take it back, meanwhile, and its block's code stays as long as the thread may be in it.
 */
static uint64_t host_behind_word(const struct context *context)
{
	uint32_t word = newest_word(context);
	const struct block *block = block_of_word(word);
	uint64_t to = jump_target(word & BLOCK_WORD ? block->entry + block->entry_jump : site_at(word)->jump);

	return is_leave((const uint8_t *)to) ? 0 : to;
}

/*
 * Most threads come here only for that. Without a lock, and without a look for a
 * block; 0: there is more to do.
 */
static uint64_t tell_time(struct context *context, uint64_t guest)
{
	uint64_t host = has_only_time_to_tell(context) ? host_behind_word(context) : 0;

	if (!host)
		return 0;
	append_time(context);
	context->here = guest;
	return host;
}

/*
 * Natively a thread faults where there is nothing. It does so without the lock: who provides the memory (a
 * thread that serves userfaultfd(2)) may need that.
 */
static void touch_code(struct context *context, uint64_t guest)
{
	if (is_kernel_code(guest))
		return;
	context->going = context->reading = guest;
	__atomic_store_n(&context->is_reading, 1, __ATOMIC_RELEASE);
	(void)*(const volatile uint8_t *)guest;
	__atomic_store_n(&context->is_reading, 0, __ATOMIC_RELEASE);
}

uint64_t runtime_enter(struct context *context, unsigned int why)
{
	uint64_t host, guest;

	context->entered = why;
	settle_ring(context);
	guest = destination(context, why);
	host = why == WHY_WRAP ? tell_time(context, guest) : 0;
	if (host)
		return host;
	if (why == WHY_REPORT)
		context->owed_result = context->regs[HOST_RAX];
	__atomic_store_n(&context->in_runtime, 1, __ATOMIC_SEQ_CST);
	context->in_call = 0;
	if (why != WHY_SYSCALL && context->owed & OWES_MAPS) {
		context->owed &= ~(uint64_t)OWES_MAPS;
		ask_maps(context);
	}
	if (why != WHY_SYSCALL)
		touch_code(context, guest);
	take_lock(context);
	host = why == WHY_SYSCALL ? before_syscall(context) : go(context, why, guest);
	context->not_generation = ~(int64_t)shared()->generation;
	__atomic_store_n(&context->in_runtime, 0, __ATOMIC_SEQ_CST);
	leave_lock(context);
	return host;
}
