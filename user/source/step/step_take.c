/* SPDX-License-Identifier: BSD-2-Clause */
/* What was recorded goes to a snapshot: rings, sideband, and the code that no file has. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "source/jit_files.h"
#include "source/step/step_internal.h"

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
	aux->ref_tsc = trace_first_tsc(aux->bytes, aux->size, step->tsc);
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

/* All of them that there was to tell has been told. */
static void forget_dead(struct step *step)
{
	size_t kept = 0;

	for (size_t i = 0; i < step->thread_cnt; i++) {
		struct step_thread *thread = step->threads[i];

		if (!thread->dead) {
			step->threads[kept++] = thread;
			continue;
		}
		step->past_instruction_cnt += thread->instruction_cnt;
		step_thread_free(thread);
	}
	step->thread_cnt = kept;
	step->last = 0;
}

int step_look_at_maps(struct step *step)
{
	int err = 0;

	for (size_t i = 0; i < step->process_cnt && !err && !step->started; i++)
		if (!step->processes[i]->exited)
			err = step_read_maps(step, step->processes[i], step->processes[i]->pid, false);
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
	forget_dead(step);
	return take_sideband(step, snapshot);
}

int step_copy_code(struct step *step, struct snapshot *snapshot)
{
	for (size_t i = 0; i < step->process_cnt; i++) {
		struct step_process *process = step->processes[i];
		int err = step->started || process->exited
				  ? 0
				  : code_store_keep_private(process->code, step_now(step));

		if (!err)
			err = code_store_export(process->code, snapshot);
		if (!err)
			err = jit_files_copy(snapshot, process->pid);
		if (err)
			return err;
	}
	return 0;
}

int step_describe(struct step *step, struct snapshot *snapshot)
{
	snapshot->params = step->params;
	snapshot->clock = encoder_default_clock();
	snapshot->clock.monotonic_ns = snapshot->clock.trace_ns = step_now(step);
	snapshot->clock.realtime_ns = clock_ns(CLOCK_REALTIME);
	return code_store_add_own_vdso(snapshot);
}
