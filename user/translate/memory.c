/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls that concern all memory of a process, in which ours is not to count: the program would not get
 * what it asks for, and gigabytes that nobody uses would be locked.
 *
 *	mlockall		locks the mappings that are the program's, one by one
 *	limits of memory	are as much higher as what is ours needs, unless the kernel refuses: the
 *				program is told what it has asked for
 *	munmap, madvise		leave out what is ours, where nothing is for the program
 *	fixed mappings there	are refused, unless the program can leave that place first
 */
#define _GNU_SOURCE /* MLOCK_ONFAULT, MREMAP_FIXED */

#include "translate/runtime.h"

#include <errno.h>
#include <linux/resource.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "translate/slot.h"

/* Nothing of a program is behind it. */
#define PROGRAM_END 0x7ffffffff000

/* ---- locks ---- */

/*
 * Calls mlock2(2) for each mapping of the program's. The first error, or 0; -ENOTSUP: there is nobody to ask.
 */
static long lock_each(struct context *context, uint64_t flags)
{
	uint64_t at = 0;
	long err = 0;

	for (;;) {
		if (!ask_mapping(context, at))
			return -ENOTSUP;
		if (!context->mapping_end)
			return err;
		at = context->mapping_end;
		if (!err)
			err = call(SYS_mlock2, context->mapping_start, at - context->mapping_start, flags, 0);
	}
}

/*
 * First what the limit has a say in, for all; then pages are brought there, as far as there are any.
 * *ret_result is that of the call. False: the kernel is to be called.
 */
bool lock_all(struct context *context, uint64_t flags, uint64_t *ret_result)
{
	long result;

	if (flags & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ||
	    !(flags & (MCL_CURRENT | MCL_FUTURE)))
		return false;
	shared()->locks_new = flags & MCL_FUTURE;
	if (!(flags & MCL_CURRENT))
		return false;
	result = flags & MCL_FUTURE ? call(SYS_mlockall, flags & ~(uint64_t)MCL_CURRENT, 0, 0, 0)
				    : call(SYS_munlockall, 0, 0, 0, 0);
	if (!result)
		result = lock_each(context, MLOCK_ONFAULT);
	if (result)
		call(SYS_munlockall, 0, 0, 0, 0);
	else if (!(flags & MCL_ONFAULT))
		lock_each(context, 0);
	*ret_result = (uint64_t)result;
	return true;
}

/* ---- limits ---- */

static long set_limit(unsigned int resource, const struct rlimit64 *fresh, struct rlimit64 *old)
{
	return call(SYS_prlimit64, 0, resource, (uintptr_t)fresh, (uintptr_t)old);
}

static struct raised *raised_of(unsigned int resource)
{
	for (uint32_t i = 0; i < LIMITS_CNT; i++)
		if (shared()->raised[i].resource == resource)
			return &shared()->raised[i];
	return NULL;
}

/* What of ours counts. */
static uint64_t own_size(unsigned int resource)
{
	uint64_t regions = (uint64_t)shared()->region_cnt * REGION_SIZE;

	return resource == RLIMIT_AS ? regions + arena_bytes(shared()->ring_size, shared()->slot_cnt)
				     : regions;
}

/* Where that is not allowed, it is set as it is. */
static long raise_limit(struct raised *raised, const struct rlimit64 *wanted)
{
	const uint64_t own = own_size(raised->resource);
	const struct rlimit64 high = {limit_raised(wanted->rlim_cur, own),
				      limit_raised(wanted->rlim_max, LIMIT_ROOM)};
	long result = set_limit(raised->resource, &high, NULL);

	if (result && !raised->is_raised)
		return set_limit(raised->resource, wanted, NULL);
	if (result)
		return result;
	raised->is_raised = 1;
	raised->by = own;
	return 0;
}

/* `fresh` and `old` are the program's, or 0. */
static long change_limit(struct raised *raised, uint64_t fresh, uint64_t old)
{
	struct rlimit64 before, wanted;
	long result;

	if (fresh && (!is_readable(fresh) || !is_readable(fresh + sizeof(uint64_t))))
		return -EFAULT;
	if (fresh)
		wanted = *(const struct rlimit64 *)fresh;
	/* The kernel writes there, or finds that it cannot. */
	result = set_limit(raised->resource, NULL, (struct rlimit64 *)old);
	if (result)
		return result;
	set_limit(raised->resource, NULL, &before);
	if (raised->is_raised)
		before = (struct rlimit64){limit_lowered(before.rlim_cur, raised->by),
					   limit_lowered(before.rlim_max, LIMIT_ROOM)};
	if (fresh && wanted.rlim_cur > wanted.rlim_max)
		result = -EINVAL;
	else if (fresh)
		result = raise_limit(raised, &wanted);
	if (old)
		*(struct rlimit64 *)old = before;
	return result;
}

bool limit_memory(const struct context *context, uint64_t *ret_result)
{
	const uint64_t *regs = context->regs;
	bool has_pid = (uint32_t)regs[HOST_RAX] == SYS_prlimit64;
	bool sets = (uint32_t)regs[HOST_RAX] == SYS_setrlimit;
	int32_t pid = has_pid ? (int32_t)regs[HOST_RDI] : 0;
	uint64_t fresh = has_pid ? regs[HOST_RDX]
			 : sets	 ? regs[HOST_RSI]
				 : 0,
		 old = has_pid ? regs[HOST_R10]
		       : sets  ? 0
			       : regs[HOST_RSI];
	struct raised *raised = raised_of((uint32_t)regs[has_pid ? HOST_RSI : HOST_RDI]);

	if (!raised || (!fresh && !old) || (pid && pid != call(SYS_getpid, 0, 0, 0, 0)))
		return false;
	*ret_result = (uint64_t)change_limit(raised, fresh, old);
	return true;
}

void limits_make_room(int64_t size)
{
	for (uint32_t i = 0; i < LIMITS_CNT; i++) {
		struct raised *raised = &shared()->raised[i];
		struct rlimit64 limit;

		if (!raised->is_raised || set_limit(raised->resource, NULL, &limit) ||
		    limit.rlim_cur == RLIM64_INFINITY)
			continue;
		limit.rlim_cur += (uint64_t)size;
		if (!set_limit(raised->resource, &limit, NULL))
			raised->by += (uint64_t)size;
	}
}

/* ---- what is ours ---- */

struct part {
	uint64_t start, end;
};

static struct part nth_part(uint32_t i)
{
	const struct shared *all = shared();

	switch (i) {
	case 0:
		return (struct part){ARENA_BASE, ARENA_BASE + arena_bytes(all->ring_size, all->slot_cnt)};
	case 1:
		return (struct part){NOPS_AT, NOPS_AT + NOPS_MAX * NOP_SIZE};
	default:
		return (struct part){all->regions[i - 2].start, all->regions[i - 2].start + REGION_SIZE};
	}
}

/* The first part of ours between the addresses. False: there is none. */
static bool find_part(uint64_t start, uint64_t end, struct part *ret_part)
{
	bool is_there = false;

	for (uint32_t i = 0; i < shared()->region_cnt + 2; i++) {
		struct part part = nth_part(i);

		if (part.start >= end || part.end <= start || (is_there && part.start > ret_part->start))
			continue;
		*ret_part = part;
		is_there = true;
	}
	return is_there;
}

bool call_around(const struct context *context, uint64_t *ret_result)
{
	const uint64_t *regs = context->regs, number = (uint32_t)regs[HOST_RAX];
	uint64_t at = regs[HOST_RDI], end = at + whole_pages(regs[HOST_RSI]);
	struct part part;
	long result = 0;

	/* What is no range has no effect. */
	if (at % 4096 || end < at || end > PROGRAM_END || !find_part(at, end, &part))
		return false;
	for (; at < end && (!result || result == -ENOMEM); at = part.end) {
		long err = 0;

		if (!find_part(at, end, &part))
			part = (struct part){end, end};
		if (at < part.start)
			err = call((long)number, at, part.start - at, regs[HOST_RDX], 0);
		result = err ? err : result;
	}
	*ret_result = (uint64_t)(result || number == SYS_munmap ? result : -ENOMEM);
	return true;
}

bool wants_our_place(const struct context *context)
{
	const uint64_t *regs = context->regs;
	uint64_t start = 0, size = 0;
	struct part part;

	if ((uint32_t)regs[HOST_RAX] == SYS_mmap && regs[HOST_R10] & MAP_FIXED) {
		start = regs[HOST_RDI];
		size = regs[HOST_RSI];
	} else if ((uint32_t)regs[HOST_RAX] == SYS_mremap && regs[HOST_R10] & MREMAP_FIXED) {
		start = regs[HOST_R8];
		size = regs[HOST_RDX];
	}
	return start % 4096 == 0 && start + size >= start && start + size <= PROGRAM_END &&
	       find_part(start, start + size, &part);
}
