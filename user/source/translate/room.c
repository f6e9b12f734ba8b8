/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings and code cache count as the program's memory. Where a cgroup limits that, the kernel would kill the
 * program for them, where it would have lived without us. So less of such a limit is used, and what is ours
 * is removed before the program comes near to it.
 */
#include "source/translate/room.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/log.h"
#include "process/cgroup.h"
#include "process/proc_status.h"
#include "source/translate/translate_internal.h"

enum { MIB = 1 << 20, RING_SIZE_LEAST = MIB };

/* What is left of a limit for what the program takes until we are gone. */
static uint64_t reserve_of(uint64_t limit)
{
	const uint64_t least = 16 * MIB, most = 256 * MIB, share = limit / 8;

	return share < least ? least : share > most ? most : share;
}

/* Whether a limit leaves less than what is ours needs. */
static bool is_too_little(const struct memory_left *left)
{
	return left->limit != UINT64_MAX && left->bytes < 2 * reserve_of(left->limit);
}

/* A quarter of the memory that it may still take, and of the addresses that it may have, can go to rings. */
static uint64_t memory_for_rings(pid_t pid, const struct memory_left *left, bool is_limited)
{
	uint64_t bytes = is_limited ? left->bytes - reserve_of(left->limit) : left->bytes;
	struct rlimit limit;

	if (!proc_limit(pid, RLIMIT_AS, &limit) && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	return bytes / 4;
}

int room_find(pid_t pid, uint64_t wanted, struct room *ret_room)
{
	const struct memory_left left = cgroup_memory_left(pid);
	const bool is_limited = left.limit != UINT64_MAX;
	uint64_t size = wanted < RING_SIZE_MIN ? RING_SIZE_MIN : wanted, memory, cnt;
	uint32_t cnt_min;

	if (is_too_little(&left))
		return fail(-ENOMEM,
			    "its cgroup may have %" PRIu64 " MiB of memory, and %" PRIu64
			    " of them are left: what is recorded has no room there",
			    left.limit / MIB, left.bytes / MIB);
	memory = memory_for_rings(pid, &left, is_limited);
	while (size > (is_limited ? RING_SIZE_LEAST : RING_SIZE_MIN) &&
	       memory / (size + SLOT_SIZE) < SLOTS_LARGE_MIN)
		size /= 2;
	if (size < wanted)
		log_warn("the ring of each thread has %" PRIu64 " MiB, not %" PRIu64
			 ": a quarter of the memory that is left has no room for %d of them",
			 size / MIB, wanted / MIB, SLOTS_LARGE_MIN);
	/* Threads that find no slot go on natively, and that is told. */
	cnt_min = is_limited ? 1 : size > RING_SIZE_MIN ? SLOTS_LARGE_MIN : SLOTS_MIN;
	cnt = memory / (size + SLOT_SIZE);
	*ret_room = (struct room){.ring_size = size,
				  .slot_cnt = cnt < cnt_min	? cnt_min
					      : cnt > SLOTS_MAX ? SLOTS_MAX
								: (uint32_t)cnt,
				  .is_limited = is_limited};
	return 0;
}

bool room_is_there(pid_t pid)
{
	const struct memory_left left = cgroup_memory_left(pid);

	return !is_too_little(&left);
}

/* ---- while it is recorded ---- */

bool translate_is_limited(const struct translate *translate)
{
	for (size_t i = 0; i < translate->process_cnt; i++)
		if (translate->processes[i]->arena && translate->processes[i]->arena->is_limited)
			return true;
	return false;
}

bool translate_is_cramped(const struct translate *translate)
{
	for (size_t i = 0; i < translate->process_cnt; i++) {
		const struct translate_process *process = translate->processes[i];
		struct memory_left left;

		if (!process->arena || !process->arena->is_limited)
			continue;
		left = cgroup_memory_left(process->pid);
		if (left.limit != UINT64_MAX && left.bytes < reserve_of(left.limit))
			return true;
	}
	return false;
}
