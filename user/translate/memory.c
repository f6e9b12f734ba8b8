/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls that concern all memory of a process, in which ours is not to count: the program would not get
 * what it asks for, and gigabytes that nobody uses would be locked.
 *
 *	mlockall		locks the mappings that are the program's, one by one
 *	limits of memory	are as much higher as what is ours needs, unless the kernel refuses: the
 *				program is told what it has asked for
 */
#define _GNU_SOURCE /* MLOCK_ONFAULT */

#include "translate/runtime.h"

#include <errno.h>
#include <linux/resource.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "translate/slot.h"

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
