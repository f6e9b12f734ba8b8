/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ptrace side of the step source: the loop. Which thread stopped, why, and how it goes on is in step_event.c and step_stop.c.
 * ptrace(2) is the reference.
 */
#include "source/step.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "source/step_internal.h"
#include "source/tracee.h"

uint64_t step_now(struct step *step)
{
	struct timespec ts;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns = (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
	step->tsc = ns > step->tsc ? ns : step->tsc + 1;
	return step->tsc;
}

struct step_thread *step_thread_find(struct step *step, pid_t tid)
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

int step_thread_add(struct step *step, struct step_process *process, pid_t tid,
		    struct step_thread **ret_thread)
{
	struct step_thread *thread = calloc(1, sizeof(*thread));
	int err = thread ? encoder_init(&thread->encoder, &step->params, step->config.ring_size) : -ENOMEM;

	if (!err)
		err = ARRAY_PUSH(step->threads, step->thread_cnt, step->thread_cap, thread);
	if (err) {
		free(thread);
		return err;
	}
	thread->process = process;
	thread->tid = tid;
	thread->syscall = -1;
	thread->log = step->config.log;
	thread->overflow_every = thread->overflow_next = step->config.overflow_every;
	*ret_thread = thread;
	return 0;
}

/* ---- the run ---- */

static void resume(struct step *step, struct step_thread *thread, int signal)
{
	enum __ptrace_request request = step->started ? PTRACE_SINGLESTEP : PTRACE_CONT;

	if (step->started && thread->encoder.enabled) {
		if (thread->insn.kind == INSN_SYSCALL)
			thread->syscall =
				(long)tracee_reg(thread->tid, offsetof(struct user_regs_struct, rax));
		step_thread_leave(thread, step_now(step));
	}
	thread->held = false;
	/* ESRCH: killed in the meantime; its exit will be reported. */
	ptrace(request, thread->tid, NULL, (void *)(long)signal);
}

static bool is_stepping(const struct step_thread *thread)
{
	return !thread->dead && !thread->held && thread->announced && thread->encoder.enabled;
}

/* Whether anything is left to trace. */
static bool is_over(const struct step *step)
{
	for (size_t i = 0; i < step->process_cnt; i++)
		if (!step->processes[i]->exited)
			return false;
	return true;
}

/* The recording ends: threads in the middle of a step finish it; those inside the kernel are silent anyway. */
static int hold_all(struct step *step)
{
	for (size_t i = 0; i < step->thread_cnt; i++) {
		while (is_stepping(step->threads[i]) && !is_over(step)) {
			struct step_thread *thread;
			int err = step_next_event(step, &thread);

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
		step_thread_enter(thread, thread->process->code, step_now(step), thread->insn.ip);
	}
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (step->threads[i]->held && !step->threads[i]->dead)
			go_on(step, step->threads[i]);
}

int step_run(struct step *step, enum step_end *ret_end)
{
	resume_all(step);
	while (!is_over(step)) {
		struct step_thread *thread;
		int err = step_next_event(step, &thread);

		if (err)
			return err;
		if (step->config.stop_wanted(step->config.ctx)) {
			err = hold_all(step);
			*ret_end = is_over(step) ? STEP_EXITED : STEP_STOPPED;
			return err;
		}
		if (thread && thread->held)
			go_on(step, thread);
	}
	*ret_end = STEP_EXITED;
	return 0;
}

/* ---- taking hold ---- */

/* Where nothing is stepped, a process's end is the last chance to see what it had mapped. */
static long options(const struct step *step)
{
	long always = PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;

	return step->config.idle ? always | PTRACE_O_TRACEEXIT : always;
}

static int create(struct step **ret_step, const struct step_config *config)
{
	CLEANUP(step_freep) struct step *step = calloc(1, sizeof(*step));
	int err;

	if (!step)
		return -ENOMEM;
	step->config = *config;
	step->params = encoder_default_params();
	step->detached = true;
	step->pin.guard_fd = -1;
	err = snapshot_new(&step->sideband);
	if (err)
		return err;
	*ret_step = TAKE_PTR(step);
	return 0;
}

int step_new(struct step **ret_step, const struct step_config *config, pid_t pid)
{
	CLEANUP(step_freep) struct step *step = NULL;
	struct step_process *process;
	struct step_thread *thread;
	int err = create(&step, config);

	if (!err)
		err = step_process_add(step, pid, &process);
	if (!err)
		err = step_thread_add(step, process, pid, &thread);
	if (err)
		return err;
	thread->announced = true;
	if (ptrace(PTRACE_SEIZE, pid, NULL, options(step)))
		return fail_errno(-errno, "ptrace is not allowed here (a seccomp filter, another tracer, or "
					  "kernel.yama.ptrace_scope=3)");
	step->detached = false;
	if (!config->idle) /* at full speed the target and the reader of its hits are better apart */
		pin_init(&step->pin, pid);
	*ret_step = TAKE_PTR(step);
	return 0;
}

static int fail_seize(int err, pid_t pid)
{
	pid_t tracer = tracee_tracer(pid);

	if (err == -ESRCH)
		return fail(err, "there is no process %d", pid);
	if (tracer)
		return fail(-EBUSY, "process %d is already traced by process %d: only one can", pid, tracer);
	if (err == -EPERM)
		return fail(err,
			    "process %d may not be traced: it needs the capability CAP_SYS_PTRACE if it is "
			    "another user's, or has "
			    "privileges of its own, or if kernel.yama.ptrace_scope is not 0",
			    pid);
	return fail_errno(err, "cannot trace process %d", pid);
}

/* One thread of a process that runs already. One that is gone by now is none. */
static int seize_thread(struct step *step, struct step_process *process, pid_t tid)
{
	struct step_thread *thread;
	int err;

	if (ptrace(PTRACE_SEIZE, tid, NULL, options(step)))
		return errno == ESRCH && tid != process->pid ? 0 : fail_seize(-errno, process->pid);
	err = step_thread_add(step, process, tid, &thread);
	if (err) {
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		return err;
	}
	thread->announced = true;
	step_process_announce_comm(step, process, tid, false);
	return step->config.wait_for_start || !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) || errno == ESRCH
		       ? 0
		       : fail_errno(-errno, "cannot stop thread %d", tid);
}

/* Threads that are made meanwhile by one that is not seized yet show in the next round; those of the others are seized when they are made. */
static int seize_process(struct step *step, pid_t pid)
{
	struct step_process *process;
	bool more = true;
	int err = step_process_add(step, pid, &process);

	while (!err && more) {
		CLEANUP(closedirp) DIR *tasks = tracee_open_tasks(pid);
		pid_t tid;

		more = false;
		if (!tasks)
			return fail_seize(-ESRCH, pid);
		while (!err && (tid = tracee_next_task(tasks))) {
			if (step_thread_find(step, tid))
				continue;
			err = seize_thread(step, process, tid);
			more = true;
		}
	}
	process->exec_seen = true;
	return err ? err : step_process_read_maps(step, process, pid, true);
}

int step_attach(struct step **ret_step, const struct step_config *config, const pid_t *pids, size_t cnt)
{
	CLEANUP(step_freep) struct step *step = NULL;
	int err = create(&step, config);

	if (err)
		return err;
	step->detached = false;
	step->started = !config->wait_for_start;
	for (size_t i = 0; i < cnt && !err; i++)
		err = seize_process(step, pids[i]);
	if (err)
		return err;
	*ret_step = TAKE_PTR(step);
	return 0;
}

/* ---- snapshots ---- */

static int add_aux(struct step *step, struct step_thread *thread, struct snapshot *snapshot)
{
	struct aux_trace *aux;
	int err;

	if (!aux_ring_held(&thread->encoder.ring))
		return 0;
	aux = snapshot_add_aux(snapshot);
	if (!aux)
		return -ENOMEM;
	*aux = (struct aux_trace){.pid = thread->process->pid, .tid = thread->tid, .cpu = -1};
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

int step_look_at_maps(struct step *step)
{
	int err = 0;

	for (size_t i = 0; i < step->process_cnt && !err && !step->started; i++)
		if (!step->processes[i]->exited)
			err = step_process_read_maps(step, step->processes[i], step->processes[i]->pid,
						     false);
	return err;
}

int step_snapshot(struct step *step, struct snapshot *snapshot)
{
	int maps_err = step_look_at_maps(step);

	if (maps_err)
		return maps_err;
	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];
		int err;

		if (!thread->dead && thread->encoder.enabled) {
			step_end_detour(step, thread);
			thread->paused = thread->held;
			step_thread_interrupt(thread, step_now(step));
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
	int err = 0;

	snapshot->params = step->params;
	snapshot->clock = encoder_default_clock();
	clock_gettime(CLOCK_REALTIME, &wall);
	snapshot->clock.monotonic_ns = snapshot->clock.trace_ns = step_now(step);
	snapshot->clock.realtime_ns = (uint64_t)wall.tv_sec * 1000000000ull + (uint64_t)wall.tv_nsec;
	snapshot->source = strdup("step");
	if (!snapshot->source)
		return -ENOMEM;
	for (size_t i = 0; i < step->process_cnt && !err; i++)
		err = code_store_export(step->processes[i]->code, snapshot);
	return err;
}

int step_wait_status(const struct step *step)
{
	return step->processes[0]->wait_status;
}

bool step_has_exited(const struct step *step)
{
	return step->processes[0]->exited;
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
	for (size_t i = 0; i < step->process_cnt; i++)
		step_process_free(step->processes[i]);
	free(step->threads);
	free(step->processes);
	snapshot_free(step->sideband);
	free(step);
}
