/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens when a program leaves its translated code: the next block is found or translated, and the jump
 * that led here is made to lead there. One lock is for all: threads come here only for what is new.
 */
#include "translate/runtime.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/time_types.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "translate/slot.h"

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

static uint32_t *word_at(const struct context *context, int64_t pos)
{
	return (uint32_t *)(context->self + SLOT_RING_END + (uint64_t)pos);
}

static uint32_t newest_word(const struct context *context)
{
	return *word_at(context, (context->pos == -RING_SIZE ? 0 : context->pos) - 4);
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
		pos = -RING_SIZE;
		context->laps_next++;
	}
	__atomic_store_n(&context->pos, pos, __ATOMIC_RELEASE);
	__atomic_store_n(&context->laps, context->laps_next, __ATOMIC_RELEASE);
}

static void append_address(struct context *context, uint64_t addr, uint32_t tag)
{
	append(context, (const uint32_t[]){(uint32_t)addr, (uint32_t)(addr >> 32), tag}, 3);
}

static void append_time(struct context *context)
{
	append_address(context, __builtin_ia32_rdtsc(), RING_TIME);
}

/*
 * The newest word has filled the ring, or a part of it that is worth a time, or is where it was led to make the
 * thread come here.
 */
static void wrap(struct context *context)
{
	uint32_t word = *word_at(context, -4);

	if (context->held_pos) {
		*word_at(context, -4) = context->held_word;
		context->pos = context->held_pos;
		context->held_pos = 0;
		append(context, &word, 1);
		return;
	}
	if (context->pos)
		return;
	__atomic_store_n(&context->pos, -RING_SIZE, __ATOMIC_RELEASE);
	__atomic_store_n(&context->laps, ++context->laps_next, __ATOMIC_RELEASE);
}

static void settle_ring(struct context *context, unsigned int why)
{
	if (why == WHY_WRAP)
		wrap(context);
	else if (context->held_pos)
		context->pos = context->held_pos;
	context->held_pos = 0;
}

/* ---- who is outside ---- */

static long call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

static bool tracer_is_dead(void)
{
	return ((volatile const uint8_t *)shared()->tracer)[SHARED_TRACER_IS_DEAD];
}

/* Why all threads are to go on natively. */
static enum give_back leaving(void)
{
	enum give_back leave = (enum give_back)__atomic_load_n(&shared()->leave, __ATOMIC_ACQUIRE);

	return leave ? leave : tracer_is_dead() ? GIVE_END : GIVE_NOTHING;
}

/* Waits for the answer. False: there is nobody to give one. */
static bool ask(struct context *context, enum request request)
{
	const struct __kernel_timespec moment = {.tv_nsec = 20000000};

	__atomic_store_n(&context->request, request, __ATOMIC_RELEASE);
	__atomic_add_fetch(&shared()->requests, 1, __ATOMIC_RELEASE);
	call(SYS_futex, (uintptr_t)&shared()->requests, FUTEX_WAKE, 1, 0);
	while (__atomic_load_n(&context->request, __ATOMIC_ACQUIRE)) {
		if (leaving())
			return false;
		call(SYS_futex, (uintptr_t)&context->request, FUTEX_WAIT, request, (uintptr_t)&moment);
	}
	return true;
}

bool ask_original(struct context *context, uint64_t guest)
{
	context->next = guest;
	return context->original_at == guest || ask(context, REQUEST_ORIGINAL);
}

static uint64_t give_back(struct context *context, uint64_t guest, enum give_back why, uint32_t tag)
{
	append_address(context, guest, tag);
	context->why = why;
	return guest;
}

/* Each goes to the thread now that it stands at an instruction of its own, and may lead it elsewhere. */
static void send_deferred(struct context *context)
{
	while (context->deferred_taken != __atomic_load_n(&context->deferred_cnt, __ATOMIC_ACQUIRE)) {
		uint8_t info[SIGINFO_BYTES];

		__builtin_memcpy(info, context->deferred[context->deferred_taken % DEFERRED_MAX],
				 sizeof(info));
		context->deferred_taken++;
		context->settled = 1;
		call(SYS_rt_tgsigqueueinfo, (uint64_t)call(SYS_getpid, 0, 0, 0, 0),
		     (uint64_t)call(SYS_gettid, 0, 0, 0, 0), *(uint32_t *)info, (uintptr_t)info);
		context->settled = 0;
	}
}

uint64_t runtime_answer(struct context *context)
{
	context->asked = 0;
	send_deferred(context);
	if (leaving() && !context->why)
		return give_back(context, context->here, leaving(), RING_STOP);
	return context->host;
}

/* ---- births ---- */

/* Whether 8 bytes can be read there: the kernel looks at them before it finds the other argument wrong. */
static bool is_readable(uint64_t addr)
{
	enum { NO_SUCH_WAY = 99 };

	return call(SYS_rt_sigprocmask, NO_SUCH_WAY, addr, 0, 8) != -EFAULT;
}

static uint64_t clone_flags(const struct context *context)
{
	uint64_t first = context->regs[HOST_RDI];

	switch ((uint32_t)context->regs[HOST_RAX]) {
	case SYS_clone:
		return first;
	case SYS_clone3:
		return is_readable(first) ? *(const uint64_t *)first : 0;
	default:
		return 0;
	}
}

static struct context *take_slot(bool is_process)
{
	enum { KEPT_FOR_PROCESSES = 2 };

	for (uint32_t i = 0; i < SLOTS_MAX - (is_process ? 0 : KEPT_FOR_PROCESSES); i++) {
		struct context *context = (struct context *)slot_address(i);

		if (!__atomic_load_n(&context->tid, __ATOMIC_ACQUIRE))
			return context;
	}
	return NULL;
}

static bool failed(int64_t result)
{
	return result < 0 && result > -4096;
}

/* What the child begins with. False: there is no slot for it. */
static bool prepare_child(struct context *context)
{
	bool is_process = !(clone_flags(context) & CLONE_THREAD);
	struct context *child = context->child && failed(context->birth) ? (struct context *)context->child
									 : take_slot(is_process);

	if (!child)
		return false;
	slot_prepare(child, (uintptr_t)child, shared()->runtime, header(), context->pid, -1);
	child->syscall_next = context->syscall_next;
	child->syscall_resume = context->syscall_resume;
	child->r15 = context->regs[HOST_R15];
	child->is_process = is_process;
	append_time(child);
	append_address(child, context->syscall_next | (uint64_t)shared()->generation << 48, RING_GO);
	context->child = (uintptr_t)child;
	context->birth = -1;
	return true;
}

/* ---- system calls ---- */

/* Code there becomes other code, or there is new code: behind the call the runtime is entered first. */
static void owe(struct context *context, uint64_t what)
{
	context->owed |= what;
	if (what & OWES_MAPS)
		context->owed_tsc = __builtin_ia32_rdtsc();
	if (what)
		context->syscall_resume = shared()->runtime + header()->report;
}

/* A program that does that again and again makes code at run time. */
static void pay(struct context *context)
{
	enum { DROPS_MAX = 64 };

	if (context->owed & OWES_DROP) {
		cache_drop();
		if (++shared()->drop_cnt == DROPS_MAX)
			shared()->leave = GIVE_JIT;
	}
	context->owed &= OWES_MAPS;
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

static uint64_t owed_for(uint64_t addr, uint64_t size, uint64_t prot)
{
	return (cache_holds(addr, size) ? OWES_DROP : 0) | (prot & PROT_EXEC ? OWES_MAPS : 0);
}

/* Code that others can write without a call that would tell. */
static bool makes_writable_code(const struct context *context)
{
	const uint64_t both = PROT_WRITE | PROT_EXEC;
	uint64_t prot = context->regs[HOST_RDX], flags = context->regs[HOST_R10];

	switch ((uint32_t)context->regs[HOST_RAX]) {
	case SYS_mmap:
		return (prot & both) == both || (prot & PROT_EXEC && flags & MAP_SHARED);
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		return (prot & both) == both;
	default:
		return false;
	}
}

static uint64_t before_syscall(struct context *context)
{
	uint64_t *regs = context->regs, addr = regs[HOST_RDI], size = regs[HOST_RSI], prot = regs[HOST_RDX];
	uint64_t here = context->syscall_next - 2;

	context->here = here;
	if (makes_writable_code(context))
		shared()->leave = GIVE_JIT;
	if (leaving())
		return give_back(context, here, leaving(), RING_STOP);
	switch ((uint32_t)regs[HOST_RAX]) {
	case SYS_mmap:
		owe(context, owed_for(addr, regs[HOST_R10] & MAP_FIXED ? size : 0, prot));
		break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		owe(context, owed_for(addr, size, prot));
		break;
	case SYS_munmap:
	case SYS_mremap:
		owe(context, owed_for(addr, size, 0));
		break;
	case SYS_arch_prctl:
		if (addr == SET_GS || addr == GET_GS)
			return give_back(context, here, GIVE_GS, RING_STOP);
		break;
	case SYS_rseq:
		/* The kernel cannot see where the program stands: let it do without (-ENOSYS). */
		regs[HOST_RAX] = (uint64_t)-1;
		break;
	case SYS_rt_sigreturn:
		note_sigreturn(context);
		break;
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		if (!prepare_child(context))
			return give_back(context, here, GIVE_THREADS, RING_STOP);
		return shared()->runtime + header()->go_birth;
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
	case WHY_REPORT:
		return context->syscall_next;
	case WHY_WRAP:
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
	append(context, &(uint32_t){BLOCK_WORD | (uint32_t)(block - block_at(0))}, 1);
	if (block_make_entry(block))
		targets_of(context)[block->guest & (TARGETS - 1)] = *head_of(block->guest);
}

static uint64_t go(struct context *context, unsigned int why)
{
	uint64_t guest = destination(context, why);
	struct block *block = NULL;
	enum give_back problem;

	pay(context);
	problem = leaving();
	if (!problem)
		block = cache_find(guest);
	if (!problem && !block)
		problem = block_translate(context, guest, &block);
	if (why == WHY_GO || why == WHY_WRAP)
		append_time(context);
	if (why == WHY_GO || why == WHY_SIGRETURN || why == WHY_REPORT)
		append_address(context, guest | (uint64_t)shared()->generation << 48, RING_GO);
	context->here = guest;
	if (problem)
		return give_back(context, guest, problem, why == WHY_MISS ? RING_LEAVE : RING_STOP);
	if (why == WHY_MISS)
		arrive(context, block);
	link(context, why, block);
	return block->host;
}

uint64_t runtime_enter(struct context *context, unsigned int why)
{
	uint64_t host;

	context->flags &= ~(uint64_t)FLAG_TRAP;
	context->settled = 0;
	context->entered = why;
	settle_ring(context, why);
	if (why != WHY_SYSCALL && context->owed & OWES_MAPS) {
		context->owed &= ~(uint64_t)OWES_MAPS;
		ask(context, REQUEST_MAPS);
	}
	take_lock();
	host = why == WHY_SYSCALL ? before_syscall(context) : go(context, why);
	leave_lock();
	return host;
}
