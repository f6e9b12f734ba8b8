/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ptrace side of the step source: which thread stopped, why, and how it goes on. ptrace(2) is the reference.
 *
 * Every stop is one of these, and the thread that it belongs to is `held` until resume():
 *
 *	SIGTRAP, step	the instruction is done (or the system call it was has returned)
 *	signal		the instruction was NOT executed; the signal is delivered by resume(), and the next stop is either at its
 *			handler's first instruction (siginfo then says SIGTRAP by the kernel's ptrace_notify()), or one step
 *			further on because it was ignored: until then the thread is `unsure`
 *	event exec	a new address space; the thread stands at the loader's first instruction
 *	event clone	of the parent; the new thread's own first stop is event stop
 *	event fork	the child is let go, untraced
 *	event stop	a new thread, an interrupt of ours, or a group stop (which PTRACE_LISTEN keeps up)
 *
 * An int3 of the target looks like a step and is told by its opcode; its SIGTRAP is then delivered. Our own uprobes are
 * invisible: the kernel handles their int3 and reports one step for the instruction underneath.
 */
#include "source/step.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "source/pin.h"
#include "source/sideband.h"
#include "source/step_thread.h"

enum { EFLAGS_TF = 0x100 };

#define TRAP_MASK (1ull << (SIGTRAP - 1))

struct step {
	struct step_config config;
	struct trace_params params;
	pid_t pid;
	struct pin pin;
	struct code_store *code;
	struct step_thread **threads;
	size_t thread_cnt, thread_cap;
	size_t last;		   /* index of the thread that stopped last: most likely the next one, too */
	struct snapshot *sideband; /* collects the sideband */
	bool started;
	bool exec_seen;
	bool exited;
	bool detached;
	int wait_status;
	uint64_t tsc; /* the last one told: time never runs back */
};

/* ---- small things ---- */

static uint64_t now(struct step *step)
{
	struct timespec ts;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns = (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
	step->tsc = ns > step->tsc ? ns : step->tsc + 1;
	return step->tsc;
}

static uint64_t user_reg(pid_t tid, size_t offset)
{
	errno = 0;
	return (uint64_t)ptrace(PTRACE_PEEKUSER, tid, offset, NULL);
}

static uint64_t thread_ip(const struct step_thread *thread)
{
	return user_reg(thread->tid, offsetof(struct user_regs_struct, rip));
}

static struct step_thread *thread_find(struct step *step, pid_t tid)
{
	if (step->last < step->thread_cnt && step->threads[step->last]->tid == tid &&
	    !step->threads[step->last]->dead)
		return step->threads[step->last];
	for (size_t i = 0; i < step->thread_cnt; i++) {
		if (step->threads[i]->tid != tid || step->threads[i]->dead)
			continue;
		step->last = i;
		return step->threads[i];
	}
	return NULL;
}

static int thread_add(struct step *step, pid_t tid, struct step_thread **ret_thread)
{
	struct step_thread *thread = calloc(1, sizeof(*thread));
	int err = thread ? encoder_init(&thread->encoder, &step->params, step->config.ring_size) : -ENOMEM;

	if (!err)
		err = ARRAY_PUSH(step->threads, step->thread_cnt, step->thread_cap, thread);
	if (err) {
		free(thread);
		return err;
	}
	thread->pid = step->pid;
	thread->tid = tid;
	thread->syscall = -1;
	thread->log = step->config.log;
	thread->overflow_every = thread->overflow_next = step->config.overflow_every;
	*ret_thread = thread;
	return 0;
}

/* ---- the target's mappings ---- */

static int announce_maps(struct step *step, pid_t tid, const struct maps *before, const struct maps *maps,
			 uint64_t tsc)
{
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct sideband_mapping *mapping = &maps->items[i].mapping;
		int err;

		if (maps_has(before, &maps->items[i]))
			continue;
		err = sideband_add_mmap(step->sideband, step->pid, tid, tsc, mapping);
		if (!err && step->config.mapped)
			err = step->config.mapped(step->config.ctx, step->pid, mapping);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Whether a range that held code now holds other code: whatever a decoder believes of it must be dropped. */
static bool code_replaced(const struct maps *before, const struct maps *maps)
{
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct map *map = &maps->items[i];

		if (maps_has(before, map))
			continue;
		for (size_t j = 0; j < before->cnt; j++)
			if (before->items[j].mapping.addr < map->mapping.addr + map->mapping.size &&
			    map->mapping.addr < before->items[j].mapping.addr + before->items[j].mapping.size)
				return true;
	}
	return false;
}

/* A new image needs a new PSB in every stream: decoding can change images only there. */
static void want_psbs(struct step *step)
{
	for (size_t i = 0; i < step->thread_cnt; i++)
		step->threads[i]->encoder.psb_wanted = true;
}

static int read_maps(struct step *step, pid_t tid, bool exec)
{
	CLEANUP(maps_release) struct maps maps = {0};
	const struct maps none = {0}, *before = exec ? &none : code_store_maps(step->code);
	int err = maps_read(&maps, step->pid);

	if (err)
		return err == -ENOENT || err == -ESRCH ? 0 : err;
	if (exec || code_replaced(before, &maps))
		want_psbs(step);
	err = announce_maps(step, tid, before, &maps, now(step));
	return err < 0 ? err : code_store_set_maps(step->code, step->pid, &maps);
}

static bool changes_maps(long syscall_nr)
{
	switch (syscall_nr) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_mremap:
	case SYS_shmat:
		return true;
	default:
		return false;
	}
}

static void read_comm(const struct step *step, pid_t tid, char *comm, int size)
{
	char path[64];
	CLEANUP(fclosep) FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", step->pid, tid);
	file = fopen(path, "re");
	if (file && fgets(comm, size, file))
		comm[strcspn(comm, "\n")] = '\0';
}

static void announce_comm(struct step *step, pid_t tid, bool exec)
{
	char comm[32] = "";

	read_comm(step, tid, comm, sizeof(comm));
	sideband_add_comm(step->sideband, step->pid, tid, now(step), comm, exec);
}

/* ---- how a thread goes on ---- */

static void resume(struct step *step, struct step_thread *thread, int signal)
{
	enum __ptrace_request request = step->started ? PTRACE_SINGLESTEP : PTRACE_CONT;

	if (step->started && thread->encoder.enabled) {
		if (thread->insn.kind == INSN_SYSCALL)
			thread->syscall = (long)user_reg(thread->tid, offsetof(struct user_regs_struct, rax));
		step_thread_leave(thread, now(step));
	}
	thread->held = false;
	/* ESRCH: killed in the meantime; its exit will be reported. */
	ptrace(request, thread->tid, NULL, (void *)(long)signal);
}

/* pushf has just shown the trap flag to the target: put it right on its stack. */
static void hide_trap_flag(const struct step_thread *thread)
{
	uint64_t sp = user_reg(thread->tid, offsetof(struct user_regs_struct, rsp));
	long flags;

	errno = 0;
	flags = ptrace(PTRACE_PEEKDATA, thread->tid, (void *)sp, NULL);
	if (!errno)
		ptrace(PTRACE_POKEDATA, thread->tid, (void *)sp, (void *)(flags & ~(long)EFLAGS_TF));
}

static bool stands_still_by_nature(const struct insn *insn)
{
	return insn->kind != INSN_OTHER && insn->kind != INSN_REP && insn->kind != INSN_PUSHF;
}

static int thread_siginfo_code(const struct step_thread *thread)
{
	siginfo_t info = {0};

	return ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) ? 0 : info.si_code;
}

/*
 * The kernel forces a step's SIGTRAP on the target: where that is blocked, it unblocks it and resets its handler for good. So SIGTRAP is never
 * left blocked while the target is stepped; what the target wanted is remembered for when it is let go.
 */
static void unblock_trap(struct step_thread *thread)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask) || !(mask & TRAP_MASK))
		return;
	thread->trap_blocked = true;
	mask &= ~TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
}

static void block_trap_again(const struct step_thread *thread)
{
	uint64_t mask;

	if (!thread->trap_blocked || ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask))
		return;
	mask |= TRAP_MASK;
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
}

/* The target has just changed its signal mask by rt_sigprocmask(how, set, ...) or rt_sigreturn(). */
static void mask_changed(struct step_thread *thread, long syscall_nr)
{
	uint64_t how = user_reg(thread->tid, offsetof(struct user_regs_struct, rdi));
	uint64_t set = user_reg(thread->tid, offsetof(struct user_regs_struct, rsi));
	long bits = set ? ptrace(PTRACE_PEEKDATA, thread->tid, (void *)set, NULL) : 0;

	if (syscall_nr == SYS_rt_sigreturn || how == SIG_SETMASK ||
	    (how == SIG_UNBLOCK && (uint64_t)bits & TRAP_MASK))
		thread->trap_blocked = false;
	unblock_trap(thread);
}

/* The stop after a signal was delivered, or after any stop in which the thread may have been inside the kernel. */
static void step_from_unsure(struct step *step, struct step_thread *thread, uint64_t ip)
{
	uint64_t tsc = now(step);
	bool handler = thread->held_signal && thread_siginfo_code(thread) == SIGTRAP;

	thread->held_signal = 0;
	if (handler)
		unblock_trap(thread);
	if (!handler && ip != thread->insn.ip) {
		/* The signal was ignored, and the instruction it came before has been executed. */
		step_thread_enter(thread, step->code, tsc, thread->insn.ip);
		step_thread_leave(thread, tsc);
		if (!thread->in_kernel) {
			step_thread_retire(thread, step->code, now(step), ip);
			return;
		}
		tsc = now(step);
	}
	step_thread_enter(thread, step->code, tsc, ip);
}

static int on_signal(struct step *step, struct step_thread *thread, int signal);

static int back_from_kernel(struct step *step, struct step_thread *thread, uint64_t ip)
{
	long syscall_nr = thread->syscall;
	int err = changes_maps(syscall_nr) ? read_maps(step, thread->tid, false) : 0;

	thread->syscall = -1;
	if (syscall_nr == SYS_rt_sigprocmask || syscall_nr == SYS_rt_sigreturn)
		mask_changed(thread, syscall_nr);
	if (!err && syscall_nr == SYS_prctl)
		announce_comm(step, thread->tid, false);
	if (!err && thread_siginfo_code(thread) <= 0)
		/* A SIGTRAP that somebody sent took the place of the step's. */
		return on_signal(step, thread, SIGTRAP);
	if (!err)
		step_thread_enter(thread, step->code, now(step), ip);
	return err;
}

/*
 * A uprobe may lead a thread through code of its own: where a function returns with a probe on its return, or over a probed nop that the kernel
 * has turned into a call. It is no part of the program: the trace goes from the probed instruction to where the detour leads.
 */
static bool in_detour(struct step *step, const struct step_thread *thread, uint64_t ip)
{
	const struct map *map;

	if (!((ip ^ thread->insn.ip) & ~(uint64_t)0xfff))
		return false;
	map = maps_find(code_store_maps(step->code), ip);
	if (!map && !read_maps(step, thread->tid, false))
		map = maps_find(code_store_maps(step->code), ip);
	return map && !strncmp(map->mapping.name, "[uprobes", strlen("[uprobes"));
}

/* A snapshot in the middle of one: the probed nop has been executed. */
static void end_detour(struct step *step, struct step_thread *thread)
{
	if (thread->detour && thread->encoder.enabled && thread->insn.kind == INSN_OTHER)
		step_thread_retire(thread, step->code, now(step), thread->insn.ip + thread->insn.len);
}

/* One step is done. */
static int on_step(struct step *step, struct step_thread *thread)
{
	uint64_t ip = thread_ip(thread);

	if (thread->unsure) {
		step_from_unsure(step, thread, ip);
		return 0;
	}
	if (thread->fresh && ip == thread->insn.ip) {
		/* The way out of the exec or clone that it began in; nothing was executed. */
		thread->fresh = false;
		return 0;
	}
	thread->fresh = false;
	if (thread->in_kernel && thread->insn.kind == INSN_BREAK)
		return on_signal(step, thread, SIGTRAP);
	if (thread->in_kernel)
		return back_from_kernel(step, thread, ip);
	if (ip == thread->insn.ip && !thread->detour && !stands_still_by_nature(&thread->insn)) {
		/* A repeated instruction that goes on, or a SIGTRAP that somebody sent. */
		if (thread_siginfo_code(thread) <= 0)
			return on_signal(step, thread, SIGTRAP);
		return 0;
	}
	if (in_detour(step, thread, ip)) {
		thread->detour = true;
		return 0;
	}
	if (thread->insn.kind == INSN_PUSHF)
		hide_trap_flag(thread);
	if (!thread->detour || ip != thread->insn.ip)
		step_thread_retire(thread, step->code, now(step), ip);
	thread->detour = false;
	return 0;
}

/* Follows the frame pointers, each at [rbp] with the return address above it, as long as they lead up the stack. */
static void walk_stack(const struct step_thread *thread, struct hit *hit)
{
	uint64_t frame = hit->regs[HIT_RBP];

	hit->stack[hit->stack_cnt++] = hit->regs[HIT_RIP];
	while (hit->stack_cnt < HIT_STACK_MAX && frame) {
		uint64_t next, ret;

		errno = 0;
		next = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)frame, NULL);
		ret = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)(frame + sizeof(uint64_t)),
				       NULL);
		if (errno)
			return;
		hit->stack[hit->stack_cnt++] = ret;
		if (next <= frame)
			return;
		frame = next;
	}
}

/* What a BPF program records at a probe (bpf/trigger.bpf.c), of a thread that is stopped. */
static void describe_thread(struct step *step, const struct step_thread *thread, struct hit *ret_hit)
{
	static const enum hit_reg args[HIT_ARG_CNT] = {HIT_RDI, HIT_RSI, HIT_RDX, HIT_RCX, HIT_R8, HIT_R9};
	struct hit hit = {.time_ns = now(step), .pid = (uint32_t)thread->pid, .tid = (uint32_t)thread->tid};
	struct user_regs_struct regs = {0};
	char comm[HIT_COMM_BYTES + 1] = "";

	hit.begin_ns = hit.time_ns;
	ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs);
	memcpy(hit.regs, &regs, sizeof(hit.regs)); /* begins like struct pt_regs */
	for (size_t i = 0; i < HIT_ARG_CNT; i++)
		hit.args[i] = hit.regs[args[i]];
	errno = 0;
	hit.return_address = (uint64_t)ptrace(PTRACE_PEEKDATA, thread->tid, (void *)hit.regs[HIT_RSP], NULL);
	if (errno)
		hit.return_address = 0;
	walk_stack(thread, &hit);
	read_comm(step, thread->tid, comm, sizeof(comm));
	memcpy(hit.comm, comm, sizeof(hit.comm));
	*ret_hit = hit;
}

static void tell_signal(struct step *step, const struct step_thread *thread, int signal)
{
	struct hit hit;

	if (!(step->config.signals >> (signal - 1) & 1))
		return;
	describe_thread(step, thread, &hit);
	step->config.signalled(step->config.ctx, signal, &hit);
}

/* A signal is about to be delivered; the instruction at hand was not executed. */
static int on_signal(struct step *step, struct step_thread *thread, int signal)
{
	uint64_t ip = thread_ip(thread);

	tell_signal(step, thread, signal);
	if (thread->encoder.enabled && ip != thread->insn.ip)
		step_thread_retire(thread, step->code, now(step), ip);
	step_thread_interrupt(thread, now(step));
	thread->insn = code_store_insn(step->code, ip);
	thread->detour = false;
	thread->in_kernel = false;
	thread->syscall = -1;
	thread->unsure = true;
	thread->held_signal = signal;
	return 0;
}

/* ---- the start ---- */

static void begin_here(struct step *step, struct step_thread *thread, bool in_user_mode)
{
	uint64_t ip = thread_ip(thread);

	unblock_trap(thread);
	if (in_user_mode) {
		step_thread_enter(thread, step->code, now(step), ip);
		return;
	}
	thread->insn = code_store_insn(step->code, ip);
	thread->unsure = true;
}

/* The target has reached the start point in `thread`: all others are stopped, to be stepped too. */
static int start_here(struct step *step, struct step_thread *thread)
{
	int err = read_maps(step, thread->tid, false);

	if (err)
		return err;
	step->started = true;
	begin_here(step, thread, true);
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (step->threads[i] != thread && !step->threads[i]->dead)
			ptrace(PTRACE_INTERRUPT, step->threads[i]->tid, NULL, NULL);
	return 0;
}

/* ---- events ---- */

/* All other threads are gone; the one that called exec carries on under the leader's id. */
static int on_exec(struct step *step, struct step_thread *leader)
{
	unsigned long former = 0;
	struct step_thread *caller;
	int err;

	ptrace(PTRACE_GETEVENTMSG, leader->tid, NULL, &former);
	caller = thread_find(step, (pid_t)former);
	if (caller && caller != leader) {
		leader->dead = true;
		caller->tid = step->pid;
		leader = caller;
		leader->held = true;
	}
	for (size_t i = 0; i < step->thread_cnt; i++) {
		if (step->threads[i] == leader || step->threads[i]->dead)
			continue;
		step_thread_interrupt(step->threads[i], now(step));
		step->threads[i]->dead = true;
	}
	step->exec_seen = true;
	if (leader->encoder.enabled) /* cannot be, unless the system call was not seen as one */
		step_thread_interrupt(leader, now(step));
	announce_comm(step, leader->tid, true);
	err = read_maps(step, leader->tid, true);
	if (err)
		return err;
	if (!step->config.wait_for_start)
		step->started = true;
	if (step->started)
		begin_here(step, leader, true);
	leader->fresh = true;
	leader->syscall = -1;
	return 0;
}

static int on_clone(struct step *step, const struct step_thread *parent)
{
	unsigned long tid = 0;
	struct step_thread *thread;

	ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid);
	if (thread_find(step, (pid_t)tid))
		return 0; /* its own stop came first */
	return thread_add(step, (pid_t)tid, &thread);
}

/* A child process: it runs on its own. */
static void let_child_go(struct step *step, pid_t pid)
{
	pin_restore_task(&step->pin, pid);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static int on_event_stop(struct step *step, struct step_thread *thread, int signal)
{
	if (signal != SIGTRAP) {
		/* Stopped by job control: stays so until SIGCONT, which is reported as another event stop. */
		step_thread_interrupt(thread, now(step));
		thread->insn = code_store_insn(step->code, thread_ip(thread));
		thread->unsure = true;
		thread->held = false;
		ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
		return 0;
	}
	if (!thread->announced && step->started) {
		sideband_add_task(step->sideband, PERF_RECORD_FORK, step->pid, thread->tid, step->pid,
				  step->pid, now(step));
		announce_comm(step, thread->tid, false);
		begin_here(step, thread, true);
		thread->fresh = true;
	} else if (step->started && !thread->encoder.enabled && !thread->in_kernel && !thread->unsure) {
		begin_here(step, thread, false);
	}
	thread->announced = true;
	return 0;
}

static int on_stop(struct step *step, struct step_thread *thread, int status)
{
	int signal = WSTOPSIG(status);

	switch (status >> 16) {
	case 0:
		break;
	case PTRACE_EVENT_EXEC:
		return on_exec(step, thread);
	case PTRACE_EVENT_CLONE:
		return on_clone(step, thread);
	case PTRACE_EVENT_STOP:
		return on_event_stop(step, thread, signal);
	default: /* fork, vfork: the child is dealt with at its own first stop */
		return 0;
	}
	if (!step->started) {
		if (signal == SIGSTOP && step->exec_seen && step->config.start_wanted &&
		    step->config.start_wanted(step->config.ctx))
			return start_here(step, thread);
		thread->held_signal = signal;
		return 0;
	}
	if (signal == SIGTRAP)
		return on_step(step, thread);
	return on_signal(step, thread, signal);
}

static void on_end(struct step *step, struct step_thread *thread, int status)
{
	if (step->started) {
		step_thread_interrupt(thread, now(step));
		sideband_add_task(step->sideband, PERF_RECORD_EXIT, step->pid, thread->tid, step->pid,
				  step->pid, now(step));
	}
	thread->dead = true;
	thread->held = false;
	if (thread->tid == step->pid) {
		step->exited = true;
		step->wait_status = status;
	}
}

/* A stop of a task that is not known yet: a new thread, or a child process. */
static int on_stranger(struct step *step, pid_t tid, struct step_thread **ret_thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", step->pid, tid);
	*ret_thread = NULL;
	if (access(path, F_OK)) {
		let_child_go(step, tid);
		return 0;
	}
	return thread_add(step, tid, ret_thread);
}

/* Waits for the next stop or exit and takes it in. The thread stays held; resume() is the caller's. */
static int next_event(struct step *step, struct step_thread **ret_thread)
{
	struct step_thread *thread;
	int status, err;
	pid_t tid = waitpid(-1, &status, __WALL);

	*ret_thread = NULL;
	if (tid < 0)
		return errno == EINTR ? 0 : fail_errno(-errno, "cannot wait for process %d", step->pid);
	thread = thread_find(step, tid);
	if (!WIFSTOPPED(status)) {
		if (thread)
			on_end(step, thread, status);
		return 0;
	}
	if (!thread) {
		err = on_stranger(step, tid, &thread);
		if (err || !thread)
			return err;
	}
	thread->held = true;
	err = on_stop(step, thread, status);
	*ret_thread = thread_find(step, tid);
	return err;
}

/* ---- the run ---- */

static bool is_stepping(const struct step_thread *thread)
{
	return !thread->dead && !thread->held && thread->announced && thread->encoder.enabled;
}

/* The recording ends: threads in the middle of a step finish it; those inside the kernel are silent anyway. */
static int hold_all(struct step *step)
{
	for (size_t i = 0; i < step->thread_cnt; i++) {
		while (is_stepping(step->threads[i]) && !step->exited) {
			struct step_thread *thread;
			int err = next_event(step, &thread);

			if (err)
				return err;
		}
	}
	return 0;
}

static void go_on(struct step *step, struct step_thread *thread)
{
	int signal = thread->held_signal;

	if (!thread->unsure)
		thread->held_signal = 0;
	resume(step, thread, signal);
}

/* Where a snapshot was taken. */
static void resume_all(struct step *step)
{
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];

		if (thread->dead || !thread->paused)
			continue;
		thread->paused = false;
		step_thread_enter(thread, step->code, now(step), thread->insn.ip);
	}
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (step->threads[i]->held && !step->threads[i]->dead)
			go_on(step, step->threads[i]);
}

int step_run(struct step *step, enum step_end *ret_end)
{
	resume_all(step);
	while (!step->exited) {
		struct step_thread *thread;
		int err = next_event(step, &thread);

		if (err)
			return err;
		if (step->config.stop_wanted(step->config.ctx)) {
			err = hold_all(step);
			*ret_end = step->exited ? STEP_EXITED : STEP_STOPPED;
			return err;
		}
		if (thread && thread->held)
			go_on(step, thread);
	}
	*ret_end = STEP_EXITED;
	return 0;
}

int step_new(struct step **ret_step, const struct step_config *config, pid_t pid)
{
	CLEANUP(step_freep) struct step *step = calloc(1, sizeof(*step));
	struct step_thread *thread;
	int err;

	if (!step)
		return -ENOMEM;
	step->config = *config;
	step->params = encoder_default_params();
	step->pid = pid;
	step->detached = true;
	step->pin.guard_fd = -1;
	err = code_store_new(&step->code, &config->code);
	if (!err)
		err = snapshot_new(&step->sideband);
	if (!err)
		err = thread_add(step, pid, &thread);
	if (err)
		return err;
	thread->announced = true;
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK))
		return fail_errno(-errno, "ptrace is not allowed here (a seccomp filter, another tracer, or "
					  "kernel.yama.ptrace_scope=3)");
	step->detached = false;
	pin_init(&step->pin, pid);
	*ret_step = TAKE_PTR(step);
	return 0;
}

static int add_aux(struct step *step, struct step_thread *thread, struct snapshot *snapshot)
{
	struct aux_trace *aux;
	int err;

	if (!aux_ring_held(&thread->encoder.ring))
		return 0;
	aux = snapshot_add_aux(snapshot);
	if (!aux)
		return -ENOMEM;
	*aux = (struct aux_trace){.pid = thread->pid, .tid = thread->tid, .cpu = -1};
	err = aux_ring_linearise(&thread->encoder.ring, &aux->bytes, &aux->size, &aux->offset);
	if (err)
		return err;
	aux->ref_tsc = encoder_first_tsc(aux->bytes, aux->size, step->tsc);
	/* What comes next must be decodable without this. */
	aux_ring_take(&thread->encoder.ring);
	thread->encoder.psb_wanted = true;
	return 0;
}

static int take_sideband(struct step *step, struct snapshot *snapshot)
{
	struct snapshot *from = step->sideband;
	int err = array_reserve(&snapshot->sideband, &snapshot->sideband_cap,
				snapshot->sideband_size + from->sideband_size, 1);

	if (err)
		return err;
	if (from->sideband_size)
		memcpy(snapshot->sideband + snapshot->sideband_size, from->sideband, from->sideband_size);
	snapshot->sideband_size += from->sideband_size;
	from->sideband_size = 0;
	return 0;
}

int step_snapshot(struct step *step, struct snapshot *snapshot)
{
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];
		int err;

		if (!thread->dead && thread->encoder.enabled) {
			end_detour(step, thread);
			thread->paused = thread->held;
			step_thread_interrupt(thread, now(step));
		}
		err = add_aux(step, thread, snapshot);
		if (err)
			return err;
	}
	return take_sideband(step, snapshot);
}

int step_describe(struct step *step, struct snapshot *snapshot)
{
	struct timespec wall;

	snapshot->params = step->params;
	snapshot->clock = encoder_default_clock();
	clock_gettime(CLOCK_REALTIME, &wall);
	snapshot->clock.monotonic_ns = snapshot->clock.trace_ns = now(step);
	snapshot->clock.realtime_ns = (uint64_t)wall.tv_sec * 1000000000ull + (uint64_t)wall.tv_nsec;
	snapshot->source = strdup("step");
	return snapshot->source ? code_store_export(step->code, snapshot) : -ENOMEM;
}

/* ---- letting go ---- */

/* A step's SIGTRAP that is queued, but not reported yet: without a tracer it would kill. */
static bool trap_is_queued(const struct step_thread *thread)
{
	struct __ptrace_peeksiginfo_args args = {.nr = 32};
	siginfo_t queued[32];
	long cnt = ptrace(PTRACE_PEEKSIGINFO, thread->tid, &args, queued);

	for (long i = 0; i < cnt; i++)
		if (queued[i].si_signo == SIGTRAP && queued[i].si_code > 0)
			return true;
	return false;
}

/* A stop on the way to being let go: what the thread stops for is kept for it, unless it is our own step. */
static void on_last_stop(struct step_thread *thread, int status)
{
	int signal = status >> 16 ? 0 : WSTOPSIG(status);

	if (signal == SIGTRAP && thread_siginfo_code(thread) > 0)
		signal = 0;
	thread->held_signal = signal;
	thread->held = true;
	if (trap_is_queued(thread)) {
		thread->held = false;
		ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(long)signal);
	}
}

/* Detaching takes a stop. */
static void bring_to_stop(struct step *step, struct step_thread *thread)
{
	if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL))
		return;
	while (!thread->held && !thread->dead) {
		int status;

		if (waitpid(thread->tid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (WIFSTOPPED(status))
			on_last_stop(thread, status);
		else
			on_end(step, thread, status);
	}
}

void step_detach(struct step *step)
{
	if (step->detached)
		return;
	step->detached = true;
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];

		if (thread->dead)
			continue;
		if (!thread->held)
			bring_to_stop(step, thread);
		block_trap_again(thread);
		if (!thread->dead)
			ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(long)thread->held_signal);
	}
	pin_release(&step->pin);
}

int step_wait_status(const struct step *step)
{
	return step->wait_status;
}

uint64_t step_instruction_cnt(const struct step *step)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < step->thread_cnt; i++)
		cnt += step->threads[i]->instruction_cnt;
	return cnt;
}

bool step_started(const struct step *step)
{
	return step->started;
}

void step_free(struct step *step)
{
	if (!step)
		return;
	step_detach(step);
	for (size_t i = 0; i < step->thread_cnt; i++) {
		encoder_release(&step->threads[i]->encoder);
		free(step->threads[i]);
	}
	free(step->threads);
	code_store_free(step->code);
	snapshot_free(step->sideband);
	free(step);
}
