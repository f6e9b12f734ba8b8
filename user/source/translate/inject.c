/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program itself is made to open our file, or else to create a memfd, and to map it (process/inject.h).
 * The memfd we open by the name that /proc has for it, which only we may be allowed to. Name and code stand
 * in the padding behind its vDSO meanwhile. Once the memory is shared, the code of other calls stands there.
 *
 * A thread that runs already may have an area for restartable sequences (rseq(2)). The kernel aborts such a
 * sequence if the thread is preempted at one of its addresses, and would not know those of the cache. So the
 * area is taken from the thread: its program then sees that it has no processor number, and takes other ways.
 */
#include "source/translate/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file/huge_file.h"
#include "base/log.h"
#include "model/trigger.h"
#include "process/maps.h"
#include "process/memory.h"
#include "process/proc_status.h"
#include "source/translate/former.h"
#include "source/translate/room.h"
#include "translate/slot.h"

enum { NAME_BYTES = 256, PLACE_BYTES = 448 };

_Static_assert(NAME_BYTES + INJECTION_BYTES == PLACE_BYTES, "the code stands where a shield's does");

/* It is 0, or what a trailcam has left that was killed meanwhile. */
static int check_padding(pid_t pid, uint64_t at)
{
	if (injection_is_left(pid, at + NAME_BYTES))
		return 0;
	errno = 0;
	for (uint64_t i = 0; i < PLACE_BYTES && !errno; i += sizeof(long))
		if (ptrace(PTRACE_PEEKDATA, pid, (void *)(at + i), NULL))
			return fail(-ENOTSUP, "there is no room behind its vDSO");
	return errno ? fail_errno(-errno, "there is no room behind its vDSO") : 0;
}

/* Writes a name to where the program is to read it. */
static int write_name(const struct injection *injection, uint64_t at, const char *name)
{
	char bytes[NAME_BYTES] = "";

	strcpy(bytes, name);
	return memory_poke(injection->tid, at, bytes, sizeof(bytes));
}

/* Returns the program's file, *ret_fd is ours: both are of the same one. Or -errno with a sentence. */
static long open_huge_file(struct injection *injection, uint64_t at, int *ret_fd)
{
	const uint64_t open_args[6] = {(uint64_t)AT_FDCWD, at, O_RDWR | O_CLOEXEC};
	CLEANUP(closep) int fd = huge_file_new();
	char name[NAME_BYTES];
	long theirs = -1;

	if (fd >= 0 && huge_file_name(fd, injection->tid, name, sizeof(name)) &&
	    !write_name(injection, at, name))
		theirs = injection_call_undone(injection, SYS_openat, open_args, SYS_close, 0);
	if (theirs >= 0)
		*ret_fd = TAKE_FD(fd);
	return theirs;
}

/* As above. */
static long open_memfd(struct injection *injection, uint64_t at, int *ret_fd)
{
	long theirs;
	char path[64];
	int err;

	if (write_name(injection, at, "trailcam"))
		return fail(-EIO, "cannot write to its memory");
	theirs = injection_call_undone(injection, SYS_memfd_create, (const uint64_t[6]){at, MFD_CLOEXEC},
				       SYS_close, 0);
	if (theirs < 0)
		return fail_errno((int)theirs, "it cannot make the memory that it is to share");
	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", (int)injection->tid, theirs);
	*ret_fd = open(path, O_RDWR | O_CLOEXEC);
	if (*ret_fd >= 0)
		return theirs;
	err = fail_errno(-errno, "cannot open its memory");
	injection_undo(injection);
	return err;
}

/* Whether the program has all new memory locked (mlockall(2)): what is mapped now would then be in memory. */
static bool is_locked(pid_t tid, uint64_t before)
{
	uint64_t now;

	return !proc_status_number(tid, "VmLck", 10, &now) && now > before;
}

/* None of it is brought there before it is unlocked. */
static long map_arena(struct injection *injection, struct arena *arena, long fd)
{
	const uint64_t size = arena_size(arena);
	uint64_t locked = 0;
	long at, err;

	proc_status_number(injection->tid, "VmLck", 10, &locked);
	at = injection_call(injection, SYS_mmap,
			    (const uint64_t[6]){ARENA_BASE, size, PROT_NONE,
						MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
						(uint64_t)fd, 0});
	if (at != ARENA_BASE)
		return at;
	if (is_locked(injection->tid, locked)) {
		injection_call(injection, SYS_munlock, (const uint64_t[6]){ARENA_BASE, size});
		arena_has_locks(arena);
	}
	err = injection_call(injection, SYS_mprotect,
			     (const uint64_t[6]){ARENA_BASE, size, PROT_READ | PROT_WRITE | PROT_EXEC});
	if (!err)
		return at;
	injection_call(injection, SYS_munmap, (const uint64_t[6]){ARENA_BASE, size});
	return err;
}

static void unmap(struct injection *injection, uint64_t addr, uint64_t size)
{
	if (!injection->ended)
		injection_call(injection, SYS_munmap, (const uint64_t[6]){addr, size});
}

static void unmap_all(struct injection *injection, const struct shared *shared)
{
	/* The program may have its own there. */
	if (shared->leave == GIVE_PLACE)
		return;
	/*
	 * First what tells of the others: should we be killed in between, nobody takes
	 * the program's own for them.
	 */
	unmap(injection, ARENA_BASE, arena_bytes(shared->ring_size, shared->slot_cnt));
	for (uint32_t i = 0; i < shared->region_cnt && i < REGIONS_MAX; i++)
		unmap(injection, shared->regions[i].start, REGION_SIZE);
	unmap(injection, NOPS_AT, NOPS_MAX * NOP_SIZE);
}

/* ---- limits ---- */

/* It has our user, or we may do so with any (CAP_SYS_RESOURCE). */
static bool may_set_limits(pid_t tid)
{
	struct rlimit limit;

	return !prlimit(tid, RLIMIT_AS, NULL, &limit);
}

/* A process may always lower its own limits: that is what it does where we may not, if it is held for it. */
static void lower_limits(struct injection *injection, const struct arena *arena)
{
	const uint64_t at = injection->at - NAME_BYTES;

	for (size_t i = 0; i < LIMITS_CNT; i++) {
		struct own_limit own;

		if (arena_own_limit(arena, injection->tid, i, &own) &&
		    prlimit(injection->tid, own.resource, &own.limit, NULL) &&
		    !memory_poke(injection->tid, at, &own.limit, sizeof(own.limit)))
			injection_call(injection, SYS_prlimit64, (const uint64_t[6]){0, own.resource, at});
	}
}

/* The runtime reads the time stamp counter, which kills a thread that has that forbidden. */
static int check_tsc(struct injection *injection, const struct arena *arena)
{
	injection_call(injection, SYS_prctl,
		       (const uint64_t[6]){PR_GET_TSC, ARENA_BASE + offsetof(struct shared, tsc_mode)});
	if (arena_shared(arena)->tsc_mode != PR_TSC_SIGSEGV)
		return 0;
	unmap(injection, ARENA_BASE, arena_size(arena));
	lower_limits(injection, arena);
	return fail(-EPERM, GIVE_TSC_REASON);
}

static int make_arena(struct injection *injection, uint64_t name, const struct room *room,
		      struct arena **ret_arena)
{
	int ours = -1, err;
	/* Huge pages take more memory. */
	long fd = room->is_limited ? -1 : open_huge_file(injection, name, &ours), at;
	bool has_huge_pages = fd >= 0;
	struct rlimit limit;
	CLEANUP(arena_freep) struct arena *arena = NULL;

	if (fd < 0)
		fd = open_memfd(injection, name, &ours);
	if (fd < 0)
		return (int)fd;
	/* It is made as large as it has to be from here: a limit of the program's own would kill for that. */
	err = arena_new(&arena, ours, room->slot_cnt, room->ring_size);
	if (!err)
		arena_raise_limits(arena, injection->tid);
	at = err ? err : map_arena(injection, arena, fd);
	injection_undo(injection);
	if (err)
		return err;
	if (at != ARENA_BASE)
		lower_limits(injection, arena);
	if (at == -EEXIST)
		return fail(
			-EEXIST,
			"it has memory where trailcam's is to be: its own, or that of an earlier trailcam, "
			"which was killed, and which a thread of it is still in");
	if (at == -ENOMEM && !proc_limit(injection->tid, RLIMIT_AS, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		return fail(-ENOMEM,
			    "what is recorded has no room in the %ju MiB of addresses that it may have "
			    "(RLIMIT_AS), and without CAP_SYS_RESOURCE trailcam cannot give it more",
			    (uintmax_t)limit.rlim_cur >> 20);
	if (at != ARENA_BASE)
		return fail_errno(at < 0 ? (int)at : -EINVAL, "it cannot map the memory that it is to share");
	/* A core dump would have gigabytes of it. Where that is not allowed, it has. */
	injection_call(injection, SYS_madvise,
		       (const uint64_t[6]){ARENA_BASE, arena_size(arena), MADV_DONTDUMP});
	err = check_tsc(injection, arena);
	if (err)
		return err;
	arena->is_limited = room->is_limited;
	if (has_huge_pages)
		arena_has_huge_pages(arena);
	*ret_arena = TAKE_PTR(arena);
	return 0;
}

/* Those of a trailcam that was killed before it had an arena, or while it removed all: nobody uses them. */
static bool nops_are_left(pid_t tid, const struct probe_mirror *mirror)
{
	CLEANUP(maps_release) struct maps maps = {0};
	const struct map *nops = maps_read(&maps, tid) ? NULL : maps_find(&maps, NOPS_AT);

	return nops && nops->mapping.addr == NOPS_AT && !maps_find(&maps, ARENA_BASE) &&
	       !strncmp(nops->mapping.name, mirror->path, strlen(mirror->path));
}

/* Of the file that has them, which the program itself opens. */
static int map_nops(struct injection *injection, uint64_t at, const struct probe_mirror *mirror, size_t cnt)
{
	const uint64_t open_args[6] = {(uint64_t)AT_FDCWD, at, O_RDONLY | O_CLOEXEC};
	long fd, mapped;
	int err;

	if (!mirror || !cnt)
		return 0;
	if (strlen(mirror->path) >= NAME_BYTES)
		return fail(-ENAMETOOLONG, "the path of trailcam's program is too long");
	err = write_name(injection, at, mirror->path);
	if (err)
		return err;
	if (nops_are_left(injection->tid, mirror))
		unmap(injection, NOPS_AT, NOPS_MAX * NOP_SIZE);
	fd = injection_call_undone(injection, SYS_openat, open_args, SYS_close, 0);
	if (fd < 0)
		return fail_errno((int)fd, "it cannot open %s, for its probes", mirror->path);
	mapped = injection_call(injection, SYS_mmap,
				(const uint64_t[6]){NOPS_AT, cnt * NOP_SIZE, PROT_READ | PROT_EXEC,
						    MAP_PRIVATE | MAP_FIXED_NOREPLACE, (uint64_t)fd,
						    mirror->file_offset});
	injection_undo(injection);
	return mapped == (long)NOPS_AT ? 0
				       : fail_errno(mapped < 0 ? (int)mapped : -EINVAL,
						    "it cannot map %s, for its probes", mirror->path);
}

static int make_by_name(struct injection *injection, uint64_t at, const struct arena_config *config,
			struct arena **ret_arena)
{
	struct room room;
	int err = room_find(injection->tid, config->ring_size, &room);

	if (!err)
		err = map_nops(injection, at, config->mirror, config->probe_cnt);
	if (err)
		return err;
	err = make_arena(injection, at, &room, ret_arena);
	if (err && config->probe_cnt)
		unmap(injection, NOPS_AT, NOPS_MAX * NOP_SIZE);
	return err;
}

/* What is called here and in the runtime while it is recorded, and by what it was asked for. */
static int check_calls(pid_t tid)
{
	enum { RWX = PROT_READ | PROT_WRITE | PROT_EXEC };
	static const struct filtered_call calls[] = {
		{.number = SYS_mmap,
		 .args = {ARENA_BASE, REGION_SIZE, RWX, MAP_SHARED | MAP_FIXED_NOREPLACE}},
		{.number = SYS_mmap,
		 .args = {ARENA_BASE, REGION_SIZE, RWX, MAP_PRIVATE | MAP_FIXED_NOREPLACE | MAP_ANONYMOUS}},
		{.number = SYS_mprotect, .args = {ARENA_BASE, REGION_SIZE, RWX}},
		{.number = SYS_openat, .args = {(uint64_t)AT_FDCWD, 0, O_RDWR | O_CLOEXEC}},
		{.number = SYS_rt_sigprocmask, .args = {SIG_SETMASK}},
		{.number = SYS_memfd_create},
		{.number = SYS_munmap},
		{.number = SYS_madvise},
		{.number = SYS_munlock},
		{.number = SYS_close},
		{.number = SYS_rseq},
		{.number = SYS_futex},
		{.number = SYS_prlimit64},
		{.number = SYS_getpid},
		{.number = SYS_gettid},
		{.number = SYS_tgkill},
		{.number = SYS_sched_yield},
		{.number = SYS_arch_prctl},
		{.number = SYS_prctl, .args = {PR_GET_TSC}},
		{.number = SYS_rt_sigpending},
		{.number = SYS_rt_tgsigqueueinfo},
	};

	return injection_is_survived(tid, calls, ARRAY_SIZE(calls)) ? 0 : fail(-EPERM, GIVE_SECCOMP_REASON);
}

static int begin_at(struct injection *injection, int *signal)
{
	int err = injection_begin(injection, signal);

	if (err == -ENOTSUP)
		return fail(err, "it is a 32-bit program");
	return err ? fail_errno(err, "it cannot be held") : 0;
}

/*
 * All that is made to happen in the thread stands between begin() and end(), or, for one call while it has
 * the arena, between begin_in_arena() and injection_end(). `signal`: it gets that one first.
 */
static int begin(struct injection *injection, pid_t tid, int *signal)
{
	CLEANUP(maps_release) struct maps maps = {0};
	uint64_t at;
	int err = check_calls(tid);

	*injection = (struct injection){.tid = tid};
	if (!err)
		err = maps_read(&maps, tid);
	if (!err && !maps_vdso_end(&maps))
		err = fail(-ENOTSUP, "it has no vDSO");
	at = maps_vdso_end(&maps) - PLACE_BYTES;
	if (!err)
		err = check_padding(tid, at);
	injection->at = at + NAME_BYTES;
	return err ? err : begin_at(injection, signal);
}

static int begin_in_arena(struct injection *injection, pid_t tid, const struct arena *arena, int *signal)
{
	int err = check_calls(tid);

	*injection = (struct injection){
		.tid = tid, .at = ARENA_BASE + ARENA_INJECTED, .ours = arena->bytes + ARENA_INJECTED};
	return err ? err : begin_at(injection, signal);
}

static void end(const struct injection *injection)
{
	const uint8_t nothing[NAME_BYTES] = {0};

	if (!injection->ended)
		memory_poke(injection->tid, injection->at - NAME_BYTES, nothing, sizeof(nothing));
	injection_end(injection);
}

int inject(pid_t tid, const struct arena_config *config, struct arena **ret_arena,
	   struct injection *ret_injection)
{
	struct shared former;
	int err;

	former_leave_call(tid);
	err = begin(ret_injection, tid, NULL);
	if (err)
		return err;
	if (former_is_left(ret_injection, &former))
		unmap_all(ret_injection, &former);
	err = make_by_name(ret_injection, ret_injection->at - NAME_BYTES, config, ret_arena);
	end(ret_injection);
	return err;
}

int inject_enter(pid_t tid, struct arena *arena, int slot)
{
	struct context *context = arena_context(arena, slot);
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return fail_errno(-errno, "cannot read its registers");
	context->next = regs.rip;
	regs.rip = arena_shared(arena)->runtime + arena_header(arena)->start;
	regs.gs_base = context->self;
	regs.orig_rax = (unsigned long long)-1;
	return ptrace(PTRACE_SETREGS, tid, NULL, &regs) ? fail_errno(-errno, "cannot set its registers") : 0;
}

int inject_unmap(pid_t tid, int *signal, const struct arena *arena, struct injection *ret_injection)
{
	int err = begin(ret_injection, tid, signal);

	if (err)
		return err;
	unmap_all(ret_injection, arena_shared(arena));
	lower_limits(ret_injection, arena);
	end(ret_injection);
	return 0;
}

void inject_lower_limits(pid_t tid, const struct arena *arena, struct injection *ret_injection)
{
	const struct raised *raised = arena_shared(arena)->raised;
	int err;

	*ret_injection = (struct injection){.tid = tid};
	if (!raised[0].is_raised && !raised[1].is_raised)
		return;
	if (may_set_limits(tid)) {
		lower_limits(ret_injection, arena);
		return;
	}
	err = begin(ret_injection, tid, NULL);
	if (err) {
		log_warn("process %d has higher limits of memory than its own: %s", (int)tid,
			 fail_message(err));
		return;
	}
	lower_limits(ret_injection, arena);
	end(ret_injection);
}

/* ---- restartable sequences ---- */

static void find_rseq(pid_t tid, struct rseq_area *ret_area)
{
	struct __ptrace_rseq_configuration config = {0};

	*ret_area = (struct rseq_area){0};
	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof(config), &config) > 0)
		*ret_area = (struct rseq_area){
			.addr = config.rseq_abi_pointer,
			.size = config.rseq_abi_size,
			.signature = config.signature,
		};
}

static void call_rseq(struct injection *injection, const struct rseq_area *area, uint64_t flags)
{
	injection_call(injection, SYS_rseq,
		       (const uint64_t[6]){area->addr, area->size, flags, area->signature});
}

int inject_leave_rseq(pid_t tid, const struct arena *arena, struct rseq_area *ret_area,
		      struct injection *ret_injection)
{
	enum { RSEQ_FLAG_UNREGISTER = 1 }; /* linux/rseq.h */
	int err;

	find_rseq(tid, ret_area);
	*ret_injection = (struct injection){.tid = tid};
	if (!ret_area->addr)
		return check_calls(tid); /* which the runtime makes */
	err = begin_in_arena(ret_injection, tid, arena, NULL);
	if (err)
		return err;
	call_rseq(ret_injection, ret_area, RSEQ_FLAG_UNREGISTER);
	injection_end(ret_injection);
	return 0;
}

/* ---- letting go ---- */

int inject_return(pid_t tid, int *signal, const struct arena *arena, const struct rseq_area *area,
		  struct injection *ret_injection)
{
	int err = begin_in_arena(ret_injection, tid, arena, signal);

	if (err)
		return err;
	call_rseq(ret_injection, area, 0);
	injection_end(ret_injection);
	return 0;
}
