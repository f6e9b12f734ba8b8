/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime does by itself what it can: it makes the threads of a program, and gives the program back. What
 * is left is done where ptrace has stopped a thread anyway (birth, exec, signals), or by a thread that
 * answers (answers.c). A thread that is born in the runtime has the address of its context in r15.
 */
#include "source/translate/translate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "model/hit.h"
#include "probe/probe_map.h"
#include "source/translate/inject.h"
#include "source/translate/runtime_file.h"
#include "source/translate/translate_internal.h"

/* ---- threads ---- */

struct translate_thread *translate_find(const struct translate *translate, pid_t tid)
{
	for (size_t i = translate->thread_cnt; i--;) /* the newest ones live */
		if (translate->threads[i]->tid == tid && !translate->threads[i]->dead)
			return translate->threads[i];
	return NULL;
}

static void thread_free(struct translate_thread *thread)
{
	encoder_release(&thread->packets->encoder);
	free(thread->packets);
	free(thread);
}

static int thread_new(const struct translate *translate, struct translate_thread **ret_thread)
{
	CLEANUP(freep) struct translate_thread *thread = calloc(1, sizeof(*thread));
	CLEANUP(freep) struct thread_packets *packets = calloc(1, sizeof(*packets));

	if (!thread || !packets ||
	    encoder_init(&packets->encoder, &translate->params, translate->config.trace_size))
		return -ENOMEM;
	thread->packets = TAKE_PTR(packets);
	*ret_thread = TAKE_PTR(thread);
	return 0;
}

/* The thread goes on in another program: its trace, too, behind a PSB. */
static struct translate_thread *revive(const struct translate *translate,
				       const struct translate_process *process, pid_t tid)
{
	for (size_t i = 0; i < translate->thread_cnt; i++) {
		struct translate_thread *thread = translate->threads[i];

		if (thread->tid != tid || thread->process != process || !thread->dead || thread->is_over)
			continue;
		*thread = (struct translate_thread){.process = thread->process,
						    .tid = tid,
						    .slot = -1,
						    .next_slot = -1,
						    .begins = true,
						    .packets = thread->packets};
		return thread;
	}
	return NULL;
}

int translate_add_thread(struct translate *translate, struct translate_process *process, pid_t tid,
			 struct translate_thread **ret_thread)
{
	struct translate_thread *thread = revive(translate, process, tid);
	int err;

	if (thread) {
		*ret_thread = thread;
		return 0;
	}
	err = thread_new(translate, &thread);
	if (err)
		return err;
	if (ARRAY_PUSH(translate->threads, translate->thread_cnt, translate->thread_cap, thread)) {
		thread_free(thread);
		return -ENOMEM;
	}
	thread->process = process;
	thread->tid = tid;
	thread->slot = thread->next_slot = -1;
	*ret_thread = thread;
	return 0;
}

void translate_refuse(const struct translate *translate, pid_t tid, const char *why)
{
	if (translate->config.gave_back)
		translate->config.gave_back(translate->config.ctx, tid, why);
}

void translate_tell(const struct translate *translate, struct translate_thread *thread)
{
	struct context *context;

	if (thread->slot < 0)
		return;
	if (arena_shared(thread->process->arena)->missed && !thread->process->told_missed)
		log_warn("a probe's code is mapped twice: only one of both places gives hits");
	thread->process->told_missed |= arena_shared(thread->process->arena)->missed;
	context = arena_context(thread->process->arena, thread->slot);
	if (!context->why || context->told || context->why >= GIVE_END)
		return;
	context->told = 1;
	translate_refuse(translate, thread->tid, give_back_reasons[context->why]);
}

/* ---- processes ---- */

struct translate_process *translate_find_process(const struct translate *translate, pid_t pid)
{
	for (size_t i = 0; i < translate->process_cnt; i++)
		if (translate->processes[i]->pid == pid)
			return translate->processes[i];
	return NULL;
}

int translate_need_process(struct translate *translate, pid_t pid, struct translate_process **ret_process)
{
	struct translate_process *process = translate_find_process(translate, pid);
	int err;

	*ret_process = process;
	if (process)
		return 0;
	process = calloc(1, sizeof(*process));
	err = process ? ARRAY_PUSH(translate->processes, translate->process_cnt, translate->process_cap,
				   process)
		      : -ENOMEM;
	if (err) {
		free(process);
		return err;
	}
	process->pid = pid;
	*ret_process = process;
	return 0;
}

/* Its memory is that of another program now. */
static int leave_arena(struct translate *translate, struct translate_process *process)
{
	int err = 0;

	for (size_t i = 0; i < translate->thread_cnt; i++) {
		struct translate_thread *thread = translate->threads[i];
		int lost;

		if (thread->process != process || thread->dead)
			continue;
		lost = translate_leave_slot(translate, thread);
		err = err ? err : lost;
		thread->dead = true;
	}
	if (process->answers && !err)
		err = answers_add_code(process->answers, &translate->clock, translate->sideband);
	if (process->answers && !err)
		err = answers_take(process->answers, translate->sideband);
	answers_free(process->answers);
	if (process->arena) {
		int left = translate_leave_arena(translate, process->arena);

		err = err ? err : left;
	}
	process->arena = NULL;
	process->answers = NULL;
	return err;
}

static size_t probe_cnt(const struct translate *translate)
{
	return translate->config.probes ? probe_map_cnt(translate->config.probes) : 0;
}

int translate_make_arena(struct translate *translate, struct translate_process *process, pid_t tid,
			 struct injection *ret_injection)
{
	const struct probe_map *probes = translate->config.probes;
	const struct arena_config config = {
		.mirror = &translate->mirror,
		.probe_cnt = probe_cnt(translate),
		.ring_size = translate->config.trace_size,
	};
	int err = inject(tid, &config, &process->arena, ret_injection);

	if (ret_injection->ended)
		return 0;
	if (err) {
		translate_refuse(translate, tid, fail_message(err));
		return 0;
	}
	if (translate->config.times_calls)
		arena_time_calls(process->arena);
	if (process->is_attached)
		arena_ran_before(process->arena);
	return answers_start(&process->answers, process->arena, process->pid, probes);
}

int translate_enter(struct translate *translate, struct translate_thread *thread)
{
	struct arena *arena = thread->process->arena;
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs))
		return 0;
	if (regs.gs_base) {
		translate_refuse(translate, thread->tid, give_back_reasons[GIVE_GS]);
		return 0;
	}
	thread->slot = thread->next_slot >= 0 ? thread->next_slot
					      : arena_take_slot(arena, thread->process->pid, thread->tid);
	thread->next_slot = -1;
	if (thread->slot < 0) {
		translate_refuse(translate, thread->tid, give_back_reasons[GIVE_THREADS]);
		return 0;
	}
	return inject_enter(thread->tid, arena, thread->slot);
}

/* The runtime is there, or why not has been told. */
static int enter_arena(struct translate *translate, struct translate_process *process,
		       struct injection *ret_injection)
{
	struct translate_thread *thread;
	int err;

	process->is_attached = false;
	err = translate_make_arena(translate, process, process->pid, ret_injection);
	if (!err)
		err = translate_add_thread(translate, process, process->pid, &thread);
	return err || ret_injection->ended || !process->arena ? err : translate_enter(translate, thread);
}

/* ---- events ---- */

int translate_executed(struct translate *translate, pid_t pid, bool *ret_ended, int *ret_status)
{
	struct injection injection = {0};
	struct translate_process *process;
	int err = translate_need_process(translate, pid, &process);

	if (!err && process->arena)
		inject_lower_limits(pid, process->arena, &injection);
	if (!err)
		err = leave_arena(translate, process);
	if (!err && !injection.ended)
		err = enter_arena(translate, process, &injection);
	*ret_ended = injection.ended;
	*ret_status = injection.status;
	return err;
}

int translate_born_slot(const struct arena *arena, const struct user_regs_struct *regs)
{
	return regs->rip == arena_shared(arena)->runtime + arena_header(arena)->born
		       ? arena_slot_at(arena, regs->r15)
		       : -1;
}

int translate_born(struct translate *translate, pid_t pid, pid_t tid, bool *ret_ended, int *ret_status)
{
	struct translate_process *process = translate_find_process(translate, pid);
	struct translate_thread *thread;
	struct user_regs_struct regs;
	int slot, err;

	*ret_ended = false;
	/* One that has ended may have had the same number. */
	if ((!process || !process->arena) && pid == tid)
		return translate_adopt_child(translate, pid, ret_ended, ret_status);
	if (!process || !process->arena || ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return 0;
	slot = translate_born_slot(process->arena, &regs);
	/* Its creator runs natively: it is taken over like that. */
	if (slot < 0 && process->is_attached)
		return 0;
	err = translate_add_thread(translate, process, tid, &thread);
	if (err)
		return err;
	thread->slot = slot;
	if (slot >= 0)
		arena_context(process->arena, slot)->tid = tid;
	return 0;
}

/* The packets of those that have ended are kept for the next snapshot, up to a limit: the oldest go first. */
static void forget_oldest(struct translate *translate)
{
	enum { DEAD_BYTES_MAX = 256 << 20, BYTES_EACH = 4096 };
	size_t bytes = 0;

	translate->ended_cnt = 0;
	for (size_t i = translate->thread_cnt; i--;) {
		struct translate_thread *thread = translate->threads[i];

		if (!thread->dead || thread->is_over ||
		    __atomic_load_n(&thread->packets->pending, __ATOMIC_ACQUIRE))
			continue;
		bytes += BYTES_EACH + aux_ring_held(&thread->packets->encoder.ring);
		if (bytes <= DEAD_BYTES_MAX)
			continue;
		thread_free(thread);
		memmove(&translate->threads[i], &translate->threads[i + 1],
			(--translate->thread_cnt - i) * sizeof(struct translate_thread *));
		translate->forgotten_cnt++;
	}
}

static bool has_threads(const struct translate *translate, const struct translate_process *process)
{
	for (size_t i = 0; i < translate->thread_cnt; i++)
		if (translate->threads[i]->process == process && !translate->threads[i]->dead)
			return true;
	return false;
}

/* Hits of it may still be read. */
static int end_process(struct translate *translate, struct translate_process *process)
{
	size_t cnt = probe_cnt(translate);

	free(process->probes);
	process->probes = cnt ? calloc(cnt, sizeof(*process->probes)) : NULL;
	if (cnt && !process->probes)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		process->probes[i] = arena_probe(process->arena, i);
	return leave_arena(translate, process);
}

int translate_ended(struct translate *translate, pid_t tid)
{
	struct translate_thread *thread = translate_find(translate, tid);
	struct translate_process *process = thread ? thread->process : NULL;
	int err = thread ? translate_leave_slot(translate, thread) : 0;

	if (!thread)
		return err;
	thread->dead = true;
	if (++translate->ended_cnt > translate->thread_cnt / 8)
		forget_oldest(translate);
	return err || !process->arena || has_threads(translate, process) ? err
									 : end_process(translate, process);
}

/* ---- probes ---- */

/* The nops are a part of this program's file. */
static int find_mirror(struct translate *translate)
{
	CLEANUP(maps_release) struct maps maps = {0};
	ssize_t size = readlink("/proc/self/exe", translate->mirror_path, sizeof(translate->mirror_path) - 1);
	const struct map *map;
	int err = size < 0 ? -errno : maps_read(&maps, getpid());

	map = err ? NULL : maps_find(&maps, (uintptr_t)nops_begin);
	if (!map)
		return fail(-ENOENT, "cannot find trailcam's own program among its mappings");
	translate->mirror = (struct probe_mirror){
		.path = translate->mirror_path,
		.file_offset = (uintptr_t)nops_begin - map->mapping.addr + map->mapping.file_offset,
		.distance = NOP_SIZE,
		.max = NOPS_MAX,
	};
	return 0;
}

const struct probe_mirror *translate_mirror(const struct translate *translate)
{
	return &translate->mirror;
}

void translate_settle_hit(const struct translate *translate, struct caught_hit *hit)
{
	uint64_t at = hit->regs[HIT_IP], nth = (at - NOPS_AT) / NOP_SIZE, guest;
	const struct translate_process *process =
		nth < probe_cnt(translate) ? translate_find_process(translate, (pid_t)hit->hit.pid) : NULL;

	if (!process || (!process->arena && !process->probes))
		return;
	guest = process->arena ? arena_probe(process->arena, nth) : process->probes[nth];
	hit->regs[HIT_IP] = guest;
	if (hit->hit.stack_cnt && hit->stack[0] == at)
		hit->stack[0] = guest;
}

bool translate_owns(const struct translate *translate, pid_t pid, uint64_t addr)
{
	const struct translate_process *process = translate_find_process(translate, pid);

	return process && process->arena && arena_is_ours(process->arena, addr);
}

bool translate_has_told(const struct translate *translate, pid_t pid, const struct map *map)
{
	const struct translate_process *process = translate_find_process(translate, pid);

	return process && process->answers && answers_have_told(process->answers, map);
}

void translate_forget_dead(struct translate *translate)
{
	size_t kept = 0;

	for (size_t i = 0; i < translate->thread_cnt; i++) {
		struct translate_thread *thread = translate->threads[i];

		if (thread->is_over)
			thread_free(thread);
		else
			translate->threads[kept++] = thread;
	}
	translate->thread_cnt = kept;
}

/* ---- life ---- */

int translate_check(void)
{
	enum { HAS_FSGSBASE = 1 << 1 }; /* HWCAP2_FSGSBASE (asm/hwcap2.h) */

	return getauxval(AT_HWCAP2) & HAS_FSGSBASE
		       ? 0
		       : fail(-ENOTSUP, "programs cannot be translated here: that needs the instruction "
					"wrgsbase (Linux 5.9); --source step is exact, too, and slower");
}

int translate_new(struct translate **ret_translate, const struct translate_config *config)
{
	CLEANUP(translate_freep) struct translate *translate = calloc(1, sizeof(*translate));
	int err;

	if (!translate)
		return -ENOMEM;
	packet_maker_init(&translate->maker);
	translate->config = *config;
	translate->params = encoder_default_params();
	translate->start = tsc_now();
	err = snapshot_new(&translate->sideband);
	if (!err)
		err = find_mirror(translate);
	if (err)
		return err;
	*ret_translate = TAKE_PTR(translate);
	return 0;
}

void translate_free(struct translate *translate)
{
	if (!translate)
		return;
	translate_settle(translate);
	packet_maker_release(&translate->maker);
	for (size_t i = 0; i < translate->thread_cnt; i++)
		thread_free(translate->threads[i]);
	free(translate->threads);
	for (size_t i = 0; i < translate->process_cnt; i++) {
		struct translate_process *process = translate->processes[i];

		answers_free(process->answers);
		if (process->arena)
			arena_free(process->arena);
		free(process->probes);
		free(process);
	}
	free(translate->processes);
	snapshot_free(translate->sideband);
	free(translate);
}
