/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens when a program leaves its translated code: the next block is found or translated, and the jump
 * that led here is made to lead there. One lock is for all: threads come here only for what is new.
 */
#include "translate/runtime.h"

#include <sys/mman.h>
#include <sys/syscall.h>

enum { FLAG_TRAP = 0x100 };

/* arch_prctl(2) (asm/prctl.h) */
enum { SET_GS = 0x1001, GET_GS = 0x1004 };

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

static void take_lock(void)
{
	while (__atomic_exchange_n(&shared()->lock, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

static void leave_lock(void)
{
	__atomic_store_n(&shared()->lock, 0, __ATOMIC_RELEASE);
}

/* ---- the ring ---- */

static uint32_t newest_word(const struct context *context)
{
	int64_t pos = context->pos == -RING_SIZE ? 0 : context->pos;

	return *(const uint32_t *)(context->self + SLOT_RING_END + (uint64_t)pos - 4);
}

static void append(struct context *context, uint32_t word)
{
	*(uint32_t *)(context->self + SLOT_RING_END + (uint64_t)context->pos) = word;
	context->pos += 4;
	if (context->pos)
		return;
	context->pos = -RING_SIZE;
	context->lapped = 1;
}

static void append_address(struct context *context, uint64_t addr, uint32_t tag)
{
	append(context, (uint32_t)addr);
	append(context, (uint32_t)(addr >> 32));
	append(context, tag);
}

/* ---- system calls ---- */

static uint64_t give_back(struct context *context, uint64_t guest, enum give_back why)
{
	context->next = guest;
	context->why = why;
	return shared()->runtime + header()->trap;
}

/* Code there is about to become other code. What stands behind the call is translated anew, too. */
static void drop(struct context *context)
{
	cache_drop();
	context->next = context->syscall_next;
	context->syscall_resume = shared()->runtime + header()->start;
}

/* There may be new code behind the call: stops there, for who is outside to look. */
static void report(struct context *context, uint64_t prot)
{
	if (!(prot & PROT_EXEC))
		return;
	context->reported = context->syscall_resume;
	context->syscall_resume = shared()->runtime + header()->report;
}

/*
 * The frame that the kernel has built (arch/x86/include/asm/sigframe.h, struct rt_sigframe): where it leads
 * back to becomes ours.
 */
static void note_sigreturn(struct context *context)
{
	enum { UCONTEXT_RIP = 40 + 16 * 8 };
	uint64_t *rip = (uint64_t *)(context->regs[HOST_RSP] + UCONTEXT_RIP);

	context->returned = *rip;
	*rip = shared()->runtime + header()->sigreturned;
}

static uint64_t before_syscall(struct context *context)
{
	uint64_t *regs = context->regs, addr = regs[HOST_RDI], size = regs[HOST_RSI], prot = regs[HOST_RDX];
	uint64_t here = context->syscall_next - 2;
	const uint64_t both = PROT_WRITE | PROT_EXEC;

	switch ((uint32_t)regs[HOST_RAX]) {
	case SYS_mmap:
		if ((prot & both) == both)
			return give_back(context, here, GIVE_JIT);
		if (regs[10] & MAP_FIXED && cache_holds(addr, size))
			drop(context);
		report(context, prot);
		break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		if ((prot & both) == both)
			return give_back(context, here, GIVE_JIT);
		if (cache_holds(addr, size))
			drop(context);
		report(context, prot);
		break;
	case SYS_munmap:
	case SYS_mremap:
		if (cache_holds(addr, size))
			drop(context);
		break;
	case SYS_arch_prctl:
		if (addr == SET_GS || addr == GET_GS)
			return give_back(context, here, GIVE_GS);
		break;
	case SYS_rseq:
		/* The kernel cannot see where the program stands: let it do without (-ENOSYS). */
		regs[HOST_RAX] = (uint64_t)-1;
		break;
	case SYS_rt_sigreturn:
		note_sigreturn(context);
		break;
	default:
		break;
	}
	return shared()->runtime + header()->go_syscall;
}

/* ---- branches ---- */

/* The guest address to go to. */
static uint64_t destination(struct context *context, unsigned int why)
{
	uint32_t word = newest_word(context);

	switch (why) {
	case WHY_LINK:
		return site_at(word)->to;
	case WHY_LINK_ON:
		return site_at((uint32_t)context->site)->to;
	case WHY_WRAP:
		context->pos = -RING_SIZE;
		context->lapped = 1;
		return word & BLOCK_WORD ? block_at(word & ~BLOCK_WORD)->guest : site_at(word)->to;
	case WHY_SIGRETURN:
		return context->returned;
	default:
		return context->next;
	}
}

static void link(struct context *context, unsigned int why, const struct block *block)
{
	struct site *site = site_at(why == WHY_LINK ? newest_word(context) : (uint32_t)context->site);

	if ((why == WHY_LINK || why == WHY_LINK_ON) &&
	    block_at(site->block)->generation == shared()->generation)
		site_link(site, block);
}

static void arrive(struct context *context, struct block *block)
{
	append(context, BLOCK_WORD | (uint32_t)(block - block_at(0)));
	if (block_make_entry(block))
		targets_of(context)[block->guest & (TARGETS - 1)] = block->entry;
}

static uint64_t go(struct context *context, unsigned int why)
{
	uint64_t guest = destination(context, why);
	struct block *block = cache_find(guest);
	enum give_back problem = block ? GIVE_NOTHING : block_translate(context, guest, &block);

	if (why == WHY_GO || why == WHY_SIGRETURN)
		append_address(context, guest | (uint64_t)shared()->generation << 48, RING_GO);
	if (problem) {
		if (problem != GIVE_BREAK)
			append_address(context, guest, why == WHY_MISS ? RING_LEAVE : RING_STOP);
		return give_back(context, guest, problem);
	}
	if (why == WHY_MISS)
		arrive(context, block);
	link(context, why, block);
	return block->host;
}

uint64_t runtime_enter(struct context *context, unsigned int why)
{
	uint64_t host;

	context->flags &= ~(uint64_t)FLAG_TRAP;
	context->entered = why;
	take_lock();
	host = why == WHY_SYSCALL ? before_syscall(context) : go(context, why);
	leave_lock();
	return host;
}
