/* SPDX-License-Identifier: BSD-2-Clause */
/* A traced process as a whole: what is mapped where, and by which name it goes. */
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/sideband.h"
#include "process/proc_status.h"
#include "source/step/step_internal.h"

DEFINE_CLEANUP(struct step_process *, step_process_free)

static int announce_maps(struct step *step, const struct step_process *process, pid_t tid,
			 const struct maps *before, const struct maps *maps, uint64_t tsc)
{
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct sideband_mapping *mapping = &maps->items[i].mapping;
		int err;

		if (maps_has(before, &maps->items[i]))
			continue;
		err = sideband_add_mmap(step->sideband, process->pid, tid, tsc, mapping);
		if (!err && step->config.mapped)
			err = step->config.mapped(step->config.ctx, process->pid, mapping);
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

/* A new image needs a new PSB in every stream of the process: decoding can change images only there. */
static void want_psbs(struct step *step, const struct step_process *process)
{
	for (size_t i = 0; i < step->thread_cnt; i++)
		if (step->threads[i]->process == process)
			step->threads[i]->encoder.psb_wanted = true;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH;
}

int step_read_maps(struct step *step, struct step_process *process, pid_t tid, bool exec)
{
	CLEANUP(maps_release) struct maps maps = {0};
	const struct maps none = {0}, *before = exec ? &none : code_store_maps(process->code);
	int err = maps_read(&maps, process->pid);

	if (err)
		return is_gone(err) ? 0 : err;
	if (exec || code_replaced(before, &maps))
		want_psbs(step, process);
	err = announce_maps(step, process, tid, before, &maps, step_now(step));
	if (!err)
		err = code_store_set_maps(process->code, process->pid, &maps);
	return is_gone(err) ? 0 : err;
}

void step_announce_comm(struct step *step, const struct step_thread *thread, bool exec)
{
	char comm[32] = "";

	/* A thread that is gone has no name. */
	proc_status_text(thread->tid, "Name", comm, sizeof(comm));
	step_note(step, sideband_add_comm(step->sideband, thread->process->pid, thread->tid, step_now(step),
					  comm, exec));
}

struct step_process *step_find_process(struct step *step, pid_t pid)
{
	for (size_t i = 0; i < step->process_cnt; i++)
		if (step->processes[i]->pid == pid && !step->processes[i]->exited)
			return step->processes[i];
	return NULL;
}

void step_process_free(struct step_process *process)
{
	if (!process)
		return;
	code_store_free(process->code);
	free(process);
}

int step_add_process(struct step *step, pid_t pid, struct step_process **ret_process)
{
	CLEANUP(step_process_freep) struct step_process *process = calloc(1, sizeof(*process));
	int err = process ? code_store_new(&process->code, &step->config.code) : -ENOMEM;

	if (!err)
		err = ARRAY_PUSH(step->processes, step->process_cnt, step->process_cap, process);
	if (err)
		return err;
	process->pid = pid;
	if (step->config.hits_stop)
		pin_guard_process(&step->pin, pid);
	*ret_process = TAKE_PTR(process);
	return 0;
}
