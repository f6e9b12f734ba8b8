/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ptrace reports births, execs and signals before anything of them has run: the runtime needs no code for
 * them. A thread is born in the runtime, behind the one instruction that makes system calls; it only needs a
 * context of its own.
 */
#include "source/translate/translate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <x86intrin.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "process/proc_status.h"
#include "source/code_store.h"
#include "source/translate/inject.h"
#include "source/translate/translate_internal.h"

static const char *const give_back_reasons[] = {
	[GIVE_NOTHING] = "",
	[GIVE_UNKNOWN] = "it has come to an instruction that cannot be translated",
	[GIVE_REACH] = "its code refers to memory that is too far from the code cache",
	[GIVE_MEMORY] = "there is no memory left for the code cache",
	[GIVE_GS] = "it uses the gs register",
	[GIVE_JIT] = "it makes code at run time",
	[GIVE_UNMAPPED] = "it has jumped to where there is no code",
	[GIVE_BREAK] = "it has a breakpoint in its code",
};
_Static_assert(ARRAY_SIZE(give_back_reasons) == GIVE_CNT, "one for each");

/* ---- threads ---- */

struct translate_thread *translate_find(struct translate *translate, pid_t tid)
{
	for (size_t i = 0; i < translate->thread_cnt; i++)
		if (translate->threads[i]->tid == tid && !translate->threads[i]->dead)
			return translate->threads[i];
	return NULL;
}

static void thread_free(struct translate_thread *thread)
{
	encoder_release(&thread->encoder);
	free(thread);
}

static int add_thread(struct translate *translate, pid_t tid, struct translate_thread **ret_thread)
{
	struct translate_thread *thread = calloc(1, sizeof(*thread));
	int err = thread ? encoder_init(&thread->encoder, &translate->params, translate->config.trace_size)
			 : -ENOMEM;

	if (!err)
		err = ARRAY_PUSH(translate->threads, translate->thread_cnt, translate->thread_cap, thread);
	if (err) {
		free(thread);
		return err;
	}
	thread->tid = tid;
	thread->slot = translate->arena ? arena_take_slot(translate->arena, translate->pid, tid) : -1;
	*ret_thread = thread;
	return 0;
}

static void tell_given_back(const struct translate *translate, pid_t tid, const char *why)
{
	if (translate->config.gave_back)
		translate->config.gave_back(translate->config.ctx, tid, why);
}

int translate_encode(struct translate *translate, struct translate_thread *thread)
{
	struct tsc_clock clock = {.tsc = translate->tsc, .ns = translate->tsc_ns};
	uint64_t tsc = __rdtsc(), ns = clock_ns(CLOCK_MONOTONIC);

	if (thread->slot < 0)
		return 0;
	clock.ns_per_tick = tsc > clock.tsc ? (double)(ns - clock.ns) / (double)(tsc - clock.tsc) : 1;
	return words_encode(translate->arena, thread->slot, &clock, &thread->encoder);
}

static int leave_slot(struct translate *translate, struct translate_thread *thread)
{
	int err = translate_encode(translate, thread);

	if (thread->slot >= 0)
		arena_leave_slot(translate->arena, thread->slot);
	thread->slot = -1;
	encoder_flush(&thread->encoder);
	thread->encoder.enabled = false;
	return err;
}

/* ---- mappings ---- */

int translate_read_maps(struct translate *translate, pid_t tid)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int err = maps_read(&maps, translate->pid);

	if (err)
		return err == -ENOENT || err == -ESRCH ? 0 : err;
	for (size_t i = 0; i < maps.cnt && !err; i++) {
		const struct map *map = &maps.items[i];

		if (maps_has(&translate->maps, map) ||
		    (translate->arena && arena_is_ours(translate->arena, map->mapping.addr)))
			continue;
		err = sideband_add_mmap(translate->sideband, translate->pid, tid, translate->exec_ns,
					&map->mapping);
	}
	if (err)
		return err;
	maps_release(&translate->maps);
	translate->maps = maps;
	maps = (struct maps){0};
	return 0;
}

static void announce(struct translate *translate, pid_t tid, bool exec)
{
	char comm[32] = "";

	proc_status_text(tid, "Name", comm, sizeof(comm));
	sideband_add_comm(translate->sideband, translate->pid, tid, translate->exec_ns, comm, exec);
}

/* ---- events ---- */

static void resume(pid_t tid, int signal)
{
	/* ESRCH: killed in the meantime; its end will be reported. */
	ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal);
}

void translate_give_back(struct translate *translate, struct translate_thread *thread,
			 struct user_regs_struct *regs, uint64_t guest, const char *why)
{
	regs->rip = guest;
	regs->gs_base = 0;
	ptrace(PTRACE_SETREGS, thread->tid, NULL, regs);
	leave_slot(translate, thread);
	tell_given_back(translate, thread->tid, why);
}

static int on_exec(struct translate *translate, pid_t tid)
{
	struct translate_thread *thread = NULL;
	int err = 0;

	for (size_t i = 0; i < translate->thread_cnt && !err; i++) {
		err = leave_slot(translate, translate->threads[i]);
		translate->threads[i]->dead |= translate->threads[i]->tid != tid;
	}
	if (translate->arena)
		arena_free(translate->arena);
	translate->arena = NULL;
	maps_release(&translate->maps);
	translate->maps = (struct maps){0};
	translate->exec_ns = clock_ns(CLOCK_MONOTONIC);
	announce(translate, tid, true);
	if (!err)
		err = arena_new(&translate->arena);
	thread = translate_find(translate, tid);
	if (!err && !thread)
		err = add_thread(translate, tid, &thread);
	if (err)
		return err;
	if (thread->slot < 0)
		thread->slot = arena_take_slot(translate->arena, translate->pid, tid);
	err = inject(tid, translate->arena, thread->slot);
	if (err) {
		thread->slot = -1;
		tell_given_back(translate, tid, fail_message(err));
	}
	err = translate_read_maps(translate, tid);
	resume(tid, 0);
	return err;
}

/* A new thread stands behind the system call that made it, in the context of its parent. */
static void begin_thread(struct translate *translate, struct translate_thread *thread)
{
	struct user_regs_struct regs;

	announce(translate, thread->tid, false);
	thread->is_new = false;
	if (thread->slot >= 0 && !ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs)) {
		regs.gs_base = arena_context(translate->arena, thread->slot)->self;
		ptrace(PTRACE_SETREGS, thread->tid, NULL, &regs);
	}
	resume(thread->tid, 0);
}

/* A process of its own, with our memory in its copy: it goes its way natively. */
static void free_child(pid_t child, uint64_t guest)
{
	struct user_regs_struct regs;

	if (guest && !ptrace(PTRACE_GETREGS, child, NULL, &regs)) {
		regs.rip = regs.rcx = guest;
		regs.gs_base = 0;
		ptrace(PTRACE_SETREGS, child, NULL, &regs);
	}
	ptrace(PTRACE_DETACH, child, NULL, NULL);
}

static bool is_thread_of(pid_t tid, pid_t pid)
{
	uint64_t group;

	return !proc_status_number(tid, "Tgid", 10, &group) && (pid_t)group == pid;
}

static bool was_stranger(struct translate *translate, pid_t tid)
{
	for (size_t i = 0; i < translate->stranger_cnt; i++)
		if (translate->strangers[i] == tid) {
			translate->strangers[i] = translate->strangers[--translate->stranger_cnt];
			return true;
		}
	return false;
}

/* Waits for the child's first stop, unless it was seen. */
static void await_stop(struct translate *translate, pid_t child)
{
	int status;

	if (!was_stranger(translate, child))
		waitpid(child, &status, __WALL);
}

static int on_birth(struct translate *translate, struct translate_thread *parent)
{
	const struct context *from = parent->slot < 0 ? NULL : arena_context(translate->arena, parent->slot);
	struct translate_thread *thread;
	unsigned long child;
	int err;

	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &child))
		return 0;
	await_stop(translate, (pid_t)child);
	if (!is_thread_of((pid_t)child, translate->pid)) {
		free_child((pid_t)child, from ? from->syscall_next : 0);
		resume(parent->tid, 0);
		return 0;
	}
	err = add_thread(translate, (pid_t)child, &thread);
	if (err)
		return err;
	if (!from && thread->slot >= 0) {
		arena_leave_slot(translate->arena, thread->slot);
		thread->slot = -1;
	}
	if (from && thread->slot >= 0) {
		struct context *context = arena_context(translate->arena, thread->slot);

		context->syscall_next = from->syscall_next;
		context->syscall_resume = from->syscall_resume;
		context->next = from->next;
		arena_append(translate->arena, thread->slot,
			     from->syscall_next | (uint64_t)arena_shared(translate->arena)->generation << 48,
			     RING_GO);
	} else if (from) {
		struct user_regs_struct regs;

		if (!ptrace(PTRACE_GETREGS, (pid_t)child, NULL, &regs)) {
			regs.rip = regs.rcx = from->syscall_next;
			regs.gs_base = 0;
			ptrace(PTRACE_SETREGS, (pid_t)child, NULL, &regs);
		}
		tell_given_back(translate, (pid_t)child, "there are too many threads");
	}
	begin_thread(translate, thread);
	resume(parent->tid, 0);
	return 0;
}

/* What the file has where memory has a breakpoint; the same where no file is mapped. */
static void read_original(const struct translate *translate, struct context *context)
{
	const struct map *map = maps_find(&translate->maps, context->next);
	CLEANUP(closep) int fd = map ? open(map->mapping.name, O_RDONLY | O_CLOEXEC) : -1;

	memset(context->original, 0, sizeof(context->original));
	context->original[0] = 0xcc;
	context->original_at = context->next;
	if (fd >= 0 && pread(fd, context->original, sizeof(context->original),
			     (off_t)(context->next - map->mapping.addr + map->mapping.file_offset)) < 1)
		context->original[0] = 0xcc;
}

/* The runtime is entered as before, and knows now what stands there. */
static void retry(struct translate *translate, struct translate_thread *thread, struct user_regs_struct *regs)
{
	const struct runtime_header *header = arena_header(translate->arena);
	struct context *context = arena_context(translate->arena, thread->slot);
	uint64_t runtime = arena_shared(translate->arena)->runtime;

	read_original(translate, context);
	regs->rip = runtime + header->start;
	if (context->entered == WHY_MISS) {
		regs->rip = runtime + header->miss_first;
		context->rcx = regs->rcx;
		context->rax = regs->rax;
		regs->rcx = context->next;
	}
	ptrace(PTRACE_SETREGS, thread->tid, NULL, regs);
}

static void on_trap(struct translate *translate, struct translate_thread *thread,
		    struct user_regs_struct *regs)
{
	const struct context *context = arena_context(translate->arena, thread->slot);
	uint64_t why = context->why < GIVE_CNT ? context->why : GIVE_UNKNOWN;

	if (why == GIVE_BREAK)
		retry(translate, thread, regs);
	else
		translate_give_back(translate, thread, regs, context->next, give_back_reasons[why]);
}

/* Breakpoints of the runtime's. False: it is another one. */
static bool on_breakpoint(struct translate *translate, struct translate_thread *thread, int *ret_err)
{
	const struct runtime_header *header;
	struct user_regs_struct regs;
	uint64_t at;

	if (thread->slot < 0 || ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs))
		return false;
	header = arena_header(translate->arena);
	at = regs.rip - 1 - arena_shared(translate->arena)->runtime;
	if (at == header->report) {
		*ret_err = translate_read_maps(translate, thread->tid);
		return true;
	}
	if (at == header->trap)
		on_trap(translate, thread, &regs);
	return at == header->trap;
}

static int on_end(struct translate *translate, struct translate_thread *thread, int status)
{
	int err = leave_slot(translate, thread);

	thread->dead = true;
	sideband_add_task(translate->sideband, PERF_RECORD_EXIT, translate->pid, thread->tid, translate->pid,
			  translate->pid, clock_ns(CLOCK_MONOTONIC));
	if (thread->tid == translate->pid) {
		translate->ended = true;
		translate->wait_status = status;
	}
	return err;
}

static int on_stop(struct translate *translate, struct translate_thread *thread, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16, err = 0;

	switch (event) {
	case PTRACE_EVENT_EXEC:
		return on_exec(translate, thread->tid);
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		return on_birth(translate, thread);
	case PTRACE_EVENT_EXIT:
		err = translate_read_maps(translate, thread->tid);
		resume(thread->tid, 0);
		return err;
	case PTRACE_EVENT_STOP:
		/* Job control: stopped until SIGCONT. */
		if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
			ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
		else
			resume(thread->tid, 0);
		return 0;
	default:
		break;
	}
	if (signal == SIGTRAP && on_breakpoint(translate, thread, &err)) {
		resume(thread->tid, 0);
		return err;
	}
	return translate_deliver(translate, thread, signal);
}

static int on_status(struct translate *translate, pid_t tid, int status)
{
	struct translate_thread *thread = translate_find(translate, tid);

	/* The leader's number has become that of another thread, which has exec'd. */
	if (!thread && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC)
		return on_exec(translate, tid);
	if (!thread && WIFSTOPPED(status))
		return ARRAY_PUSH(translate->strangers, translate->stranger_cnt, translate->stranger_cap,
				  tid);
	if (!thread)
		return 0;
	if (!WIFSTOPPED(status))
		return on_end(translate, thread, status);
	return on_stop(translate, thread, status);
}

int translate_run(struct translate *translate)
{
	while (!translate->ended) {
		int status, err;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return fail_errno(-errno, "cannot wait for the program");
		err = on_status(translate, tid, status);
		if (err)
			return err;
	}
	return 0;
}

/* ---- life ---- */

int translate_new(struct translate **ret_translate, const struct translate_config *config)
{
	CLEANUP(translate_freep) struct translate *translate = calloc(1, sizeof(*translate));
	int err;

	if (!translate)
		return -ENOMEM;
	translate->config = *config;
	translate->params = encoder_default_params();
	err = snapshot_new(&translate->sideband);
	if (err)
		return err;
	*ret_translate = TAKE_PTR(translate);
	return 0;
}

int translate_launch(struct translate *translate, pid_t pid)
{
	const long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXIT;
	struct translate_thread *thread;

	if (ptrace(PTRACE_SEIZE, pid, NULL, options))
		return fail_errno(-errno, "ptrace is not allowed here (a seccomp filter, another tracer, or "
					  "kernel.yama.ptrace_scope=3)");
	translate->pid = pid;
	translate->tsc = __rdtsc();
	translate->tsc_ns = clock_ns(CLOCK_MONOTONIC);
	return add_thread(translate, pid, &thread);
}

static int add_aux(struct translate_thread *thread, pid_t pid, struct snapshot *snapshot)
{
	struct aux_trace *aux;
	int err;

	if (!aux_ring_held(&thread->encoder.ring))
		return 0;
	aux = snapshot_add_aux(snapshot);
	if (!aux)
		return -ENOMEM;
	*aux = (struct aux_trace){.pid = pid, .tid = thread->tid, .cpu = -1};
	err = aux_ring_linearise(&thread->encoder.ring, &aux->bytes, &aux->size, &aux->offset);
	if (err)
		return err;
	aux->ref_tsc = trace_first_tsc(aux->bytes, aux->size, clock_ns(CLOCK_MONOTONIC));
	return 0;
}

int translate_snapshot(struct translate *translate, struct snapshot *snapshot)
{
	struct snapshot *from = translate->sideband;
	int err = array_reserve(&snapshot->sideband, &snapshot->sideband_cap,
				snapshot->sideband_size + from->sideband_size, 1);

	if (err)
		return err;
	if (from->sideband_size)
		memcpy(snapshot->sideband + snapshot->sideband_size, from->sideband, from->sideband_size);
	snapshot->sideband_size += from->sideband_size;
	from->sideband_size = 0;
	for (size_t i = 0; i < translate->thread_cnt && !err; i++)
		err = add_aux(translate->threads[i], translate->pid, snapshot);
	if (err)
		return err;
	snapshot->params = translate->params;
	snapshot->clock = encoder_default_clock();
	snapshot->clock.monotonic_ns = snapshot->clock.trace_ns = clock_ns(CLOCK_MONOTONIC);
	snapshot->clock.realtime_ns = clock_ns(CLOCK_REALTIME);
	snapshot->source = strdup("translate");
	return snapshot->source ? code_store_add_own_vdso(snapshot) : -ENOMEM;
}

int translate_wait_status(const struct translate *translate)
{
	return translate->wait_status;
}

void translate_free(struct translate *translate)
{
	if (!translate)
		return;
	for (size_t i = 0; i < translate->thread_cnt; i++)
		thread_free(translate->threads[i]);
	free(translate->threads);
	free(translate->strangers);
	maps_release(&translate->maps);
	snapshot_free(translate->sideband);
	if (translate->arena)
		arena_free(translate->arena);
	free(translate);
}
